"""Reachability between some nodes of an acyclic graph, in as few edges as elimination gives.

A node that is not to be kept is replaced by edges from each of its predecessors to each of its
successors, as long as these are no more than the edges it had. What is left are hubs, which stand
for products of many by many.
"""

from __future__ import annotations

import numpy as np

from graphquery.federation.sketches import spread
from semiring.base import Array

_MIXED = np.uint64(0x9E3779B97F4A7C15)


def contract(count: int, kept: Array, sources: Array, targets: Array) -> tuple[Array, Array]:
    """Eliminate nodes that are not kept and whose elimination adds no edges, cheapest first.

    Parameters
    ----------
    count
        The nodes are 0 to count - 1.
    kept
        Boolean array over all nodes.
    sources, targets
        Edges; several between two nodes count once.

    Returns
    -------
    sources, targets
        Edges among the kept nodes and those that remain, sorted by target and source, each once.
        Which kept nodes reach which is as before.

    Notes
    -----
    A round eliminates nodes no two of which are neighbours, so that rounds are few even in long
    chains: of two neighbours the one goes that is cheaper, or comes first in a fixed random order.
    O(edges · log edges) time a round.
    """
    sources, targets = _distinct(count, sources, targets)
    while True:
        into = np.bincount(targets, minlength=count)
        out = np.bincount(sources, minlength=count)
        cost = into * out
        candidates = ~kept & (into + out > 0) & (cost <= into + out)
        if not bool(candidates.any()):
            return sources, targets
        chosen = _independent(candidates, cost, sources, targets)
        sources, targets = _eliminate(count, chosen, out, sources, targets)


def _independent(candidates: Array, cost: Array, sources: Array, targets: Array) -> Array:
    """Boolean array: candidates no two of which are neighbours."""
    ids = np.arange(len(cost), dtype=np.uint64)
    order = np.empty(len(cost), dtype=np.int64)
    order[np.lexsort((ids * _MIXED, cost))] = np.arange(len(cost))
    both = candidates[sources] & candidates[targets]
    first, other = sources[both], targets[both]
    chosen: Array = candidates.copy()
    chosen[np.where(order[first] > order[other], first, other)] = False
    return chosen


def _eliminate(
    count: int, chosen: Array, out: Array, sources: Array, targets: Array
) -> tuple[Array, Array]:
    """Replace the edges of chosen nodes by those from predecessors to successors."""
    entering, leaving = chosen[targets], chosen[sources]
    left = np.flatnonzero(leaving)
    left = left[np.argsort(sources[left], kind="stable")]
    starts = np.cumsum(out * chosen) - out * chosen
    through = targets[entering]
    lengths = out[through]
    ends = targets[left][spread(starts[through], lengths)]
    stays = ~entering & ~leaving
    return _distinct(
        count,
        np.concatenate([sources[stays], np.repeat(sources[entering], lengths)]),
        np.concatenate([targets[stays], ends]),
    )


def _distinct(count: int, sources: Array, targets: Array) -> tuple[Array, Array]:
    keys = np.unique(targets.astype(np.int64) * count + sources)
    return keys % max(1, count), keys // max(1, count)
