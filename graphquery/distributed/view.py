"""The part of the stored nodes that a distributed graph shows, and the edges of its zoomed
nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from graphquery.distributed.levels import Levels, Link
from graphquery.distributed.nodes import NodeSet
from graphquery.errors import GraphError
from graphquery.spark import EdgeFrame, Frame, GraphTables
from graphquery.view import NO_IDS, Operation
from semiring.arrays.segments import ascending
from semiring.base import Array


@dataclass(frozen=True, slots=True, eq=False)
class SparkStep:
    """One operation, which can be replayed on a graph with a module zoomed in."""

    operation: Operation
    modules: frozenset[str] = frozenset()
    seeds: NodeSet = field(default_factory=NodeSet)
    stands_for: Mapping[int, NodeSet] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class SparkView:
    """The nodes and edges of a graph.

    Attributes
    ----------
    edges
        The stored edges, and the edges of zoomed nodes.
    present
        The nodes of a subgraph; None: all stored nodes and `zoomed_nodes`.
    absent
        Deleted and zoomed-out nodes; they may be among `present`.
    hidden
        The zoomed-out nodes of `absent`.
    zoomed
        The modules that are zoomed out.
    zoomed_nodes
        Ascending ids of the nodes of their invocations, present or deleted.
    limit
        The limit on an operation's rounds over the edges.
    """

    tables: GraphTables
    edges: tuple[EdgeFrame, ...]
    limit: int
    present: NodeSet | None = None
    absent: NodeSet = field(default_factory=NodeSet)
    hidden: NodeSet = field(default_factory=NodeSet)
    zoomed: frozenset[str] = frozenset()
    zoomed_nodes: Array = field(default_factory=lambda: NO_IDS)
    steps: tuple[SparkStep, ...] = ()

    @property
    def levels(self) -> Levels:
        """The order of segments."""
        return self.tables.levels

    @property
    def links(self) -> frozenset[Link]:
        """The links that have edges."""
        return frozenset().union(*(edges.links for edges in self.edges))

    def complete(self, segment: int) -> bool:
        """Return True if metadata alone shows that a stored segment is wholly in the graph."""
        if segment >= len(self.levels.stored) or segment in self.absent.whole:
            return False
        if self.present is not None and segment not in self.present.whole:
            return False
        return self.levels.level[segment] not in self.absent.parts

    def shown(self, rows: Frame, levels: Iterable[int]) -> Frame:
        """Return the rows, on some levels, of nodes that the graph shows."""
        levels = set(levels)
        if self.present is not None:
            rows = self.tables.within(rows, self.present, levels)
        return self.tables.without(rows, self.absent, levels)

    def shown_edges(self, edges: Frame, end: str, levels: Iterable[int]) -> Frame:
        """Return the edges whose `end`, on some levels, the graph shows."""
        levels = set(levels)
        if self.present is not None:
            edges = self.tables.at(edges, end, self.present, levels)
        return self.tables.away(edges, end, self.absent, levels)

    def read(self, links: Iterable[Link]) -> Frame | None:
        """Return the edges of links, whether or not the graph shows their ends."""
        return self.tables.edges(self.edges, links)

    def between(self, links: Iterable[Link]) -> Frame | None:
        """Return the edges of links with both ends in the graph."""
        links = frozenset(links)
        edges = self.read(links)
        if edges is None:
            return None
        level = self.levels.level
        edges = self.shown_edges(edges, "source", {level[source] for source, _ in links})
        return self.shown_edges(edges, "target", {level[target] for _, target in links})

    def of(self, segments: Iterable[int]) -> NodeSet:
        """Return the graph's nodes in some segments."""
        numbers = frozenset(segments)
        whole = frozenset(number for number in numbers if self.complete(number))
        rest = [n for n in numbers - whole if n not in self.absent.whole]
        stored = [number for number in rest if number < len(self.levels.stored)]
        zoomed = self.zoomed_nodes
        chosen = zoomed[np.isin(self.levels.segment_of(zoomed), sorted(numbers))]
        nodes = NodeSet(whole)
        rows = self.tables.every(stored)
        if rows is not None:
            shown = self.shown(rows, {self.levels.level[number] for number in stored})
            nodes = nodes | self.tables.stored(shown)
        if len(chosen):
            nodes = nodes | self.restricted(self.tables.given(chosen))
        return nodes

    def given(self, ids: Array) -> NodeSet:
        """Return a set of nodes from distinct ids, complete segments as whole segments."""
        segments, counts = np.unique(self.levels.segment_of(ids), return_counts=True)
        whole = [
            bool(count == self.levels.segments[segment].count and self.complete(segment))
            for segment, count in zip(segments.tolist(), counts.tolist(), strict=True)
        ]
        rest = ids[np.repeat(~np.array(whole, dtype=np.bool_), counts)]
        return NodeSet(frozenset(segments[whole].tolist())) | self.tables.given(rest)

    def restricted(self, nodes: NodeSet) -> NodeSet:
        """Return the nodes of a set that are in the graph."""
        if self.present is None and not self.absent.whole and not self.absent.parts:
            return nodes
        whole = frozenset(number for number in nodes.whole if self.complete(number))
        shown_nodes = NodeSet(whole)
        rest = nodes.whole - whole
        if rest:
            shown_nodes = shown_nodes | self.of(rest)
        rows = nodes.frame()
        if rows is not None:
            shown_nodes = shown_nodes | self.tables.stored(self.shown(rows, nodes.parts))
        return shown_nodes

    def everything(self) -> NodeSet:
        """All nodes of the graph."""
        zoomed = ascending(self.levels.segment_of(self.zoomed_nodes)).tolist()
        return self.of([*range(len(self.levels.stored)), *zoomed])

    def stepped(self, step: SparkStep) -> SparkView:
        """Return the view with one more step in its history."""
        return replace(self, steps=(*self.steps, step))


class Rounds:
    """The number of rounds that an operation has used, and its limit."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def spend(self) -> None:
        """Count one more round; raise if that exceeds the limit."""
        self.used += 1
        if self.used > self.limit:
            raise GraphError(
                f"The question needs more than {self.limit:,} rounds over the edges.\nAsk about"
                " fewer executions, give the graph a greater `rounds`, or zoom out first."
            )


class ShownGraph(Protocol):
    """A graph that shows a part of the stored nodes, and names them."""

    view: SparkView

    def name(self, node: int) -> str:
        """Return the name of a node."""
