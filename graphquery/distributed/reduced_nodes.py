"""Nodes whose operations a reduction has dropped, looked for on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from graphquery.distributed.nodes import NodeSet
from graphquery.reduced_nodes import REDUCED, dropped

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph


def check_outgoing(graph: SparkGraph, nodes: NodeSet) -> None:
    """Raise if a reduction dropped the operations by which something was made of some nodes.

    Raises
    ------
    ReducedError
        It did.

    Notes
    -----
    Reads the edges into segments of reduced nodes; without such segments, nothing.
    """
    _check(graph, "source", nodes)


def check_whole(graph: SparkGraph, nodes: NodeSet | None) -> None:
    """Raise if a reduction dropped the operations that made some nodes; None: any.

    Raises
    ------
    ReducedError
        It did.
    """
    _check(graph, "target", nodes)


def _check(graph: SparkGraph, end: Literal["source", "target"], nodes: NodeSet | None) -> None:
    view = graph.view
    stored = view.levels.stored
    reduced = {number for number, segment in enumerate(stored) if segment.label == REDUCED}
    links = frozenset(link for link in view.links if link[1] in reduced)
    edges = view.between(links)
    if edges is None:
        return
    if nodes is not None:
        at = 0 if end == "source" else 1
        edges = view.tables.at(edges, end, nodes, {view.levels.level[link[at]] for link in links})
    reduced_nodes = view.tables.some(view.tables.ends(edges, "target"), 1)
    if len(reduced_nodes):
        raise dropped(graph.name(int(reduced_nodes[0])))
