"""The fragment of a provenance graph that one invocation adds, under construction.

Nodes are collected in pools, one per future segment, and edges between pools. The name of a pool,
and the set of its nodes that exist, is settled at the end: state tuples get nodes only if a
derivation uses them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from graphquery.model import EdgeSet, Kind, Ordinals, Port, Segment
from lipstick.workflow.execution.tables import take
from semiring.arrays.segments import ascending
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class NewSegment:
    """A segment to be stored, and its values."""

    segment: Segment
    values: pa.Table | None


@dataclass(frozen=True, slots=True)
class NewEdges:
    """An edge set to be stored, and its explicit ordinals."""

    edges: EdgeSet
    sources: Array | None
    targets: Array | None


@dataclass(frozen=True, slots=True)
class Fragment:
    """The part of the stored graph that one invocation adds."""

    segments: tuple[NewSegment, ...] = ()
    edges: tuple[NewEdges, ...] = ()


def new_edges(
    source: Segment, target: Segment, sources: Array, targets: Array, port: int = Port.OPERAND
) -> NewEdges:
    """Return edges between two segments, without ordinals that follow from the edge's number."""
    count = len(sources)
    ends = [_implied(sources), _implied(targets)]
    arrays = [
        array if end is Ordinals.COLUMN else None
        for array, end in zip((sources, targets), ends, strict=True)
    ]
    file = "" if Ordinals.COLUMN in ends else None
    edges = EdgeSet(source.name, target.name, count, ends[0], ends[1], file, port)
    return NewEdges(edges, arrays[0], arrays[1])


def _implied(ordinals: Array) -> Ordinals:
    if not ordinals.any():
        return Ordinals.ONE
    if bool((ordinals == np.arange(len(ordinals))).all()):
        return Ordinals.ALL
    return Ordinals.COLUMN


@dataclass(frozen=True, slots=True)
class Nodes:
    """References to nodes: a pool and an ordinal each."""

    pools: Array
    ordinals: Array

    @classmethod
    def of(cls, pool: int, ordinals: Array) -> Nodes:
        """Return references to nodes of one pool."""
        return cls(np.full(len(ordinals), pool, dtype=np.int32), ordinals)

    @classmethod
    def none(cls, count: int) -> Nodes:
        """Return empty references, with ordinal -1."""
        return cls(np.full(count, -1, dtype=np.int32), np.full(count, -1, dtype=np.int64))

    @classmethod
    def concatenated(cls, parts: Sequence[Nodes]) -> Nodes:
        """Return the concatenation of several references."""
        if not parts:
            return cls(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64))
        return cls(
            np.concatenate([part.pools for part in parts]),
            np.concatenate([part.ordinals for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.ordinals)

    def put(self, rows: Array, nodes: Nodes) -> None:
        """Set the references at some positions."""
        self.pools[rows], self.ordinals[rows] = nodes.pools, nodes.ordinals

    def take(self, rows: Array) -> Nodes:
        """Return the references at some positions."""
        return Nodes(self.pools[rows], self.ordinals[rows])


@dataclass(slots=True)
class Pool:
    """Nodes of one future segment.

    Parameters
    ----------
    segment
        The segment; its count and file are settled at the end.
    values
        The values of node i in row i; None if there are none.
    used
        True for each node that something refers to, if others are left out; None: all are stored.
    origin
        The stored nodes that these nodes stand for, by the name of their segment.
    """

    segment: Segment
    values: pa.Table | None = None
    used: Array | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Nodes in stored segments: by row, the number of the segment's name, and an ordinal.

    The number is -1 for rows without a node.
    """

    names: Sequence[str]
    segments: Array
    ordinals: Array

    @classmethod
    def none(cls, count: int) -> Origin:
        """Return rows without nodes."""
        nothing = np.full(count, -1, dtype=np.int64)
        return cls((), nothing, nothing)

    @classmethod
    def of(cls, segment: str, count: int, rows: Array | None = None) -> Origin:
        """Return the nodes of one segment, in their order, at some of `count` rows; None: at
        all.
        """
        segments = np.full(count, -1, dtype=np.int64)
        ordinals = np.full(count, -1, dtype=np.int64)
        places = np.arange(count, dtype=np.int64) if rows is None else rows
        segments[places], ordinals[places] = 0, np.arange(len(places), dtype=np.int64)
        return cls((segment,), segments, ordinals)

    @classmethod
    def concatenated(cls, parts: Sequence[Origin]) -> Origin:
        """Return the concatenation of several origins."""
        names: list[str] = []
        segments = [np.empty(0, dtype=np.int64)]
        for part in parts:
            segments.append(np.where(part.segments < 0, -1, part.segments + len(names)))
            names.extend(part.names)
        ordinals = [np.empty(0, dtype=np.int64), *(part.ordinals for part in parts)]
        return cls(tuple(names), np.concatenate(segments), np.concatenate(ordinals))

    @property
    def rows(self) -> Array:
        """The rows with a node."""
        return np.flatnonzero(self.segments >= 0)

    def take(self, rows: Array) -> Origin:
        """Return the nodes at some rows."""
        return Origin(self.names, self.segments[rows], self.ordinals[rows])

    def groups(self) -> Iterator[tuple[str, Array]]:
        """Yield each segment with nodes, and the rows of its nodes."""
        there = self.rows
        if not len(there):
            return
        order = there[np.argsort(self.segments[there], kind="stable")]
        names_used, starts = np.unique(self.segments[order], return_index=True)
        for number, places in zip(names_used, np.split(order, starts[1:]), strict=True):
            yield self.names[int(number)], places


Values = Mapping[str, tuple[str, Array]]
"""By column of some tuples, the segment of its values' v-nodes, and the tuples that have one."""


def origins(values: Values, count: int) -> dict[str, Origin]:
    """Return the v-nodes of the columns of `count` tuples."""
    return {name: Origin.of(segment, count, rows) for name, (segment, rows) in values.items()}


class InvocationTrace:
    """Collects the nodes and edges of one invocation.

    Parameters
    ----------
    module, invocation, execution
        Whose nodes they are.
    """

    def __init__(self, module: str, invocation: int, execution: int) -> None:
        self.name = f"{module}#{invocation}"
        self._module = module
        self._invocation = invocation
        self._execution = execution
        self.pools: list[Pool] = []
        self._edges: list[tuple[Nodes, int, Array, int]] = []
        self.invocation = self.pool("", Kind.INVOCATION, module, 1)

    def pool(
        self,
        suffix: str,
        kind: Kind,
        label: str,
        count: int,
        *,
        relation: str | None = None,
        values: pa.Table | None = None,
        key: tuple[str, ...] = (),
        used: Array | None = None,
        origin: Origin | None = None,
    ) -> int:
        """Add nodes of one segment, and return their pool's number.

        Parameters
        ----------
        suffix
            The suffix of the invocation's name in the segment's name.
        used
            A Boolean per node, to be set for the nodes that there are; None: there are all.
        origin
            Where the nodes stand for stored nodes: an edge leads from each of these, and to p-nodes
            one from the m-node.
        """
        segment = Segment(
            name=f"{self.name}/{suffix}" if suffix else self.name,
            kind=kind,
            label=label,
            count=count,
            module=self._module,
            invocation=self._invocation,
            execution=self._execution,
            relation=relation,
            key=key if values is not None else (),
            file="" if values is not None else None,
        )
        self.pools.append(Pool(segment, values, used, origin))
        return len(self.pools) - 1

    def edges(self, sources: Nodes, pool: int, targets: Array, port: int = Port.OPERAND) -> None:
        """Add edges, one from each source to the node of `pool` in the same row."""
        there = np.flatnonzero(sources.ordinals >= 0)
        if len(there) < len(sources):
            sources, targets = sources.take(there), targets[there]
        if len(sources):
            self._edges.append((sources, pool, targets, port))

    def from_invocation(self, pool: int, count: int) -> None:
        """Add an edge from the m-node to each of the first `count` nodes of a pool."""
        m_node = Nodes.of(self.invocation, np.zeros(count, dtype=np.int64))
        self.edges(m_node, pool, np.arange(count, dtype=np.int64))

    # -- the end ---------------------------------------------------------------------------

    def fragment(self) -> Fragment:
        """Return the segments and edge sets to store."""
        places = [self._settle(number, pool) for number, pool in enumerate(self.pools)]
        segments = [NewSegment(p.segment, p.values) for p in self.pools if p.segment.count]
        edges: list[NewEdges] = []
        for pool in self.pools:
            edges += self._entering(pool)
        for sources, target, targets, port in self._edges:
            for number in ascending(sources.pools).tolist():
                of_pool = np.flatnonzero(sources.pools == number)
                source, end = self.pools[number].segment, self.pools[target].segment
                edges.append(
                    new_edges(
                        source,
                        end,
                        _placed(places[number], sources.ordinals[of_pool]),
                        _placed(places[target], targets[of_pool]),
                        port,
                    )
                )
        return Fragment(tuple(segments), tuple(edges))

    def _entering(self, pool: Pool) -> Iterator[NewEdges]:
        """Yield the edges of entering tuples: from the tuples, and from the m-node."""
        if pool.origin is None or not pool.segment.count:
            return
        for name, rows in pool.origin.groups():
            ordinals = pool.origin.ordinals[rows]
            source = Segment(name, Kind.TOKEN, "", int(ordinals.max()) + 1)
            yield new_edges(source, pool.segment, ordinals, rows)
        if pool.segment.kind is Kind.VALUE:
            return
        every = np.arange(pool.segment.count, dtype=np.int64)
        m_node = self.pools[self.invocation].segment
        yield new_edges(m_node, pool.segment, np.zeros_like(every), every)

    def _settle(self, number: int, pool: Pool) -> Array | None:
        """Remove unused nodes; return the new ordinal of each, or None if unchanged."""
        if pool.used is None:
            return None
        for sources, _, _, _ in self._edges:
            of_pool = sources.pools == number
            pool.used[sources.ordinals[of_pool]] = True
        rows = np.flatnonzero(pool.used)
        places = np.cumsum(pool.used) - 1
        pool.segment = replace(pool.segment, count=len(rows))
        pool.values = None if pool.values is None else take(pool.values, rows)
        pool.origin = None if pool.origin is None else pool.origin.take(rows)
        return places


def _placed(places: Array | None, ordinals: Array) -> Array:
    placed: Array = ordinals if places is None else places[ordinals]
    return placed
