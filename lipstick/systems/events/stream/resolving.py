"""The step of a shard in a batch: what came for its vertices, resolved as far as can be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from graphquery.reduction.resolution import Stepped, step
from graphquery.reduction.shares import Share
from lipstick.systems.events.stream import task_messages
from lipstick.systems.events.stream.plan import BatchPlan, TopicPlan
from lipstick.systems.events.stream.task_messages import Row
from lipstick.systems.events.stream.wire import (
    final_tables,
    packed,
    share_of,
    share_tables,
    unpacked,
)


def resolve(plan: BatchPlan, shard: int, received: Iterable[Row]) -> Iterator[Row]:
    """Take a step of every topic of a shard; other rows are passed on."""
    passed = list(received)
    yield from (row for row in passed if row.kind != task_messages.SHARE)
    came = task_messages.by_topic(passed, task_messages.SHARE)
    for topic in dict.fromkeys([*plan.topics, *came]):
        own_rows = came.get(topic, [])
        strays = [row for row in own_rows if row.shard != shard]
        if strays:
            raise RuntimeError(f"What is for shard {strays[0].shard} has come to {shard}.")
        known = plan.topic(topic)
        shares = [share_of(unpacked(row.data), plan.semiring) for row in own_rows]
        parts = [*stored_parts(plan, known, shard), *shares]
        if parts:
            stepped = take_step(plan, known, shard, parts)
            yield from _stepped(plan, topic, shard, parts, stepped)


def stored_parts(plan: BatchPlan, known: TopicPlan, shard: int) -> list[Share]:
    """Return the state of a shard, and the shares sent to it since."""
    names = [*([known.open[shard]] if shard in known.open else []), *known.told.get(shard, ())]
    return [share_of(unpacked(plan.read(name)), plan.semiring) for name in names]


def take_step(plan: BatchPlan, known: TopicPlan, shard: int, parts: Sequence[Share]) -> Stepped:
    """Take a step of a shard, by the evidence and functions of the topic."""
    return step(
        list(parts),
        shard,
        plan.shards,
        known.evidence,
        known.functions,
        plan.semiring,
        hubs=plan.hubs,
    )


def write_share(plan: BatchPlan, share: Share, kind: str) -> str:
    """Write a share; return the name of its file."""
    return plan.write(packed(share_tables(share)), kind)


def _stepped(
    plan: BatchPlan, topic: str, shard: int, parts: Sequence[Share], stepped: Stepped
) -> Iterator[Row]:
    state = stepped.state
    is_open = not state.is_empty
    reported = (stepped.excess, stepped.missing, stepped.cyclic)
    named = [name for keys in reported for name in keys.slice(0, 10).to_pylist()]
    resolved = {
        "open": write_share(plan, state, "open") if is_open else None,
        "told": {to: write_share(plan, share, "told") for to, share in stepped.told.items()},
        "size": [len(state.leaving), len(state.keys), state.nbytes] if is_open else None,
        "peak_edges": sum(len(part.leaving) for part in parts),
        "peak_vertices": sum(len(part.keys) for part in parts),
        "peak_bytes": sum(part.nbytes for part in parts),
        "dead": stepped.dead,
        "excess": len(stepped.excess),
        "missing": len(stepped.missing),
        "cyclic": len(stepped.cyclic),
        "named": named,
    }
    yield task_messages.told(task_messages.RESOLVED, topic, shard, resolved)
    if len(stepped.final.edges):
        yield Row(0, task_messages.FINAL, topic, shard, 0, packed(final_tables(stepped.final)))
