"""Nodes of a distributed graph by what users call them, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphquery import naming
from graphquery.absence import reason
from graphquery.csr import distinct
from graphquery.distributed.selection import SparkSelection
from graphquery.errors import NotInGraphError
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph


def ordered(graph: SparkGraph, nodes: Any) -> Array:
    """Ids, names or arrays of ids as ids of nodes of a graph, in the order given."""
    ids = naming.numbers(graph.storage, nodes)
    absent = missing(graph, distinct(ids))
    if len(absent):
        raise NotInGraphError(_reason(graph, int(absent[0])))
    return ids


def missing(graph: SparkGraph, ids: Array) -> Array:
    """Those of ascending ids that are not nodes of a graph."""
    tables = graph.tables
    shown = np.isin(ids, graph.view.zoomed_nodes) | (ids < graph.storage.count)
    absent = ids[~shown]
    nodes = tables.given(ids[shown])
    left = graph.view.restricted(nodes)
    if left.rows < nodes.rows:
        there = tables.ids(tables.rows(left))
        absent = np.union1d(absent, np.setdiff1d(ids[shown], there))
    return absent


def check_selection(graph: SparkGraph, selection: SparkSelection) -> None:
    """Refuse a selection of another graph with nodes that are not in this one."""
    left = graph.view.restricted(selection.nodes)
    if graph.tables.count(left) == len(selection):
        return
    levels = {graph.view.levels.level[n] for n in left.whole} | set(left.parts)
    absent = graph.tables.without(selection.frame, left, levels)
    raise NotInGraphError(_reason(graph, int(graph.tables.some(absent, 1)[0])))


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
