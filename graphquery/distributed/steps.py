"""Graphs on Spark made of one another: operations that can be done again, and doing so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from graphquery.distributed.delete import removed
from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.reach import reached, step
from graphquery.distributed.view import SparkStep, SparkView
from graphquery.distributed.zoom import stands_for, zoomed_out
from graphquery.view import Operation
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph


def around(view: SparkView, seeds: NodeSet) -> NodeSet:
    """Nodes, their ancestors and descendants, and what shares a predecessor with a descendant."""
    below = reached(view, seeds, forwards=True)
    above = reached(view, seeds, forwards=False)
    parents = step(view, below, forwards=False)
    siblings = step(view, parents, forwards=True)
    return view.tables.distinct(seeds, above, below, siblings)


def zoom_out(graph: SparkGraph, modules: frozenset[str]) -> SparkGraph:
    """Return a graph with some modules zoomed out that are not yet."""
    view = zoomed_out(graph.view, modules)
    return graph.viewed(view.stepped(SparkStep(Operation.ZOOM_OUT, modules)))


def zoom_in(graph: SparkGraph, modules: frozenset[str]) -> SparkGraph:
    """Return a graph with some modules zoomed in that are zoomed out: all steps again, without
    them.
    """
    start = graph
    while start.parent is not None:
        start = start.parent
    for each in graph.steps:
        start = _repeated(start, each, modules)
    return start


def delete(graph: SparkGraph, seeds: NodeSet) -> SparkGraph:
    """Return a graph without some of its nodes and the nodes that these take with them."""
    gone = removed(graph, seeds)
    zoomed = _zoomed_among(graph, seeds)
    inside = {node: stands_for(graph.view, node) for node in zoomed.tolist()}
    step = SparkStep(Operation.DELETE, seeds=seeds, stands_for=inside)
    view = replace(graph.view, absent=graph.view.absent | gone)
    left = graph.viewed(view.stepped(step))
    left.gone = gone
    return left


def subgraph(graph: SparkGraph, seeds: NodeSet) -> SparkGraph:
    """Return the subgraph around some nodes of a graph."""
    present = around(graph.view, seeds)
    view = replace(graph.view, present=present, absent=NodeSet())
    return graph.viewed(view.stepped(SparkStep(Operation.SUBGRAPH, seeds=seeds)))


def _repeated(graph: SparkGraph, step: SparkStep, zoomed_in: frozenset[str]) -> SparkGraph:
    """Return a step, on this graph, in which some modules are zoomed in."""
    if step.operation is Operation.ZOOM_OUT:
        modules = step.modules - zoomed_in
        return zoom_out(graph, modules) if modules else graph
    sets = [step.seeds]
    sets += [inside for node, inside in step.stands_for.items() if node not in graph]
    seeds = graph.view.restricted(_stored_or_zoomed(graph, graph.tables.distinct(*sets)))
    return (delete if step.operation is Operation.DELETE else subgraph)(graph, seeds)


def _zoomed_among(graph: SparkGraph, nodes: NodeSet) -> Array:
    levels = graph.view.levels
    segments = frozenset(range(len(levels.stored), len(levels.segments)))
    if not graph.zoomed:
        return np.empty(0, dtype=np.int64)
    return graph.tables.ids(graph.tables.rows(graph.tables.of_segments(nodes, segments)))


def _stored_or_zoomed(graph: SparkGraph, nodes: NodeSet) -> NodeSet:
    """Return a set without the zoomed nodes that are not shown."""
    levels, tables = graph.view.levels, graph.tables
    stored = frozenset(range(len(levels.stored)))
    zoomed = frozenset(range(len(levels.stored), len(levels.segments)))
    stored_nodes = tables.of_segments(nodes, stored)
    ids = tables.ids(tables.rows(tables.of_segments(nodes, zoomed)))
    shown = ids[np.isin(ids, graph.view.zoomed_nodes)]
    return stored_nodes | tables.given(shown) if len(shown) else stored_nodes
