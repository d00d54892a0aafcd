"""Paths between nodes, shortest first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count

import numpy as np

from graphquery.arrays import ArrayGraph
from graphquery.errors import GraphError
from graphquery.operations.reach import unseen
from graphquery.protocol import Nodes, Path
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.support.door import checked


@checked
def paths(
    graph: ArrayGraph,
    source: Nodes,
    target: Nodes,
    limit: int = 10,
    longest: int | None = None,
) -> list[Path]:
    """Return paths along edges from some nodes to others, the shortest first.

    Parameters
    ----------
    limit
        The limit on the number of paths.
    longest
        The limit on the edges of a path; None: no limit.

    Returns
    -------
    list
        Paths of at least one edge, in a deterministic order. Parallel edges make one path.

    Raises
    ------
    UnknownNameError
        Nodes that are not in the graph.
    GraphError
        A negative limit.

    Notes
    -----
    O(edges among the ancestors of the target) time, then per path in the number of its nodes and
    their successors on paths to the target.
    """
    if limit < 0 or (longest is not None and longest < 0):
        raise GraphError("Limits of paths cannot be negative.\nGive 0 or more.")
    starts, ends = graph.resolve(source), graph.resolve(target)
    distances = _distances(graph, ends, longest)
    shortest: list[Path] = []
    for path in _shortest(graph, starts, distances):
        if len(shortest) >= limit or (longest is not None and len(path) > longest + 1):
            break
        shortest.append(path)
    return shortest


def _distances(graph: ArrayGraph, ends: Array, longest: int | None) -> dict[int, Array]:
    """Return ids with their distance to the nearest end, sorted; 0 for the ends."""
    seen = np.zeros(graph.storage.size, dtype=np.bool_)
    frontier = unseen(ends, seen)
    levels = {0: frontier}
    while len(frontier) and (longest is None or len(levels) <= longest):
        frontier = unseen(graph.incoming(frontier).nodes, seen)
        levels[len(levels)] = frontier
    return levels


def _shortest(graph: ArrayGraph, starts: Array, levels: dict[int, Array]) -> Iterator[Path]:
    """Yield all paths to an end in the order of length, extending the most promising one.

    The queue holds the best untried continuation of every path begun, so a node with a million
    successors is one entry.
    """
    ids = np.concatenate(list(levels.values()))
    away = np.repeat(np.arange(len(levels)), [len(level) for level in levels.values()])
    order = np.argsort(ids)
    ids, away = ids[order], away[order]

    def ranked(nodes: Array) -> tuple[Array, Array]:
        """Return the nodes with a path to an end, the nearest first, and their distances."""
        nodes = ascending(nodes).astype(np.int64)
        indices = np.searchsorted(ids, nodes)
        there = ids[np.minimum(indices, len(ids) - 1)] == nodes if len(ids) else indices < 0
        nodes, far = nodes[there], away[indices[there]]
        by_distance = np.argsort(far, kind="stable")
        return nodes[by_distance], far[by_distance]

    ends = set(levels[0].tolist())
    ticket = count()
    queue: list[tuple[int, int, int, Path, Array, Array, int]] = []

    def push(path: Path, nodes: Array, far: Array, rank: int) -> None:
        if rank < len(nodes):
            bound = len(path) + int(far[rank])
            # The longest of equally promising paths is the first to arrive.
            heapq.heappush(queue, (bound, -len(path), next(ticket), path, nodes, far, rank))

    for start in starts.tolist():
        push((start,), *ranked(graph.outgoing(np.array([start])).nodes), 0)
    while queue:
        _, _, _, path, nodes, far, index = heapq.heappop(queue)
        push(path, nodes, far, index + 1)
        longer = (*path, int(nodes[index]))
        if longer[-1] in ends:
            yield longer
        push(longer, *ranked(graph.outgoing(np.array([longer[-1]])).nodes), 0)
