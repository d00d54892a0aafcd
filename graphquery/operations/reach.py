"""Ancestors and descendants."""

from __future__ import annotations

import numpy as np

from graphquery.arrays import ArrayGraph, Selection
from graphquery.errors import GraphError
from graphquery.protocol import Nodes
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.support.door import checked


@checked
def ancestors(graph: ArrayGraph, nodes: Nodes, distance: int | None = None) -> Selection:
    """Return all ancestors of some nodes.

    Parameters
    ----------
    distance
        The limit on the edges to go back; None: no limit.

    Returns
    -------
    Selection
        Without the nodes themselves, unless one is an ancestor of another.

    Raises
    ------
    UnknownNameError
        Nodes that are not in the graph.
    GraphError
        A negative distance.

    Notes
    -----
    O(edges among the ancestors) time; a round of numpy per edge of the longest path.
    """
    return Selection(graph, reached(graph, graph.resolve(nodes), forwards=False, distance=distance))


@checked
def descendants(graph: ArrayGraph, nodes: Nodes, distance: int | None = None) -> Selection:
    """Return all descendants of some nodes; see `ancestors`."""
    return Selection(graph, reached(graph, graph.resolve(nodes), forwards=True, distance=distance))


def reached(graph: ArrayGraph, ids: Array, *, forwards: bool, distance: int | None = None) -> Array:
    """Return the nodes at the ends of non-empty paths from some nodes, ascending.

    Parameters
    ----------
    ids
        Nodes of the graph.
    forwards
        Along edges, or against them.
    """
    if distance is not None and distance < 0:
        raise GraphError(f"A distance cannot be {distance} edges.\nGive 0 or more, or None.")
    seen = np.zeros(graph.storage.size, dtype=np.bool_)
    parts: list[Array] = []
    frontier = ids
    rounds = 0
    while len(frontier) and (distance is None or rounds < distance):
        neighbours = graph.outgoing(frontier) if forwards else graph.incoming(frontier)
        frontier = unseen(neighbours.nodes, seen)
        parts.append(frontier)
        rounds += 1
    count = sum(len(part) for part in parts)
    # Scanning all marks is faster than sorting a large share of the nodes.
    if count > len(seen) // 128:
        return np.flatnonzero(seen)
    return np.sort(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


def unseen(nodes: Array, seen: Array) -> Array:
    """Return the nodes not seen before, ascending and distinct, as int64; mark them as seen."""
    fresh = ascending(nodes[~seen[nodes]])
    seen[fresh] = True
    return fresh.astype(np.int64, copy=False)
