"""Nodes and modules of a distributed graph by what users call them, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from graphquery import naming
from graphquery.csr import distinct
from graphquery.distributed.selection import SparkSelection
from graphquery.errors import GraphError, NotInGraphError, UnknownNameError, closest
from graphquery.view import Operation
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph


def module_names(graph: SparkGraph, modules: Iterable[str | Iterable[str]]) -> frozenset[str]:
    """Names of modules, given one by one or in collections, checked."""
    found: set[str] = set()
    for item in modules:
        found.update([item] if isinstance(item, str) else item)
    known = graph.storage.modules
    for module in sorted(found):
        if module not in known:
            raise UnknownNameError(f"The graph has no module {module!r}.\n{closest(module, known)}")
    return frozenset(found)


def ids_of(graph: SparkGraph, nodes: Any) -> Array:
    """Ids, names or arrays of ids as ascending ids of nodes of a graph, each once."""
    if isinstance(nodes, (str, int, np.integer)):
        nodes = [nodes]
    if not isinstance(nodes, np.ndarray):
        found = [naming.find(graph.storage, i) if isinstance(i, str) else i for i in nodes]
        nodes = np.array(found, dtype=np.int64)
    if nodes.dtype.kind not in "iu":
        raise GraphError(
            f"Nodes are given by ids and names, not by an array of {nodes.dtype}.\nOf a Boolean"
            " mask, give numpy.flatnonzero."
        )
    ids = distinct(nodes.astype(np.int64))
    check_range(graph, ids)
    absent = missing(graph, ids)
    if len(absent):
        raise NotInGraphError(_reason(graph, int(absent[0])))
    return ids


def check_range(graph: SparkGraph, ids: Array) -> None:
    """Refuse ids that no stored or zoomed node has."""
    if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < graph.storage.size:
        outside = int(ids.min()) if ids.min() < 0 else int(ids.max())
        raise NotInGraphError(
            f"There is no node {outside}.\nIds are from 0 to {graph.storage.size - 1:,}."
        )


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
    """Why a stored node is not in a graph."""
    name, module = graph.name(node), graph.segment(node).module
    tables = graph.tables
    if node >= graph.storage.count and node not in graph.view.zoomed_nodes:
        return (
            f"{name} stands for an invocation of {module}, which is not zoomed out here.\n"
            f"zoom_out({module!r}) first."
        )
    asked = tables.given(np.array([node]))
    hidden = tables.within(tables.rows(asked), graph.view.hidden, asked.parts)
    if graph.zoomed and len(tables.some(hidden, 1)):
        if module in graph.zoomed:
            return f"{name} is inside {module}, which is zoomed out.\nzoom_in({module!r}) first."
        return (
            f"{name} serves modules alone that are zoomed out.\nzoom_in first:"
            f" {', '.join(sorted(graph.zoomed))}."
        )
    operations = {step.operation for step in graph.steps}
    how = "was deleted" if Operation.DELETE in operations else "is outside this subgraph"
    return f"{name} {how}.\nAsk the graph that this one was made of."
