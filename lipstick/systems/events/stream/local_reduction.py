"""The choice of the messages that count, and their reduction without seeing the rest."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import Reducer, ReductionCycleError, Report
from graphquery.reduction.shares import split
from lipstick.systems.events.attempts import Attempts, Done, FinishedAttempts
from lipstick.systems.events.dead_letters import differing_letters
from lipstick.systems.events.message import EDGES, SCHEMA, SEALED
from lipstick.systems.events.partials import partial_of
from lipstick.systems.events.stream import task_messages
from lipstick.systems.events.stream.parsed_rows import dealt
from lipstick.systems.events.stream.plan import EXECUTION, SOURCE, BatchPlan, functions_document
from lipstick.systems.events.stream.task_messages import Row
from lipstick.systems.events.stream.wire import (
    concatenated,
    final_tables,
    packed,
    share_tables,
    table_bytes,
    table_of,
)
from lipstick.systems.events.watermark import Watermark


def decide(plan: BatchPlan, received: Iterable[Row]) -> Iterator[Row]:
    """Take each message once, and only of the attempt that counts.

    Messages of an execution arrive in one partition, which has their state. Other rows are passed
    on.
    """
    passed = list(received)
    yield from (row for row in passed if row.kind != task_messages.MESSAGES)
    for topic, partition, messages in _by_partition(passed, task_messages.MESSAGES):
        yield from _decided(plan, topic, partition, messages)


def _decided(plan: BatchPlan, topic: str, partition: int, messages: pa.Table) -> Iterator[Row]:
    known = plan.topic(topic)
    held = known.held.get(partition)
    runs = [
        FinishedAttempts.of_table(table_of(plan.read(n)), n) for n in known.done.get(partition, ())
    ]
    attempts = Attempts(
        None if held is None else table_of(plan.read(held)), Done(runs), plan.overlap
    )
    if known.watermark is not None:
        attempts.forget(known.watermark)
    taken = attempts.take(messages)
    counting, late = taken.counting, taken.late
    if known.sealed:
        is_edges = pc.equal(counting.column("kind"), EDGES)
        late = pa.concat_tables([late, counting.filter(is_edges)]).combine_chunks()
        counting = counting.slice(0, 0)
    watermark = Watermark(0)
    watermark.see(messages)
    now = attempts.held
    decided = {
        "held": plan.write(table_bytes(now), "held") if len(now) else None,
        "done": [
            run.name or plan.write(table_bytes(run.table()), "done") for run in attempts.done.runs
        ],
        "waiting": len(now),
        "latest": watermark.latest,
        "repeated": taken.repeated,
        "abandoned": taken.abandoned,
        "messages": len(counting),
    }
    yield task_messages.told(task_messages.DECIDED, topic, partition, decided)
    for letter in differing_letters(taken.differing):
        yield Row(0, task_messages.LETTER, "", 0, 0, json.dumps(asdict(letter)).encode())
    if len(late):
        yield Row(0, task_messages.LATE, topic, partition, partition, table_bytes(late))
    if not len(counting):
        return
    if plan.partitioning in {EXECUTION, SOURCE}:
        yield Row(
            0, task_messages.COUNTING, topic, partition, partition, table_bytes(counting, None)
        )
        return
    for number, table in dealt(counting, plan.partitioning, plan.shards):
        yield Row(
            plan.labels[number],
            task_messages.COUNTING,
            topic,
            number,
            partition,
            table_bytes(table),
        )


def reduce_local(plan: BatchPlan, received: Iterable[Row]) -> Iterator[Row]:
    """Reduce messages that count, as far as declarations close their vertices.

    The rest goes to the shards of its vertices, edges and counts together.
    """
    passed = list(received)
    yield from (row for row in passed if row.kind != task_messages.COUNTING)
    for topic, partition, messages in _by_partition(passed, task_messages.COUNTING):
        yield from _reduced(plan, topic, partition, messages)


def _by_partition(received: Iterable[Row], kind: str) -> Iterator[tuple[str, int, pa.Table]]:
    """Yield messages of a kind of rows, by topic and partition."""
    for topic, parts in task_messages.by_topic(received, kind).items():
        for partition in sorted({row.shard for row in parts}):
            own_tables = [table_of(row.data) for row in parts if row.shard == partition]
            yield topic, partition, concatenated(own_tables, SCHEMA)


def _reduced(plan: BatchPlan, topic: str, partition: int, messages: pa.Table) -> Iterator[Row]:
    if plan.log:
        plan.write_log(table_bytes(messages), topic, f"{partition:06}")
    part = partial_of(messages, plan.semiring)
    reducer = Reducer(plan.semiring, hubs=plan.hubs, partial=True, batch=len(part.edges) + 1)
    reducer.add(part)
    try:
        flushed, report, finals = reducer.flush(), reducer.report, reducer.take_final()
    except (
        ReductionCycleError
    ):  # no part of a cycle is ever resolved: the driver finds it in the end
        flushed, report, finals = part, Report(received=len(part.edges)), []
    for final in finals:
        yield Row(0, task_messages.FINAL, topic, partition, 0, packed(final_tables(final)))
    reduced: dict[str, Any] = {
        "received": report.received,
        "dead": report.dead,
        "excess": report.excess,
        "named": report.named,
        "emitted": len(flushed.edges),
        "functions": functions_document(flushed.functions),
        "due": _due(messages),
    }
    yield task_messages.told(task_messages.REDUCED, topic, partition, reduced)
    for shard, share in enumerate(split(flushed, plan.shards)):
        if not share.is_empty:
            data = packed(share_tables(share))
            yield Row(plan.labels[shard], task_messages.SHARE, topic, shard, partition, data)


def _due(messages: pa.Table) -> int | None:
    """Return the total number of edges of the topic, if a seal among the messages declares it."""
    seals = messages.filter(pc.equal(messages.column("kind"), SEALED))
    due = None
    for row in seals.filter(seals.column("function").is_null()).to_pylist():
        counts = row["counts"] or {}
        used, generated = counts.get("used"), counts.get("generated")
        if used is not None and generated is not None:
            due = int(used + generated)
    return due
