"""The parsed rows of a stream, and their distribution to partitions.

The rows are messages, documents of PROV, or events of OpenLineage.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import EdgeType, ReductionCycleError
from graphquery.reduction.hashing import shard_of
from lipstick.systems.events.dead_letters import letter_of
from lipstick.systems.events.decoding import GZIP, Unreadable, unpack
from lipstick.systems.events.errors import MessageError
from lipstick.systems.events.formats import MESSAGES, PROV
from lipstick.systems.events.message import EDGES, SCHEMA, SEALED, TYPES, Message
from lipstick.systems.events.openlineage import Collector, events_in
from lipstick.systems.events.parse import DeadLetter, parse
from lipstick.systems.events.prov import Document, documents_in
from lipstick.systems.events.stream import task_messages
from lipstick.systems.events.stream.plan import EXECUTION, FUNCTION, SOURCE, BatchPlan
from lipstick.systems.events.stream.task_messages import Row
from lipstick.systems.events.stream.wire import table_bytes
from semiring.base import Array, Semiring

BLOCK = 8 << 20
"""Number of bytes of lines that are parsed at a time."""

DOCUMENT = "document"
"""The function of messages that name a document."""

_NAMES = {kind: name for name, kind in TYPES.items()}


@dataclass(slots=True)
class ParsedRows:
    """The parsed content of some rows.

    Parameters
    ----------
    size
        In bytes.
    messages
        Messages that keep the format; documents become messages of their activities.
    letters
        Lines, documents and events that are refused.
    events
        Events of OpenLineage as text, which the driver puts together.
    partition
        The partition of the source; 0 where none is given.
    """

    size: int
    messages: pa.Table = field(default_factory=SCHEMA.empty_table)
    letters: list[DeadLetter] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    partition: int = 0


def parts_of(
    form: str, topic: str, batch: pa.RecordBatch, semiring: Semiring[Any] | None = None
) -> Iterator[ParsedRows]:
    """Yield the parsed content of rows in a format; the topic is for documents of PROV."""
    if form == MESSAGES:
        for block in blocks_in(batch):
            yield _messages(block, semiring)
        return
    names = ("value", "origin", "line", "time")
    for value, origin, line, time in zip(
        *(batch.column(name).to_pylist() for name in names), strict=True
    ):
        data = value.encode() if isinstance(value, str) else value or b""
        if form == PROV:
            yield _documents(topic, data, f"{origin}", line, time or 0)
        else:
            yield _events(data, origin, line)


def _messages(block: LineBlock, semiring: Semiring[Any] | None) -> ParsedRows:
    if block.damage:
        letter = DeadLetter(block.origins[0], block.lines[0], block.damage, "")
        return ParsedRows(len(block.data), letters=[letter], partition=block.partition)
    parsed = parse(block.data, block.origins[0], block.lines[0], semiring)
    letters = [_placed(letter, block) for letter in parsed.dead]
    return ParsedRows(len(block.data), parsed.messages, letters, partition=block.partition)


def _documents(topic: str, data: bytes, origin: str, first: int, time: int) -> ParsedRows:
    """Return the documents of a file as messages; unreadable or cyclic ones are refused
    individually.
    """
    part = ParsedRows(len(data))
    lines: list[str] = []
    for found in documents_in(data, origin):
        line = first + found.line - 1
        if isinstance(found, Unreadable):
            part.letters.append(DeadLetter(origin, line, found.reason, found.text))
            continue
        try:
            found.check_acyclic()
            lines += _lines(found, topic, f"{origin}#{line}", time)
        except ReductionCycleError as error:
            part.letters.append(DeadLetter(origin, line, str(error), ""))
    if lines:
        part.messages = parse("".join(lines).encode(), origin, first).messages
    return part


def _lines(document: Document, topic: str, name: str, time: int) -> Iterator[str]:
    """Yield a message for every activity of a document, and one under its name with its other
    edges.

    Their number is derived from the name, so that it is the same if the document is redelivered.
    """
    seq = int.from_bytes(sha256(name.encode()).digest()[:8], "big") >> 1
    edges: dict[str, list[tuple[str, str, str]]] = {name: []} if document.edges else {}
    for source, dest, kind in document.edges:
        activity = {EdgeType.USED: source, EdgeType.GENERATED: dest}.get(kind, name)
        edges.setdefault(activity, []).append((source, dest, _NAMES[kind]))
    for activity, activity_edges in edges.items():
        function = DOCUMENT if activity == name else PROV
        yield Message(
            topic, EDGES, activity, None, function, "documents", seq, time, activity_edges
        ).line()


def _events(data: bytes, origin: str, first: int) -> ParsedRows:
    part = ParsedRows(len(data))
    for found in events_in(data):
        refused = Collector().take(found)
        if refused is None:
            part.events.append(found.text)
        else:
            letter = letter_of(refused, origin)
            part.letters.append(replace(letter, line=first + refused.line - 1))
    return part


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Whole lines of one partition of the source.

    Parameters
    ----------
    data
        The lines.
    origins, lines
        For every line, or only for the first line of the block.
    partition
        The partition of the source; 0 where none is given.
    damage
        The reason why the lines cannot be read, if any.
    """

    data: bytes
    origins: list[str]
    lines: list[int]
    partition: int
    damage: str = ""


def blocks_in(batch: pa.RecordBatch) -> Iterator[LineBlock]:
    """Yield the lines in some rows of the stream, combining small rows of one partition."""
    names = batch.schema.names
    columns = {name: batch.column(name) for name in names}
    partitions = columns["partition"].to_numpy() if "partition" in names else None
    all_values = columns["value"].cast(pa.large_binary())
    for places in _runs(all_values, partitions):
        chosen = slice(places[0], places[-1] + 1)
        values = all_values[chosen]
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
        yield LineBlock(data, origins, lines, partition)


def _runs(values: pa.Array, partitions: Array | None) -> Iterator[Array]:
    """Yield ranges of rows that are read together; packed files, or ones with a BOM, are
    separate.
    """
    lengths = pc.fill_null(pc.binary_length(values), 0)
    group = np.cumsum(lengths.to_numpy(zero_copy_only=False).astype(np.int64)) // BLOCK
    starts = np.ones(len(values), dtype=np.bool_)
    starts[1:] = group[1:] != group[:-1]
    for mark in (GZIP, codecs.BOM_UTF8):
        head = pc.fill_null(pc.binary_slice(values, 0, len(mark)), b"")
        alone = np.asarray(pc.equal(head, mark))
        starts |= alone
        starts[1:] |= alone[:-1]
    if partitions is not None:
        starts[1:] |= partitions[1:] != partitions[:-1]
    yield from np.split(np.arange(len(values)), np.flatnonzero(starts)[1:])


def _sliced(data: bytes, origin: str, line: int, partition: int) -> Iterator[LineBlock]:
    try:
        data = (unpack(data) if data.startswith(GZIP) else data).removeprefix(codecs.BOM_UTF8)
    except MessageError as error:
        yield LineBlock(b"", [origin], [line], partition, str(error))
        return
    start = 0
    while start < len(data):
        end = len(data)
        if end - start > BLOCK:
            end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        block = data[start:end]
        yield LineBlock(block, [origin], [line], partition)
        line += block.count(b"\n")
        start = end


def _placed(letter: DeadLetter, block: LineBlock) -> DeadLetter:
    """Return a letter with the origin and line of its own row."""
    if len(block.lines) == 1:
        return letter
    row = letter.line - block.lines[0]
    return replace(letter, origin=block.origins[row], line=block.lines[row])


def cut(plan: BatchPlan, batches: Iterable[pa.RecordBatch], task: int) -> Iterator[Row]:
    """Parse the input of a task, and distribute its messages by execution.

    Parameters
    ----------
    task
        Its number, which orders its rows among the rows of other tasks.
    """
    number = task << 32
    oldest, size = None, 0
    for batch in (batch for batch in batches if batch.num_rows):
        times = pc.min(batch.column("time")).as_py()
        oldest = times if oldest is None else min(oldest, times or oldest)
        for part in parts_of(plan.format, plan.events_topic, batch, plan.semiring):
            size += part.size
            for letter in part.letters:
                yield Row(0, task_messages.LETTER, "", 0, 0, json.dumps(asdict(letter)).encode())
            if part.events:
                yield task_messages.told(
                    task_messages.EVENTS, plan.events_topic, 0, {"events": part.events}
                )
            for topic, shard, table in _dealt(plan, part.messages, part.partition):
                number += 1
                data = table_bytes(table)
                yield Row(
                    plan.labels[shard % plan.shards],
                    task_messages.MESSAGES,
                    topic,
                    shard,
                    number,
                    data,
                )
    if size:
        yield task_messages.told(task_messages.READ, "", task, {"oldest": oldest, "bytes": size})


def _dealt(
    plan: BatchPlan, messages: pa.Table, partition: int
) -> Iterator[tuple[str, int, pa.Table]]:
    for topic in messages.column("topic").unique().to_pylist():
        of_topic = messages.filter(pc.equal(messages.column("topic"), topic))
        of_topic = of_topic.combine_chunks()
        if plan.partitioning == SOURCE:
            yield topic, partition, of_topic
            continue
        yield from (
            (topic, shard, table) for shard, table in dealt(of_topic, EXECUTION, plan.shards)
        )


def dealt(messages: pa.Table, partitioning: str, shards: int) -> Iterator[tuple[int, pa.Table]]:
    """Yield messages of one topic by partition: by execution, function or worker.

    Seals go to the first partition.
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
    for number in range(shards):
        if bounds[number + 1] > bounds[number]:
            yield number, dealt_out.slice(bounds[number], bounds[number + 1] - bounds[number])
