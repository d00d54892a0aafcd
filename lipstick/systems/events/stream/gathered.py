"""The results of a batch's tasks, combined with the earlier state of each topic."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from graphquery.reduction import Final, FunctionCounts, Partial
from graphquery.reduction.function_inputs import merge_functions
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.parse import DeadLetter
from lipstick.systems.events.stream import task_messages
from lipstick.systems.events.stream.plan import BatchPlan, TopicPlan, functions_of
from lipstick.systems.events.stream.task_messages import Row
from lipstick.systems.events.stream.wire import final_of, table_of, unpacked

NAMED = 10
_PEAKS = ("peak_edges", "peak_vertices", "peak_bytes")


@dataclass(slots=True)
class Gathered:
    """The results of a batch.

    Parameters
    ----------
    topics
        The current progress of each topic, unchanged for topics without results in the batch.
    finals, late
        By topic, its final edges, and its late messages.
    letters
        Lines that are not messages.
    oldest, bytes
        The time when the oldest input was written, and the size of all input.
    events
        Events of OpenLineage, as lines.
    runs, fresh
        By topic, its runs, if events arrived, and the edges of the newly delivered runs.
    """

    topics: dict[str, TopicPlan]
    finals: dict[str, list[Final]] = field(default_factory=dict)
    late: dict[str, list[pa.Table]] = field(default_factory=dict)
    letters: list[DeadLetter] = field(default_factory=list)
    oldest: int | None = None
    bytes: int = 0
    events: list[str] = field(default_factory=list)
    runs: dict[str, Any] = field(default_factory=dict)
    fresh: dict[str, Partial] = field(default_factory=dict)


def gather(plan: BatchPlan, received: Iterable[Row]) -> Gathered:
    """Combine the rows that tasks sent to the driver.

    Raises
    ------
    EventsError
        When two tasks had messages of one partition of the source.
    """
    gathered = Gathered(dict(plan.topics))
    peaks: dict[str, dict[str, int]] = {}
    resolved: dict[str, dict[int, dict[str, Any]]] = {}
    decided: set[tuple[str, int]] = set()
    for row in received:
        known = gathered.topics.get(row.topic, TopicPlan())
        if row.kind == task_messages.LETTER:
            gathered.letters.append(DeadLetter(**json.loads(row.data)))
        elif row.kind == task_messages.EVENTS:
            gathered.events += json.loads(row.data)["events"]
        elif row.kind == task_messages.READ:
            _read(gathered, json.loads(row.data))
        elif row.kind == task_messages.FINAL:
            final = final_of(unpacked(row.data), plan.semiring)
            gathered.finals.setdefault(row.topic, []).append(final)
        elif row.kind == task_messages.LATE:
            gathered.late.setdefault(row.topic, []).append(table_of(row.data))
        elif row.kind == task_messages.DECIDED:
            if (row.topic, row.shard) in decided:
                raise EventsError(
                    f"Two tasks have read partition {row.shard} of the source at the same time.\n"
                    "Read each partition in one task, or partition by execution."
                )
            decided.add((row.topic, row.shard))
            gathered.topics[row.topic] = _decided(known, row.shard, json.loads(row.data))
        elif row.kind == task_messages.REDUCED:
            gathered.topics[row.topic] = _reduced(known, json.loads(row.data))
        elif row.kind == task_messages.RESOLVED:
            resolved.setdefault(row.topic, {})[row.shard] = json.loads(row.data)
    for topic, shards in resolved.items():
        known = gathered.topics.get(topic, TopicPlan())
        gathered.topics[topic] = _resolved(known, shards)
        peaks[topic] = {name: sum(told[name] for told in shards.values()) for name in _PEAKS}
    for topic, now in peaks.items():
        gathered.topics[topic] = with_peaks(gathered.topics[topic], now)
    return gathered


def added(known: TopicPlan, named: Iterable[str] = (), **counts: int) -> TopicPlan:
    """Return a topic with increased counts, and more reported vertices."""
    sums = {name: known.counts.get(name, 0) + number for name, number in counts.items()}
    names = tuple(dict.fromkeys([*known.named, *named]))[:NAMED]
    return replace(known, counts={**known.counts, **sums}, named=names)


def with_peaks(known: TopicPlan, now: Mapping[str, int]) -> TopicPlan:
    """Return a topic with its peaks raised to its current sizes."""
    peaks = {name: max(known.counts.get(name, 0), number) for name, number in now.items()}
    return replace(known, counts={**known.counts, **peaks})


def _read(gathered: Gathered, told: Mapping[str, Any]) -> None:
    gathered.bytes += told["bytes"]
    times = [time for time in (gathered.oldest, told["oldest"]) if time is not None]
    gathered.oldest = min(times, default=None)


def _decided(known: TopicPlan, partition: int, told: Mapping[str, Any]) -> TopicPlan:
    held = {number: name for number, name in known.held.items() if number != partition}
    if told["held"] is not None:
        held[partition] = told["held"]
    latest = dict(known.latest)
    for worker, time in told["latest"].items():
        latest[worker] = max(latest.get(worker, time), time)
    known = replace(
        known,
        held=held,
        done={**known.done, partition: tuple(told["done"])},
        waiting={**known.waiting, partition: told["waiting"]},
        latest=latest,
    )
    names = ("repeated", "abandoned", "messages")
    return added(known, **{name: told[name] for name in names})


def _reduced(known: TopicPlan, told: Mapping[str, Any]) -> TopicPlan:
    functions: dict[str, FunctionCounts] = dict(known.functions)
    for name, function in functions_of(told["functions"]).items():
        before = [functions[name]] if name in functions else []
        functions[name] = merge_functions([*before, function])
    due = known.due if told["due"] is None else told["due"]
    edges = known.edges + told["received"]
    known = replace(known, functions=functions, due=due, edges=edges)
    names = ("received", "dead", "excess", "emitted")
    return added(known, told["named"], **{name: told[name] for name in names})


def _resolved(known: TopicPlan, shards: Mapping[int, Mapping[str, Any]]) -> TopicPlan:
    """Return a topic with the new states of shards that took a step, and without their old
    input.
    """
    opened = {number: name for number, name in known.open.items() if number not in shards}
    sizes = {number: size for number, size in known.sizes.items() if number not in shards}
    told = {number: names for number, names in known.told.items() if number not in shards}
    for shard, report in shards.items():
        if report["open"] is not None:
            opened[shard] = report["open"]
            sizes[shard] = tuple(report["size"])
        for to, name in report["told"].items():
            told[int(to)] = (*told.get(int(to), ()), name)
        counts = {name: report[name] for name in ("dead", "excess", "missing", "cyclic")}
        known = added(known, report["named"], **counts)
    return replace(known, open=opened, sizes=sizes, told=told)
