"""Deletion propagation on Spark (Definition 4.2), level by level."""

from __future__ import annotations

from typing import Literal

from graphquery.distributed.levels import Link
from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.view import Rounds, ShownGraph, SparkView
from graphquery.reduced_nodes import REDUCED, dropped
from graphquery.spark import Frame


def check_outgoing(graph: ShownGraph, nodes: NodeSet) -> None:
    """Raise if a reduction dropped operations that used some of these nodes.

    Raises
    ------
    GraphError
        It did.

    Notes
    -----
    Reads the edges into segments of reduced nodes; without such segments, nothing.
    """
    _check(graph, "source", nodes)


def check_whole(graph: ShownGraph, nodes: NodeSet | None) -> None:
    """Raise if a reduction dropped operations that made some of these nodes (None: any node).

    Raises
    ------
    GraphError
        It did.
    """
    _check(graph, "target", nodes)


def _check(graph: ShownGraph, end: Literal["source", "target"], nodes: NodeSet | None) -> None:
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


def removed(graph: ShownGraph, seeds: NodeSet) -> NodeSet:
    """Return the nodes that a deletion removes, with the deleted ones, each once.

    Parameters
    ----------
    seeds
        Distinct nodes of the graph.

    Raises
    ------
    GraphError
        The answer depends on operations that a reduction has dropped.

    Notes
    -----
    All predecessors of a node are on levels up to its own, so one round per level decides which
    nodes go, and more rounds are needed only on levels with inner edges. A round reads the edges
    that enter its level from levels with removed nodes and, for nodes that survive the loss of one
    edge, all edges into the nodes that lost one.
    """
    view = graph.view
    levels = view.levels
    by_level: dict[int, set[Link]] = {}
    overlaid = frozenset(link[1] for edges in view.edges[1:] for link in edges.links)
    for link in view.links:
        if link not in levels.links or levels.links[link].operands:
            by_level.setdefault(levels.level[link[1]], set()).add(link)
    rounds = Rounds(view.limit)
    gone = seeds
    for level in range(levels.count):
        links = frozenset(by_level.get(level, ()))
        whole = _wholly(view, links, gone.whole)
        fresh = NodeSet(whole - gone.whole)
        if fresh.whole:
            # Nodes of these segments that were deleted one by one must not be counted twice.
            gone = _without(view, gone, fresh.whole, level) | fresh
        links = frozenset(link for link in links if link[1] not in gone.whole)
        while True:
            rows = _dying(view, links, gone, levels.joint | (levels.single - overlaid))
            if rows is None:
                break
            rounds.spend()
            rows = view.tables.without(view.shown(rows, {level}), gone, {level})
            frame, count = view.tables.store(rows)
            if count:
                gone = gone | NodeSet(parts={level: (frame,)}, rows=count)
            if not count or level not in levels.cyclic:
                break
    check_outgoing(graph, gone)
    return gone


def _dying(
    view: SparkView, links: frozenset[Link], gone: NodeSet, at_once: frozenset[int]
) -> Frame | None:
    """Return the nodes that the deleted nodes take with them along `links`."""
    tables, level = view.tables, view.levels.level
    active = frozenset(
        link for link in links if link[0] in gone.whole or level[link[0]] in gone.parts
    )
    edges = view.read(active)
    if edges is None:
        return None
    lost = tables.lost(
        tables.at(tables.operands(edges), "source", gone, {level[link[0]] for link in active})
    )
    touched = {target for _, target in active} - at_once
    every = frozenset(link for link in links if link[1] in touched)
    operands = view.read(every)
    if operands is not None:
        sources = {level[link[0]] for link in every}
        operands = view.shown_edges(tables.operands(operands), "source", sources)
    return tables.exhausted(lost, operands, at_once)


def _wholly(view: SparkView, links: frozenset[Link], whole: frozenset[int]) -> frozenset[int]:
    """Return the segments that go as a whole, as metadata alone shows, once `whole` has gone."""
    levels = view.levels
    dead_segments: set[int] = set()
    while True:
        more = set()
        for source, target in links:
            if (
                target in dead_segments
                or not view.complete(target)
                or (source, target) not in levels.links
            ):
                continue
            dead = whole | dead_segments
            if source not in dead or not levels.links[source, target].operands_reach_all:
                continue
            sources = {a for a, b in links if b == target}
            if target in levels.joint or sources <= dead:
                more.add(target)
        if not more:
            return frozenset(dead_segments)
        dead_segments |= more


def _without(view: SparkView, nodes: NodeSet, whole: frozenset[int], level: int) -> NodeSet:
    """Return the set without the rows that belong to some segments of a level."""
    frame = nodes.frame({level})
    if frame is None:
        return nodes
    tables = view.tables
    kept, count = tables.store(tables.without(frame, NodeSet(whole), {level}))
    parts = {at: frames for at, frames in nodes.parts.items() if at != level}
    if count:
        parts[level] = (kept,)
    rows = nodes.rows - tables.height(frame) + count
    return NodeSet(nodes.whole, parts, rows)
