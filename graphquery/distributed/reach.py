"""Ancestors and descendants, level by level: every edge is read once."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from graphquery.distributed.levels import Link
from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.view import Rounds, SparkView
from graphquery.errors import GraphError
from graphquery.spark import Frame


def reached(
    view: SparkView, seeds: NodeSet, *, forwards: bool, links: AbstractSet[Link] | None = None
) -> NodeSet:
    """Return the nodes at the ends of non-empty paths from nodes of a graph.

    Parameters
    ----------
    links
        The links to follow; None: all.

    Notes
    -----
    One round per level on the way, which reads the edges between it and the levels reached before;
    more on levels with inner edges. Segments that are reached completely by their metadata cost
    nothing.
    """
    allowed = view.links if links is None else view.links & links
    by_level = _by_level(view, allowed, forwards)
    rounds = Rounds(view.limit)
    nodes_reached = NodeSet()
    order = range(view.levels.count)
    for level in order if forwards else reversed(order):
        links, known = by_level.get(level, frozenset()), seeds | nodes_reached
        nodes_reached = nodes_reached | _at(view, level, links, known, rounds, forwards)
    return nodes_reached


def step(view: SparkView, nodes: NodeSet, *, forwards: bool) -> NodeSet:
    """Return the neighbours of nodes of a graph, each once."""
    nodes_reached = _pulled(view, view.links, nodes, forwards)
    return view.tables.stored(nodes_reached)


def within_distance(view: SparkView, seeds: NodeSet, distance: int, *, forwards: bool) -> NodeSet:
    """Return the nodes at the ends of paths of at least one edge and at most `distance` edges."""
    if distance < 0:
        raise GraphError(f"A distance cannot be {distance} edges.\nGive 0 or more, or None.")
    rounds = Rounds(view.limit)
    nodes_reached, frontier = NodeSet(), seeds
    for _ in range(distance):
        rounds.spend()
        rows = _pulled(view, view.links, frontier, forwards)
        if rows is None:
            break
        frontier = view.tables.stored(view.tables.without(rows, nodes_reached, nodes_reached.parts))
        if not frontier.rows:
            break
        nodes_reached = nodes_reached | frontier
    return nodes_reached


def _by_level(view: SparkView, links: Iterable[Link], forwards: bool) -> dict[int, frozenset[Link]]:
    """Return the links by the level that they lead to."""
    by_level: dict[int, set[Link]] = {}
    for link in links:
        by_level.setdefault(view.levels.level[link[forwards]], set()).add(link)
    return {level: frozenset(joined) for level, joined in by_level.items()}


def _at(
    view: SparkView,
    level: int,
    links: frozenset[Link],
    known: NodeSet,
    rounds: Rounds,
    forwards: bool,
) -> NodeSet:
    """Return the nodes of a level that `links` reach from seeds and nodes of levels before."""
    levels = view.levels
    whole = _wholly(view, links, known.whole, forwards)
    known = known | NodeSet(whole)
    links = frozenset(link for link in links if link[forwards] not in whole)
    outside = frozenset(link for link in links if levels.level[link[0]] != levels.level[link[1]])
    result = NodeSet(whole)
    fresh = _stored(view, _pulled(view, outside, known, forwards), level, result, rounds)
    inside = links - outside
    if not inside:
        return result | fresh
    # Edges inside the level: along them until nothing is new.
    result = result | fresh
    here = NodeSet(known.whole, {level: known.parts[level]} if level in known.parts else {})
    frontier = here | fresh
    while True:
        rows = _pulled(view, inside, frontier, forwards)
        fresh = _stored(view, rows, level, result, rounds)
        if not fresh.rows:
            return result
        result = result | fresh
        frontier = fresh


def _wholly(
    view: SparkView, links: frozenset[Link], whole: frozenset[int], forwards: bool
) -> frozenset[int]:
    """Return the segments that are reached as a whole, as metadata alone shows."""
    whole_segments: set[int] = set()
    while True:
        more = {
            link[forwards]
            for link in links
            if link[forwards] not in whole_segments
            and link in view.levels.links
            and (link[not forwards] in whole or link[not forwards] in whole_segments)
            and view.complete(link[forwards])
            and _covers(view, link, forwards)
        }
        if not more:
            return frozenset(whole_segments)
        whole_segments |= more


def _covers(view: SparkView, link: Link, forwards: bool) -> bool:
    joining = view.levels.links[link]
    return joining.reaches_all if forwards else joining.leaves_all


def _pulled(view: SparkView, links: Iterable[Link], nodes: NodeSet, forwards: bool) -> Frame | None:
    """Return the neighbours of nodes along links, as far as the graph shows them, each once."""
    level = view.levels.level
    near, far = ("source", "target") if forwards else ("target", "source")
    wanted = frozenset(
        link
        for link in links
        if link[not forwards] in nodes.whole or level[link[not forwards]] in nodes.parts
    )
    edges = view.read(wanted)
    if edges is None:
        return None
    edges = view.tables.at(edges, near, nodes, {level[link[not forwards]] for link in wanted})
    return view.shown(view.tables.ends(edges, far), {level[link[forwards]] for link in wanted})


def _stored(
    view: SparkView, rows: Frame | None, level: int, known: NodeSet, rounds: Rounds
) -> NodeSet:
    """Compute and store the rows of a level, without nodes already known."""
    if rows is None:
        return NodeSet()
    rounds.spend()
    frame, count = view.tables.store(view.tables.without(rows, known, {level}))
    return NodeSet(parts={level: (frame,)}, rows=count) if count else NodeSet()
