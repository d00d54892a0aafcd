"""Elimination that never adds an edge: dead ends, vertices with one edge on a side, two by two.

A vertex v with `in` edges that enter and `out` that leave is replaced by in · out edges, which are
no more than the in + out there were iff (in - 1)(out - 1) ≤ 1. Where a side has one edge, its
elimination only moves the ends of other edges, so that chains of such vertices, of any length, go
at once by pointer doubling. Everything is arrays: the number of passes grows with the logarithm of
a chain's length, never with the number of edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphquery.reduction.edges import Edges, cycle, joined, without_loops
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Contracted:
    """The result of a contraction.

    Parameters
    ----------
    edges
        The edges; parallel ones are merged if any `blocked` vertices are left.
    blocked
        Boolean array: vertices whose elimination would add edges.
    dead
        The number of edges dropped since one of their ends leads nowhere.
    """

    edges: Edges
    blocked: Array
    dead: int


def contract(edges: Edges, closed: Array, *, strict: bool = True) -> Contracted:
    """Eliminate closed vertices as long as that adds no edges.

    Parameters
    ----------
    closed
        Boolean array over all vertices: the candidates for elimination.
    strict
        Whether there must be no cycle. Otherwise loops at the other vertices are dropped.

    Raises
    ------
    CycleError
        When a cycle leads through closed vertices.

    Notes
    -----
    O(edges) time and memory a pass. A pass removes all chains of vertices with one edge on a
    side; another is needed only where that gave a vertex such a side.
    """
    size = len(closed)
    dead = 0
    passes = 0
    while True:
        leaving = np.bincount(edges.source, minlength=size)
        entering = np.bincount(edges.dest, minlength=size)
        there = closed & ((leaving + entering) > 0)
        if not there.any():
            return Contracted(edges, there, dead)
        ends = there & ((leaving == 0) | (entering == 0))
        if ends.any():
            stay = ~(ends[edges.source] | ends[edges.dest])
            dead += len(edges) - int(np.count_nonzero(stay))
            edges = edges.take(stay)
            continue
        single = there & (leaving == 1)
        if single.any():
            edges = _bypass(edges, single, strict)
            entering = np.bincount(edges.dest, minlength=size)
            there &= ~single
        single = there & (entering == 1)
        if single.any():
            edges = _bypass(edges.reversed(), single, strict).reversed()
            there &= ~single
            passes += 1
            if passes < 3:
                continue
        if not there.any():
            continue
        passes = 0
        before = len(edges)
        edges = edges.merged()
        if len(edges) < before:
            continue
        square = _squares(edges, there)
        if square is None:
            return Contracted(edges, there, dead)
        edges, _ = eliminate_apart(edges, square, strict=strict)
        edges = edges.merged()


def _bypass(edges: Edges, single: Array, strict: bool) -> Edges:
    """Eliminate vertices with one leaving edge: their effects lead to their cause directly."""
    is_single = single[edges.source]
    removed, rest = edges.take(is_single), edges.take(~is_single)
    without_loops(removed)
    vertices = removed.source
    target = np.arange(len(single), dtype=np.int64)
    target[vertices] = removed.dest
    label = None
    if removed.label is not None and removed.semiring is not None:
        label = removed.semiring.ones(len(single)).astype(removed.label.dtype)
        label[vertices] = removed.label
    waiting = vertices[single[target[vertices]]]
    # Doubling follows a chain of n vertices in log n steps; one that goes on is a cycle.
    for _ in range(len(vertices).bit_length() + 1):
        if not len(waiting):
            break
        onward = target[waiting]
        if label is not None:
            label = _assigned(label, waiting, edges.times(label[waiting], label[onward]))
        target[waiting] = target[onward]
        waiting = waiting[single[target[waiting]]]
    else:
        raise cycle(waiting)
    entering = np.flatnonzero(single[rest.dest])
    through = rest.dest[entering]
    dest = rest.dest.copy()
    dest[entering] = target[through]
    moved = rest.label
    if label is not None and moved is not None:
        product = edges.times(moved[entering], label[through])
        moved = _assigned(moved, entering, product)
    bypassed = Edges(rest.source, dest, moved, edges.semiring)
    return without_loops(bypassed, strict=strict)[0]


def _assigned(labels: Array, places: Array, new: Array | None) -> Array:
    """Return labels with new values at some positions, as objects if the new ones are."""
    assert new is not None
    wider = np.dtype(object) if new.dtype == np.dtype(object) else labels.dtype
    changed: Array = labels.astype(wider)
    changed[places] = new
    return changed


def _squares(edges: Edges, there: Array) -> Array | None:
    """Return an independent set of vertices with two edges on both sides, or None."""
    size = len(there)
    square = there & (np.bincount(edges.source, minlength=size) == 2)
    square &= np.bincount(edges.dest, minlength=size) == 2
    if not square.any():
        return None
    return apart(edges, square)


def apart(edges: Edges, chosen: Array) -> Array:
    """Return a non-empty independent set of the chosen vertices.

    A vertex is in it if its scrambled number is greater than the numbers of all chosen neighbours
    (Luby 1986); scrambling makes chains lose a good part of their vertices at once.
    """
    both = chosen[edges.source] & chosen[edges.dest]
    if not both.any():
        return chosen
    first, second = edges.source[both], edges.dest[both]
    # An odd multiplier permutes the integers: no two vertices have one rank.
    rank = np.arange(len(chosen), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    lower = np.where(rank[first] < rank[second], first, second)
    stays = chosen.copy()
    stays[lower] = False
    return stays


def eliminate_apart(
    edges: Edges, chosen: Array, marks: Array | None = None, *, strict: bool = True
) -> tuple[Edges, Array]:
    """Eliminate an independent set of vertices, regardless of the edges that this adds.

    Parameters
    ----------
    chosen
        Boolean array over all vertices.
    marks
        An integer per vertex. A new edge has the mark of the vertex that it replaces.
    strict
        As for `contract`.

    Returns
    -------
    edges
        The edges at no chosen vertex, then the new ones; parallel edges are not merged.
    marks
        The marks of the new edges.
    """
    enters, leaves = chosen[edges.dest], chosen[edges.source]
    into, out_of = edges.take(enters), edges.take(leaves)
    order = np.argsort(out_of.source, kind="stable")
    out_of = out_of.take(order)
    size = len(chosen)
    degrees = np.bincount(out_of.source, minlength=size)
    starts = np.cumsum(degrees) - degrees
    fan = degrees[into.dest]
    left = np.repeat(np.arange(len(into)), fan)
    ends = np.cumsum(fan)
    right = np.arange(len(left)) - np.repeat(ends - fan, fan) + starts[into.dest][left]
    label = None
    if into.label is not None and out_of.label is not None:
        label = edges.times(into.label[left], out_of.label[right])
    composed = Edges(into.source[left], out_of.dest[right], label, edges.semiring)
    of = np.zeros(0, dtype=np.int64) if marks is None else marks[into.dest[left]]
    composed, kept = without_loops(composed, strict=strict)
    of = of if marks is None else of[kept]
    return joined([edges.take(~(enters | leaves)), composed], edges.semiring), of
