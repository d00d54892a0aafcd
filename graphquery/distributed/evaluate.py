"""Annotations in N on Spark, level by level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphquery.distributed.delete import check_whole
from graphquery.distributed.levels import Link
from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.reach import reached
from graphquery.distributed.view import Rounds, SparkView
from graphquery.errors import GraphError
from graphquery.spark import Frame, GraphTables
from semiring.base import Array, Semiring
from semiring.errors import CapabilityError
from semiring.semirings import Counting

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph
    from graphquery.protocol import Nodes


@dataclass(frozen=True, slots=True, eq=False)
class NodeCounts:
    """The multiplicity of each node of a graph.

    Attributes
    ----------
    frame
        Columns `segment`, `id` and `value`.
    """

    graph: SparkGraph
    frame: Frame

    def value(self, node: int | str) -> int:
        """Return the count of a node."""
        return int(self.values([node])[0])

    def values(self, nodes: Nodes) -> Array:
        """Return the counts of nodes, in their order; 0 for nodes that were not evaluated."""
        graph = self.graph
        ids = graph.ordered(nodes)
        wanted, places = np.unique(ids, return_inverse=True)
        counted, values = graph.tables.to_numpy(
            self.frame, graph.tables.rows(graph.view.given(wanted))
        )
        counts = np.zeros(len(wanted), dtype=np.int64)
        counts[np.searchsorted(wanted, counted)] = values
        return counts[places]


def evaluate(
    graph: SparkGraph,
    semiring: Semiring[Any],
    valuation: Mapping[Any, int] | None,
    nodes: Nodes | None,
) -> NodeCounts:
    """Evaluate annotations in N; see :func:`graphquery.operations.evaluate.evaluate`.

    Parameters
    ----------
    semiring
        Counting.
    valuation
        From nodes without incoming edges, by name or id, to counts; 1 for all others.
    nodes
        Evaluate only these nodes and their ancestors; None: all nodes.

    Raises
    ------
    CapabilityError
        Another semiring.
    GraphError
        Counts beyond 64 bits; segments that feed themselves; operations that a reduction has
        dropped (`GraphError`).
    """
    if not isinstance(semiring, Counting):
        raise CapabilityError(
            f"On Spark graphs are evaluated in Counting, not in {semiring.name}.\nEvaluate the"
            " part that is asked about in memory: subgraph(...).to_memory().evaluate(...)."
        )
    checked = {node: semiring.check(count) for node, count in (valuation or {}).items()}
    wanted = None
    if nodes is not None:
        seeds = graph.resolve(nodes).nodes
        wanted = graph.tables.distinct(seeds, reached(graph.view, seeds, forwards=False))
    return NodeCounts(graph, count_nodes(graph, leaf_values(graph, checked), wanted))


def count_nodes(graph: SparkGraph, given: Mapping[int, int], wanted: NodeSet | None) -> Frame:
    """Return the annotations of nodes in N, computed level by level.

    Parameters
    ----------
    given
        Counts of nodes without incoming edges, by id; the default is 1.
    wanted
        The nodes to evaluate, closed under ancestors, each once; None: all.

    Raises
    ------
    GraphError
        Counts beyond 64 bits; segments that feed themselves; more levels than rounds.
        A node was made by operations that a reduction has dropped.

    Notes
    -----
    A round per level, which reads the edges into it; every node is written.
    """
    check_whole(graph, wanted)
    view = graph.view
    tables = view.tables
    if view.levels.cyclic:
        raise GraphError(
            "Counting on Spark goes from segment to segment, and some feed themselves.\nEvaluate"
            " the part that is asked about in memory: subgraph(...).to_memory().evaluate(...)."
        )
    leaves = tables.numbers(given)
    counts = _LevelCounts(view, leaves)
    rounds = Rounds(view.limit)
    for level in range(view.levels.count):
        nodes = view.of(view.levels.at[level])
        if wanted is not None:
            nodes = _among(view, nodes, wanted, level)
        if tables.count(nodes):
            rounds.spend()
            counts.add(level, nodes)
    return (
        tables.union(list(counts.by_level.values()))
        if counts.by_level
        else tables.leaves(tables.rows(NodeSet()), leaves)
    )


class _LevelCounts:
    """Counts level by level, each from the counts of the levels before it."""

    def __init__(self, view: SparkView, leaves: Frame) -> None:
        self._view, self._leaves, self._levels = view, leaves, view.levels
        self.by_level: dict[int, Frame] = {}
        self._links: dict[int, set[Link]] = {}
        for link in view.links:
            self._links.setdefault(self._levels.level[link[1]], set()).add(link)
        stored, joint = self._levels.stored, self._levels.joint
        self._kinds = {
            "joint": joint,
            "sum": frozenset(n for n, s in enumerate(stored) if s.label == "+") - joint,
            "monus": frozenset(n for n, s in enumerate(stored) if s.label == "⊖") - joint,
        }

    def add(self, level: int, nodes: NodeSet) -> None:
        """Count the nodes of a level."""
        tables, links = self._view.tables, self._links.get(level, set())
        rows, edges = tables.rows(nodes), self._view.between(links)
        behind = sorted({self._levels.level[a] for a, _ in links} & self.by_level.keys())
        if edges is None or not behind:
            self.by_level[level] = _stored(tables, tables.leaves(rows, self._leaves))
            return
        edges = tables.at(edges, "target", nodes, {level})
        before = tables.union([self.by_level[at] for at in behind])
        counted = tables.counted(edges, before, self._kinds)
        fresh = tables.without(
            rows, NodeSet(parts={level: (counted.select("segment", "id"),)}), {level}
        )
        counts = tables.union([counted, tables.leaves(fresh, self._leaves)])
        self.by_level[level] = _stored(tables, counts)


def _among(view: SparkView, nodes: NodeSet, wanted: NodeSet, level: int) -> NodeSet:
    rows = view.tables.rows(nodes)
    return view.tables.stored(view.tables.within(rows, wanted, {level}))


def leaf_values(graph: SparkGraph, valuation: Mapping[Any, int]) -> dict[int, int]:
    """Return a valuation by node id, checked to name only nodes without incoming edges."""
    values: dict[int, int] = {}
    for node, value in valuation.items():
        number = int(graph.ordered([node])[0])
        if len(graph.ancestors(number, 1)):
            raise GraphError(
                f"{graph.name(number)} derives from other nodes, as does its annotation.\nGive"
                " values to nodes without incoming edges, such as tokens."
            )
        values[number] = value
    return values


def _stored(tables: GraphTables, counts: Frame) -> Frame:
    """Compute and store the counts of a level; raise on counts beyond 64 bits."""
    frame, large = tables.store_counts(counts)
    if large:
        raise GraphError(
            f"Counts beyond 64 bits: {large:,} on one level.\nEvaluate the part that is asked"
            " about in memory: subgraph(...).to_memory().evaluate(...)."
        )
    return frame
