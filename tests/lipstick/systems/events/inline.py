"""Batches of a stream in this process: the functions that Spark's tasks run, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from lipstick.systems.events.stream import task_messages
from lipstick.systems.events.stream.batches import Batches
from lipstick.systems.events.stream.local_reduction import decide, reduce_local
from lipstick.systems.events.stream.parsed_rows import cut
from lipstick.systems.events.stream.plan import EXECUTION, SOURCE, BatchPlan
from lipstick.systems.events.stream.settings import BatchProgress
from lipstick.systems.events.stream.settling import resolve
from lipstick.systems.events.stream.task_messages import Row

Line = tuple[bytes, str, int]


def table_of(lines: Sequence[Line], partition: int | None = None) -> pa.RecordBatch:
    """Lines as rows of a stream: text, where it is from, and its number there."""
    columns = {
        "value": pa.array([line for line, _, _ in lines], pa.binary()),
        "origin": pa.array([origin for _, origin, _ in lines], pa.string()),
        "line": pa.array([number for _, _, number in lines], pa.int64()),
        "time": pa.nulls(len(lines), pa.int64()),
    }
    if partition is not None:
        columns["partition"] = pa.array([partition] * len(lines), pa.int32())
    return pa.RecordBatch.from_pydict(columns)


def tasks_of(plan: BatchPlan, tables: Iterable[pa.RecordBatch]) -> list[Row]:
    """What the tasks of a batch tell the driver."""
    cuts = [list(cut(plan, [table], task)) for task, table in enumerate(tables)]
    if plan.partitioning == SOURCE:
        parts = [list(reduce_local(plan, decide(plan, part))) for part in cuts]
    else:
        parts = [list(decide(plan, part)) for part in shuffled(plan, cuts)]
        if plan.partitioning != EXECUTION:
            parts = shuffled(plan, parts)
        parts = [list(reduce_local(plan, part)) for part in parts]
    return stepped(plan, shuffled(plan, parts))


def stepped(plan: BatchPlan, parts: Sequence[Sequence[Row]] | None = None) -> list[Row]:
    """What a step of all shards tells the driver."""
    parts = parts or [[] for _ in range(plan.shards)]
    return [row for shard in range(plan.shards) for row in resolve(plan, shard, parts[shard])]


def shuffled(plan: BatchPlan, parts: Sequence[Sequence[Row]]) -> list[list[Row]]:
    """Rows by the partition that their label names."""
    placed: list[list[Row]] = [[] for _ in range(plan.shards)]
    where = {label: number for number, label in enumerate(plan.labels)}
    for row in (row for part in parts for row in part):
        placed[where.get(row.to, 0)].append(row)
    return placed


def run_batch(
    batches: Batches, batch: int, tables: Sequence[pa.RecordBatch], rng: np.random.Generator
) -> BatchProgress | None:
    """Run the tasks of a batch, sometimes twice as after a failure, and commit it."""
    plan = batches.plan(batch)
    told = tasks_of(plan, tables)
    if rng.random() < 0.2:
        told = tasks_of(plan, tables)
    kinds = {row.kind for row in told}
    assert not kinds & {task_messages.MESSAGES, task_messages.COUNTING, task_messages.SHARE}
    return batches.commit(batch, told)
