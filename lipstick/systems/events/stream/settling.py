"""Steps between batches, in one process where shards send each other little."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from graphquery.reduction import Evidence, Final, FunctionCounts, Partial, merge, reduce
from graphquery.reduction.hashing import shard_of
from graphquery.reduction.shares import Share, split
from lipstick.systems.events.stream.gathered import NAMED, added, with_peaks
from lipstick.systems.events.stream.plan import BatchPlan, TopicPlan
from lipstick.systems.events.stream.resolving import stored_parts, take_step, write_share


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
        """Identifiers of open vertices."""
        keys = [pa.array([], pa.string())]
        for shard, parts in self._parts.items():
            for part in parts:
                in_shard = shard_of(part.keys, self._plan.shards) == shard
                keys.append(part.keys.filter(pa.array(in_shard)))
        return pa.concat_arrays(keys)

    def deliver(self, partial: Any) -> None:
        """Give a partial graph to the shards of its vertices."""
        for shard, share in enumerate(split(partial, self._plan.shards)):
            if not share.is_empty:
                self._told.setdefault(shard, []).append(share)

    def settle(self) -> None:
        """Take steps until no shard sends anything any more."""
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
        """Return True if no edges are left."""
        return not any(len(part.leaving) for parts in self._parts.values() for part in parts)

    def break_cycles(self) -> None:
        """Reduce what is left when a topic is over, which are cycles, in one piece."""
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
            merge(graphs, semiring),
            Evidence(sealed=True),
            hubs=self._plan.hubs,
            break_cycles=True,
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
