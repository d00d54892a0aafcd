"""The second stage of the exact reduction, sharded by vertex: no reducer has the whole graph.

A vertex is resolved when all edges that leave it have come and lead to vertices that stay: then its
causes are final. Its shard sends them to the shards that requested them, which replace their edges
by them, and so on from inputs to outputs. Messages arrive with the next step (a superstep of
Malewicz et al., *Pregel*, SIGMOD 2010), among vertices of one shard in the same. A vertex is
eliminated when it is closed, as in `reduce`, or kept as a hub where that would add edges, so that
the reduced graph is never larger than the full one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.reduction.closure import Evidence, closed
from graphquery.reduction.edges import Edges, joined, no_edges
from graphquery.reduction.function_inputs import FunctionCounts
from graphquery.reduction.hashing import shard_of
from graphquery.reduction.partial import Partial
from graphquery.reduction.reduce import Final
from graphquery.reduction.shares import Share
from graphquery.reduction.vertices import VertexRole, Vertices, has, unknown
from semiring.arrays.segments import ascending, mask_of
from semiring.base import Array, Semiring


@dataclass(frozen=True, slots=True)
class Stepped:
    """The result of a step of a shard.

    Parameters
    ----------
    state
        The open part of the shard.
    told
        By shard, the message to deliver before its next step, unless empty.
    final
        The final edges.
    dead
        The number of edges dropped since they lead to no output or come from no input.
    excess, missing
        Keys of vertices with more edges than declared, and of vertices sealed with fewer.
    cyclic
        Keys of staying vertices with a path back to themselves, which was dropped.
    """

    state: Share
    told: dict[int, Share]
    final: Final
    dead: int
    excess: pa.Array
    missing: pa.Array
    cyclic: pa.Array


def step(
    share: Share,
    shard: int,
    count: int,
    evidence: Evidence,
    functions: Mapping[str, FunctionCounts],
    *,
    hubs: bool = True,
) -> Stepped:
    """Resolve the vertices of one shard that can be resolved.

    Parameters
    ----------
    share
        The shard's state, joined with the messages delivered since its last step.
    shard, count
        The shard's number, and the number of shards.
    functions
        The counts of functions over all shards, for edges that were delivered before.

    Notes
    -----
    O(edges · log edges) time for every pass; passes are as many as the longest chain of vertices
    of the shard that get resolved.
    """
    return _Step(share, shard, count, evidence, functions, hubs).run()


class _Step:
    def __init__(
        self,
        share: Share,
        shard: int,
        count: int,
        evidence: Evidence,
        functions: Mapping[str, FunctionCounts],
        hubs: bool,
    ) -> None:
        self.share, self.shard, self.hubs = share, shard, hubs
        self.size = len(share.keys)
        self.owner = shard_of(share.keys, count)
        self.own = self.owner == shard
        self.leaving, self.settled = share.leaving, share.settled
        self.requests = _without(share.requests, share.cancelled, self.size).merged()
        self.roles = share.vertices.roles.copy()
        known = {name: functions.get(name, FunctionCounts()) for name in share.functions}
        sides = closed(Partial(share.keys, share.leaving, share.vertices, known), evidence)
        self.sides = sides
        self.final = sides.final & self.own
        self.closed = sides.entering & sides.leaving & self.own
        self.gone = np.zeros(self.size, dtype=np.bool_)
        self.dead = 0
        self.emitted: list[Edges] = []
        self.told: list[tuple[int, Edges, Array]] = []
        self.withdrawn = _pairs()

    def run(self) -> Stepped:
        semiring = self.leaving.semiring
        answers, empty = self.share.answers, self.share.empty
        grown = len(answers) + len(empty) > 0
        while True:
            self._replace(answers, empty)
            more = self._bury()
            answers, empty = self._resolve()
            if not (len(answers) or len(empty) or more):
                break
            grown = True
        if grown:
            self._merge_settled()
        told = self._deliveries(semiring)
        excess = self.sides.excess & self.own & ~has(self.roles, VertexRole.EXCESS)
        missing = self.sides.missing & self.own & ~has(self.roles, VertexRole.EXCESS)
        self.roles[excess | missing] |= np.uint8(VertexRole.EXCESS)
        keys = self.share.keys
        final, cyclic = self._finals(semiring)
        return Stepped(
            self._state(semiring),
            told,
            final,
            self.dead,
            keys.filter(pa.array(excess)),
            keys.filter(pa.array(missing)),
            keys.filter(pa.array(cyclic)),
        )

    def _replace(self, answers: Edges, empty: Array) -> None:
        """Replace edges to answered vertices by edges to the causes in their answers."""
        if not (len(answers) or len(empty)):
            return
        answered = mask_of(answers.source, self.size)
        answered[empty] = True
        hit = ~self.settled & answered[self.leaving.dest]
        requested = self.leaving.take(hit)
        order = np.argsort(answers.source, kind="stable")
        causes = answers.take(order)
        number = np.bincount(causes.source, minlength=self.size)
        starts = np.cumsum(number) - number
        fan = number[requested.dest]
        self.dead += int(np.count_nonzero(fan == 0))
        left = np.repeat(np.arange(len(requested)), fan)
        right = np.arange(len(left)) - np.repeat(np.cumsum(fan) - fan, fan)
        right += starts[requested.dest][left]
        label = None
        if requested.label is not None and causes.label is not None:
            label = requested.times(requested.label[left], causes.label[right])
        replaced = Edges(requested.source[left], causes.dest[right], label, requested.semiring)
        self.leaving = joined([self.leaving.take(~hit), replaced], requested.semiring)
        self.settled = np.concatenate([self.settled[~hit], np.ones(len(replaced), dtype=np.bool_)])

    def _bury(self) -> bool:
        """Drop closed vertices without effects; return True if that may free more vertices."""
        is_requested = self._marked(self.requests.dest)
        buried = self.closed & ~self.final & ~is_requested & ~self.gone
        if not buried.any():
            return False
        self.gone |= buried
        rows = buried[self.leaving.source]
        lost = Edges(self.leaving.source[rows], self.leaving.dest[rows])
        waiting = lost.take(~self.settled[rows])
        self.dead += len(lost)
        self.leaving, self.settled = self.leaving.take(~rows), self.settled[~rows]
        here = self.own[waiting.dest]
        self.withdrawn = joined([self.withdrawn, waiting.take(~here)], None)
        self.requests = _without(self.requests, waiting.take(here), self.size)
        return bool(here.any())

    def _resolve(self) -> tuple[Edges, Array]:
        """Emit and answer the resolved vertices; return the answers within the shard."""
        open_ends = self._marked(self.leaving.source[~self.settled])
        resolved = self.own & self.sides.leaving & ~open_ends & ~self.gone
        inner = resolved & self.closed & ~self.final
        rows = inner[self.leaving.source]
        causes = self.leaving.take(rows).merged()
        handed = np.zeros(self.size, dtype=np.bool_)
        if inner.any():
            self.leaving, self.settled = self.leaving.take(~rows), self.settled[~rows]
            hub = self._hubs(inner, causes)
            self.roles[hub] |= np.uint8(VertexRole.HUB)
            self.final |= hub
            stay = hub[causes.source]
            self.emitted.append(causes.take(stay))
            causes = causes.take(~stay)
            handed = inner & ~hub
            self.gone |= inner
        self._emit(resolved & self.final)
        no_cause = self.sides.leaving & (self.share.vertices.leaving == 0)
        itself = self.final & (no_cause | has(self.roles, VertexRole.KEPT | VertexRole.HUB))
        return self._answer(handed, causes, itself)

    def _hubs(self, inner: Array, causes: Edges) -> Array:
        """Return a mask of the vertices that stay because eliminating them would add edges."""
        if not self.hubs:
            return np.zeros(self.size, dtype=np.bool_)
        effects = np.bincount(self.requests.dest, minlength=self.size)
        number = np.bincount(causes.source, minlength=self.size)
        more: Array = inner & (effects * number > effects + number)
        return more

    def _emit(self, which: Array) -> None:
        rows = which[self.leaving.source]
        if rows.any():
            self.emitted.append(self.leaving.take(rows).merged())
            self.leaving, self.settled = self.leaving.take(~rows), self.settled[~rows]

    def _answer(self, handed: Array, causes: Edges, itself: Array) -> tuple[Edges, Array]:
        answered = handed | itself
        rows = answered[self.requests.dest]
        served = self.requests.take(rows)
        if not len(served):
            return no_edges(self.leaving.semiring), served.source
        self.requests = self.requests.take(~rows)
        # Each shard gets a vertex once, however many of its vertices requested it.
        pairs = Edges(self.owner[served.source], served.dest).merged()
        vertices = ascending(served.dest[itself[served.dest]])
        ones = None
        if causes.semiring is not None:
            ones = causes.semiring.ones(len(vertices))
        sent = joined([causes, Edges(vertices, vertices, ones, causes.semiring)], causes.semiring)
        here = no_edges(causes.semiring), np.empty(0, dtype=np.int64)
        has_cause = self._marked(sent.source)
        for target in ascending(pairs.source).tolist():
            to = self._marked(pairs.dest[pairs.source == target])
            empty = np.flatnonzero(to & ~has_cause)
            if target == self.shard:
                here = sent.take(to[sent.source]), empty
            else:
                self.told.append((target, sent.take(to[sent.source]), empty))
        return here

    def _marked(self, places: Array) -> Array:
        return mask_of(places, self.size)

    def _merge_settled(self) -> None:
        """Merge parallel settled edges."""
        merged = self.leaving.take(self.settled).merged()
        waiting = self.leaving.take(~self.settled)
        self.leaving = joined([waiting, merged], self.leaving.semiring)
        self.settled = np.arange(len(self.leaving)) >= len(waiting)

    def _deliveries(self, semiring: Semiring[Any] | None) -> dict[int, Share]:
        parts: dict[int, tuple[list[Edges], list[Array]]] = {}
        for target, edges, empty in self.told:
            answers, nothing = parts.setdefault(target, ([], []))
            answers.append(edges)
            nothing.append(empty)
        to = self.owner[self.withdrawn.dest]
        for target in ascending(to).tolist():
            parts.setdefault(target, ([], []))
        none = [np.empty(0, dtype=np.int64)]
        return {
            target: self._delivery(
                joined(answers, semiring),
                np.concatenate(none + nothing),
                self.withdrawn.take(to == target),
            )
            for target, (answers, nothing) in parts.items()
        }

    def _delivery(self, answers: Edges, empty: Array, cancelled: Edges) -> Share:
        needed = self._marked(answers.source) | self._marked(answers.dest)
        needed |= self._marked(empty) | self._marked(cancelled.source)
        needed |= self._marked(cancelled.dest)
        numbers = np.cumsum(needed) - 1
        lasting = np.uint8(VertexRole.KEPT | VertexRole.HUB | VertexRole.EXCESS)
        roles = np.where(self._marked(answers.dest), self.roles & lasting, np.uint8(0))
        nothing = no_edges(answers.semiring)
        return Share(
            self.share.keys.filter(pa.array(needed)),
            replace(unknown(int(needed.sum())), roles=roles[needed]),
            (),
            nothing,
            np.empty(0, dtype=np.bool_),
            cancelled=cancelled.renumbered(numbers),
            answers=answers.renumbered(numbers),
            empty=numbers[empty],
        )

    def _finals(self, semiring: Semiring[Any] | None) -> tuple[Final, Array]:
        edges = joined(self.emitted, semiring)
        loops = edges.source == edges.dest
        cyclic = self._marked(edges.source[loops])
        edges = edges.take(~loops)
        present = self._marked(edges.source) | self._marked(edges.dest)
        numbers = np.cumsum(present) - 1
        keys = self.share.keys.filter(pa.array(present))
        return Final(keys, edges.renumbered(numbers), self.roles[present]), cyclic

    def _state(self, semiring: Semiring[Any] | None) -> Share:
        known = self.share.vertices
        # Whoever reads an input says again that it is one: it may be forgotten in between.
        is_input = self.final & self.sides.leaving & (known.leaving == 0)
        is_input &= ~has(self.roles, VertexRole.KEPT)
        needed = self.own & ~self.closed & ~is_input
        for edges in (self.leaving, self.requests):
            needed |= self._marked(edges.source) | self._marked(edges.dest)
        numbers = np.cumsum(needed) - 1
        vertices: Vertices = replace(known, roles=self.roles).take(needed)
        return Share(
            self.share.keys.filter(pa.array(needed)),
            vertices,
            self.share.functions,
            self.leaving.renumbered(numbers),
            self.settled,
            self.requests.renumbered(numbers),
            answers=no_edges(semiring),
        )


def _pairs() -> Edges:
    nothing = np.empty(0, dtype=np.int64)
    return Edges(nothing, nothing)


def _without(edges: Edges, taken: Edges, size: int) -> Edges:
    """Return the edges that are not in `taken`, ignoring labels."""
    if not len(taken) or not len(edges):
        return edges
    span = max(size, 1)
    gone = np.isin(edges.source * span + edges.dest, taken.source * span + taken.dest)
    return edges.take(~gone)
