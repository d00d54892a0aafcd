"""Reading what arrives: lines become checked messages, dealt out to partitions.

Rows of the stream have columns `value` (text or bytes: a message, or a file of them), `origin` and
`line` (where its first line is), `time` (when it was written, in microseconds since 1970; NULL if
that is not known) and, for the partitioning ``source``, `partition`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction.hashing import shard_of
from lipstick.systems.events.message import SEALED
from lipstick.systems.events.stream import task_messages
from lipstick.systems.events.stream.parsed_rows import parts_of
from lipstick.systems.events.stream.plan import EXECUTION, FUNCTION, SOURCE, BatchPlan
from lipstick.systems.events.stream.task_messages import Row
from lipstick.systems.events.stream.wire import table_bytes


def cut(plan: BatchPlan, batches: Iterable[pa.RecordBatch], task: int) -> Iterator[Row]:
    """Parse what a task reads, and deal its messages out by execution.

    Parameters
    ----------
    task
        Its number, which puts its rows in their place among the rows of others.
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
    for number in range(shards):
        if bounds[number + 1] > bounds[number]:
            yield number, dealt_out.slice(bounds[number], bounds[number + 1] - bounds[number])
