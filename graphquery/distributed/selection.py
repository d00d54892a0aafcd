"""Sets of nodes of a distributed graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphquery import naming
from graphquery.distributed.nodes import NodeSet
from graphquery.errors import GraphError, UnknownNameError
from graphquery.model import Segment
from graphquery.protocol import NodeSelection
from graphquery.spark import Frame
from graphquery.view import reason
from semiring.arrays.segments import ascending, outside, union
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph


DISPLAYED = 20


class SparkSelection(NodeSelection):
    """Nodes of one graph on Spark, each once; immutable.

    Attributes that are arrays and lists are collected on the driver, and raise beyond the graph's
    limit; `frame` has all nodes as a data frame.

    Attributes
    ----------
    graph
        The graph of the nodes.
    nodes
        Whole segments and rows.
    """

    __slots__ = ("graph", "nodes")

    graph: SparkGraph

    def __init__(self, graph: SparkGraph, nodes: NodeSet) -> None:
        self.graph = graph
        self.nodes = nodes

    @property
    def frame(self) -> Frame:
        """A data frame of the nodes: `segment` int (its number) and `id` bigint."""
        return self.graph.tables.rows(self.nodes)

    @property
    def ids(self) -> Array:
        """Ascending int64 ids; an error if there are more than the graph's `bring` of them."""
        if len(self) > self.graph.bring:
            raise GraphError(
                f"{len(self):,} nodes are more than the {self.graph.bring:,} that are brought to"
                " the driver.\nUse `frame`, or give the graph a greater `bring`."
            )
        return self.graph.tables.ids(self.frame)

    def __or__(self, other: SparkSelection) -> SparkSelection:
        return SparkSelection(self.graph, self.graph.tables.distinct(self.nodes, self._same(other)))

    def __len__(self) -> int:
        return self.graph.tables.count(self.nodes)

    def __repr__(self) -> str:
        if not len(self):
            return "<SparkSelection of 0>"
        some = np.sort(self.graph.tables.some(self.frame, DISPLAYED))
        shown = ", ".join(self.graph.names(some))
        more = "" if len(self) <= DISPLAYED else f", and {len(self) - DISPLAYED:,} more"
        return f"<SparkSelection of {len(self):,}: {shown}{more}>"

    def _same(self, other: SparkSelection) -> NodeSet:
        if other.graph is not self.graph:
            raise GraphError(
                "The selections are of different graphs.\nSelect again in one of them."
            )
        return other.nodes


def meeting(segments: Sequence[Segment], conditions: Mapping[str, Any]) -> frozenset[int]:
    """Return the numbers of the segments that meet all conditions; see
    :meth:`SparkGraph.select`.
    """
    names = {"segment": "name"}
    allowed: dict[str, Collection[Any]] = {}
    for condition, value in conditions.items():
        attribute = names.get(condition, condition)
        if attribute not in Segment.__slots__:
            raise GraphError(
                f"Nodes are not selected by {condition!r} on Spark.\nSelect by attributes of"
                " segments, and join `frame` with the values that are meant."
            )
        allowed[attribute] = (value,) if isinstance(value, (str, int)) else tuple(value)
    return frozenset(
        number
        for number, segment in enumerate(segments)
        if all(getattr(segment, name) in values for name, values in allowed.items())
    )


def ordered(graph: SparkGraph, nodes: Any) -> Array:
    """Return ids, names or arrays of ids as ids of nodes of a graph, in their order."""
    ids = naming.numbers(graph.storage, nodes)
    absent = missing(graph, ascending(ids))
    if len(absent):
        raise UnknownNameError(_reason(graph, int(absent[0])))
    return ids


def missing(graph: SparkGraph, ids: Array) -> Array:
    """Return those among ascending `ids` that are not nodes of a graph."""
    tables = graph.tables
    shown = np.isin(ids, graph.view.zoomed_nodes) | (ids < graph.storage.count)
    absent = ids[~shown]
    nodes = tables.given(ids[shown])
    left = graph.view.restricted(nodes)
    if left.rows < nodes.rows:
        there = tables.ids(tables.rows(left))
        absent = union(absent, outside(ids[shown], ascending(there)))
    return absent


def check_selection(graph: SparkGraph, selection: SparkSelection) -> None:
    """Refuse a selection of another graph with nodes that are not in this one."""
    left = graph.view.restricted(selection.nodes)
    if graph.tables.count(left) == len(selection):
        return
    levels = {graph.view.levels.level[n] for n in left.whole} | set(left.parts)
    absent = graph.tables.without(selection.frame, left, levels)
    raise UnknownNameError(_reason(graph, int(graph.tables.some(absent, 1)[0])))


def _reason(graph: SparkGraph, node: int) -> str:
    tables = graph.tables
    single = tables.given(np.array([node]))
    inside = tables.within(tables.rows(single), graph.view.hidden, single.parts)
    return reason(
        graph.name(node),
        graph.segment(node),
        hidden=bool(graph.zoomed) and len(tables.some(inside, 1)) > 0,
        zoomed=graph.zoomed,
        operations=[step.operation for step in graph.steps],
    )
