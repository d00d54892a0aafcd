"""Resolution steps between batches, in one process where shards exchange little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.reduction import Evidence, Final, FunctionCounts, Partial, merge, reduce
from graphquery.reduction.hashing import shard_of
from graphquery.reduction.resolution import Stepped, step
from graphquery.reduction.shares import Share, joined_shares, split
from lipstick.systems.events.cyclic import acyclic, have_cycles, reason_of_cycle
from lipstick.systems.events.formats import PROV
from lipstick.systems.events.message import SCHEMA
from lipstick.systems.events.parse import DeadLetter
from lipstick.systems.events.partials import partial_of
from lipstick.systems.events.stream import task_messages
from lipstick.systems.events.stream.gathered import NAMED, added, with_peaks
from lipstick.systems.events.stream.parsed_rows import DOCUMENT
from lipstick.systems.events.stream.plan import BatchPlan, TopicPlan
from lipstick.systems.events.stream.settings import StreamSettings
from lipstick.systems.events.stream.task_messages import Row
from lipstick.systems.events.stream.wire import (
    concatenated,
    final_tables,
    packed,
    share_of,
    share_tables,
    table_of,
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
    share = joined_shares(list(parts), plan.semiring)
    return step(share, shard, plan.shards, known.evidence, known.functions, hubs=plan.hubs)


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


class Settling:
    """The shards of a topic in memory.

    Parameters
    ----------
    plan
        Of the batch.
    known
        Of the topic.
    """

    def __init__(self, plan: BatchPlan, known: TopicPlan) -> None:
        self._plan = plan
        self.known = known
        self.finals: list[Final] = []
        self._parts: dict[int, list[Share]] = {}
        self._told: dict[int, list[Share]] = {}
        for shard in range(plan.shards):
            parts = stored_parts(plan, replace(known, told={}), shard)
            told = stored_parts(plan, replace(known, open={}), shard)
            if parts:
                self._parts[shard] = parts
            if told:
                self._told[shard] = told

    @property
    def open_keys(self) -> pa.Array:
        """The identifiers of open vertices."""
        keys = [pa.array([], pa.string())]
        for shard, parts in self._parts.items():
            for part in parts:
                in_shard = shard_of(part.keys, self._plan.shards) == shard
                keys.append(part.keys.filter(pa.array(in_shard)))
        return pa.concat_arrays(keys)

    def deliver(self, partial: Any) -> None:
        """Split a partial graph among the shards of its vertices."""
        for shard, share in enumerate(split(partial, self._plan.shards)):
            if not share.is_empty:
                self._told.setdefault(shard, []).append(share)

    def settle(self) -> None:
        """Take steps until no shard sends anything."""
        going = True
        while going:
            going = self._step()

    def _step(self) -> bool:
        told, self._told = self._told, {}
        both = {shard: [*self._parts.get(shard, []), *told.get(shard, [])] for shard in
                sorted({*self._parts, *told})}  # fmt: skip
        peaks = dict.fromkeys(("peak_edges", "peak_vertices", "peak_bytes"), 0)
        for shard, parts in both.items():
            for part in parts:
                peaks["peak_edges"] += len(part.leaving)
                peaks["peak_vertices"] += len(part.keys)
                peaks["peak_bytes"] += part.nbytes
            stepped = take_step(self._plan, self.known, shard, parts)
            self._parts[shard] = [stepped.state]
            if len(stepped.final.edges):
                self.finals.append(stepped.final)
            for target, share in stepped.told.items():
                self._told.setdefault(target, []).append(share)
            reported = {"excess": stepped.excess, "missing": stepped.missing}
            reported["cyclic"] = stepped.cyclic
            names = [name for keys in reported.values() for name in keys.to_pylist()]
            counts = {name: len(keys) for name, keys in reported.items()}
            self.known = added(self.known, map(str, names), dead=stepped.dead, **counts)
        self.known = with_peaks(self.known, peaks)
        return bool(self._told)

    @property
    def is_resolved(self) -> bool:
        """True if no edges are left."""
        return not any(len(part.leaving) for parts in self._parts.values() for part in parts)

    def break_cycles(self) -> None:
        """Reduce the remaining edges of a finished topic, which are cycles, as one graph."""
        parts = [part for parts in self._parts.values() for part in parts]
        graphs = [
            Partial(
                part.keys,
                part.leaving,
                part.vertices,
                {name: FunctionCounts() for name in part.functions},
            )
            for part in parts
        ]
        semiring = self._plan.semiring
        reduced = reduce(
            merge(graphs, semiring), Evidence(sealed=True), hubs=self._plan.hubs, break_cycles=True
        )
        if len(reduced.final.edges):
            self.finals.append(reduced.final)
        names = map(str, reduced.cyclic.slice(0, NAMED).to_pylist())
        self.known = added(self.known, names, dead=reduced.dead, cyclic=len(reduced.cyclic))
        self._parts, self._told = {}, {}

    def write(self) -> TopicPlan:
        """Write the open state; return the state of the topic then."""
        opened: dict[int, str] = {}
        sizes: dict[int, tuple[int, int, int]] = {}
        for shard, (state,) in ((s, p) for s, p in self._parts.items() if len(p) == 1):
            if not state.is_empty:
                opened[shard] = write_share(self._plan, state, "open")
                sizes[shard] = (len(state.leaving), len(state.keys), state.nbytes)
        told: Mapping[int, tuple[str, ...]] = {
            shard: tuple(write_share(self._plan, share, "told") for share in shares)
            for shard, shares in self._told.items()
        }
        return replace(self.known, open=opened, sizes=sizes, told=told)


def logged(plan: BatchPlan, topic: str) -> pa.Table:
    """Return the logged messages of a topic that counted."""
    files = sorted(plan.log_of(topic).glob("[0-9]*.arrow"))
    return concatenated((table_of(file.read_bytes()) for file in files), SCHEMA)


def _batches(plan: BatchPlan, topic: str) -> Iterator[pa.Table]:
    """Yield the messages of every batch, with all messages of a document in one batch."""
    files = sorted(plan.log_of(topic).glob("[0-9]*.arrow"))
    for _, group in groupby(files, key=lambda file: file.name.partition("-")[0]):
        yield concatenated((table_of(file.read_bytes()) for file in group), SCHEMA)


def _place(name: str) -> tuple[str, int]:
    """Return the file and line of a document, from its name."""
    path, _, line = name.rpartition("#")
    return path, int(line)


def may_lack_documents(settings: StreamSettings, known: TopicPlan) -> bool:
    """Return True if documents can still be removed: all are logged, and no edge is final."""
    kept = settings.log and not known.kept_from and not known.counts.get("kept")
    return settings.format == PROV and kept


def resettled(plan: BatchPlan, topic: str, known: TopicPlan) -> tuple[Settling, list[DeadLetter]]:
    """Return the shards of a topic without final edges, rebuilt without documents that close
    cycles.
    """
    documents: list[tuple[tuple[str, int], Partial]] = []
    for batch in _batches(plan, topic):
        came = []
        for number in batch.column("seq").unique().to_pylist():
            rows = batch.filter(pc.equal(batch.column("seq"), number))
            named = rows.filter(pc.equal(rows.column("function"), DOCUMENT)).column("exec")
            came.append((_place(named[0].as_py()), partial_of(rows, plan.semiring)))
        documents += sorted(came, key=lambda document: document[0])
    good, letters = acyclic(documents, plan.semiring, hubs=plan.hubs)
    settling = Settling(plan, replace(known, open={}, told={}))
    for part in good:
        settling.deliver(part)
    settling.settle()
    return settling, letters


def cyclic_letters(plan: BatchPlan, topic: str, known: TopicPlan) -> list[DeadLetter]:
    """Return the logged messages of a topic with edges of a cycle, as dead letters."""
    rows = logged(plan, topic)
    reason = reason_of_cycle(known.named)
    letters = []
    for place in np.flatnonzero(have_cycles(rows)).tolist():
        execution, seq = rows.column("exec")[place].as_py(), rows.column("seq")[place].as_py()
        if rows.column("function")[place].as_py() in {DOCUMENT, PROV}:
            continue
        letters.append(
            DeadLetter(f"topic {topic}, execution {execution}, seq {seq}", 0, reason, "")
        )
    return letters or [DeadLetter(f"topic {topic}", 0, reason, "")]
