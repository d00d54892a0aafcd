"""Sets of nodes of a distributed graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphquery.distributed.nodes import NodeSet
from graphquery.errors import GraphError, SelectionError
from graphquery.model import Segment
from graphquery.protocol import NodeSelection
from graphquery.spark import Frame
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph

DISPLAYED = 20


class SparkSelection(NodeSelection):
    """Nodes of one graph on Spark, each once; immutable.

    What is asked of them as arrays and lists is brought to the driver, and bounded by a limit that
    is an error to exceed; `frame` is all of them as a data frame.

    Attributes
    ----------
    graph
        The graph that the nodes are of.
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
            raise SelectionError(
                "The selections are of different graphs.\nSelect again in one of them."
            )
        return other.nodes


def meeting(segments: Sequence[Segment], conditions: Mapping[str, Any]) -> frozenset[int]:
    """The numbers of the segments that meet all conditions; see :meth:`SparkGraph.select`."""
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
