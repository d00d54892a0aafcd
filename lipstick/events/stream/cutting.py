"""Reading what arrives: lines become checked messages, dealt out to partitions.

Rows of the stream have columns `value` (text or bytes: a message, or a file of them), `origin` and
`line` (where its first line is), `time` (when it was written, in microseconds since 1970; NULL if
that is not known) and, for the partitioning ``source``, `partition`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction.hashing import shard_of
from lipstick.events.message import SEALED
from lipstick.events.parse import DeadLetter, parse
from lipstick.events.stream import rows
from lipstick.events.stream.plan import EXECUTION, FUNCTION, SOURCE, BatchPlan
from lipstick.events.stream.rows import Row
from lipstick.events.stream.wire import table_bytes
from semiring.base import Array

BLOCK = 8 << 20
"""Bytes of lines that are parsed at a time."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of one partition of the source.

    Parameters
    ----------
    data
        The lines.
    origins, lines
        Of every line, or, of a block with one, of the first.
    partition
        Of the source; 0 where that is not said.
    """

    data: bytes
    origins: list[str]
    lines: list[int]
    partition: int


def cut(plan: BatchPlan, batches: Iterable[pa.RecordBatch], task: int) -> Iterator[Row]:
    """Parse what a task reads, and deal its messages out by execution.

    Parameters
    ----------
    task
        Its number, which puts its rows in their place among those of others.
    """
    number = task << 32
    oldest, size = None, 0
    for batch in (batch for batch in batches if batch.num_rows):
        times = pc.min(batch.column("time")).as_py()
        oldest = times if oldest is None else min(oldest, times or oldest)
        for block in blocks_in(batch):
            size += len(block.data)
            parsed = parse(block.data, block.origins[0], block.lines[0])
            for letter in parsed.dead:
                data = json.dumps(asdict(_placed(letter, block))).encode()
                yield Row(0, rows.LETTER, "", 0, 0, data)
            for topic, shard, table in _dealt(plan, parsed.messages, block.partition):
                number += 1
                data = table_bytes(table)
                yield Row(
                    plan.labels[shard % plan.shards], rows.MESSAGES, topic, shard, number, data
                )
    if size:
        yield rows.told(rows.READ, "", task, {"oldest": oldest, "bytes": size})


def blocks_in(batch: pa.RecordBatch) -> Iterator[Block]:
    """The lines in some rows of the stream; small rows of one partition together."""
    names = batch.schema.names
    columns = {name: batch.column(name) for name in names}
    partitions = columns["partition"].to_numpy() if "partition" in names else None
    for places in _runs(pc.fill_null(pc.binary_length(columns["value"]), 0), partitions):
        chosen = slice(places[0], places[-1] + 1)
        values = columns["value"].cast(pa.large_binary())[chosen]
        origins = columns["origin"][chosen].to_pylist()
        lines = columns["line"][chosen].to_pylist()
        partition = 0 if partitions is None else int(partitions[places[0]])
        if len(places) == 1:
            data = values[0].as_py()
            if data is not None:
                yield from _sliced(data, origins[0], lines[0], partition)
            continue
        data = b"\n".join(value or b"" for value in values.to_pylist())
        several = np.asarray(pc.fill_null(pc.count_substring(values, b"\n"), 0)) + 1
        if several.max() > 1:
            origins = [origin for origin, n in zip(origins, several, strict=True) for _ in range(n)]
            lines = [line + i for line, n in zip(lines, several, strict=True) for i in range(n)]
        yield Block(data, origins, lines, partition)


def _runs(lengths: pa.Array, partitions: Array | None) -> Iterator[Array]:
    """Places of rows that are read together."""
    sizes = lengths.to_numpy(zero_copy_only=False).astype(np.int64)
    group = np.cumsum(sizes) // BLOCK
    starts = np.ones(len(sizes), dtype=np.bool_)
    starts[1:] = group[1:] != group[:-1]
    if partitions is not None:
        starts[1:] |= partitions[1:] != partitions[:-1]
    yield from np.split(np.arange(len(sizes)), np.flatnonzero(starts)[1:])


def _sliced(data: bytes, origin: str, line: int, partition: int) -> Iterator[Block]:
    start = 0
    while start < len(data):
        end = len(data)
        if end - start > BLOCK:
            end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        block = data[start:end]
        yield Block(block, [origin], [line], partition)
        line += block.count(b"\n")
        start = end


def _placed(letter: DeadLetter, block: Block) -> DeadLetter:
    """A letter with the place of its own row."""
    if len(block.lines) == 1:
        return letter
    row = letter.line - block.lines[0]
    return replace(letter, origin=block.origins[row], line=block.lines[row])


def _dealt(
    plan: BatchPlan, messages: pa.Table, partition: int
) -> Iterator[tuple[str, int, pa.Table]]:
    for topic in messages.column("topic").unique().to_pylist():
        own = messages.filter(pc.equal(messages.column("topic"), topic))
        own = own.combine_chunks()
        if plan.partitioning == SOURCE:
            yield topic, partition, own
            continue
        yield from ((topic, shard, table) for shard, table in dealt(own, EXECUTION, plan.shards))


def dealt(messages: pa.Table, partitioning: str, shards: int) -> Iterator[tuple[int, pa.Table]]:
    """Messages of one topic by partition: by execution, function or worker.

    What seals goes to the first partition.
    """
    if shards == 1:
        yield 0, messages
        return
    name = {EXECUTION: "exec", FUNCTION: "function"}.get(partitioning, "worker")
    encoded: Any = pc.fill_null(messages.column(name), "").combine_chunks().dictionary_encode()
    shard = shard_of(encoded.dictionary, shards)[encoded.indices.to_numpy(zero_copy_only=False)]
    shard[np.asarray(pc.equal(messages.column("kind"), SEALED))] = 0
    order = np.argsort(shard, kind="stable")
    dealt_out = messages.take(pa.array(order)).combine_chunks()
    bounds = np.searchsorted(shard[order], np.arange(shards + 1))
    for place in range(shards):
        if bounds[place + 1] > bounds[place]:
            yield place, dealt_out.slice(bounds[place], bounds[place + 1] - bounds[place])
