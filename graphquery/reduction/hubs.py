"""Vertices whose elimination adds edges: eliminated, or kept as hubs.

With hubs a reduced graph is never larger than the full one. Deciding vertex by vertex would keep
too many hubs, so each component as a whole takes the smaller form: its hubs, or its closure.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphquery.reduction.contract import eliminate_apart
from graphquery.reduction.edges import Edges, cycle, joined
from semiring.arrays.segments import mask_of
from semiring.base import Array

ROOM = 8
"""Limit on the edges of a closure while it is computed, parallel ones included, as a multiple of
the component's edges; a larger closure counts as larger for good.
"""


def eliminate(edges: Edges, chosen: Array, *, strict: bool = True) -> Edges:
    """Eliminate all chosen vertices, regardless of the edges that this adds.

    Vertices without chosen causes go first, so that every vertex is joined with edges that remain
    in the result. O(Σ in · out) time and memory.

    Raises
    ------
    CycleError
        When a cycle leads through chosen vertices.
    """
    left = chosen.copy()
    touched = left[edges.source] | left[edges.dest]
    rest, active = edges.take(~touched), edges.take(touched)
    while left.any():
        last = _last(active, left)
        active, _ = eliminate_apart(active, last, strict=strict)
        active = active.merged()
        left &= ~last
        done = ~(left[active.source] | left[active.dest])
        rest = joined([rest, active.take(done)], edges.semiring)
        active = active.take(~done)
    return joined([rest, active], edges.semiring).merged()


@dataclass(frozen=True, slots=True)
class Decided:
    """The decision on blocked vertices: hubs, or eliminated.

    Parameters
    ----------
    edges
        The edges, with parallel ones merged.
    hubs
        Boolean array: vertices that stay for good.
    """

    edges: Edges
    hubs: Array


def decide(edges: Edges, blocked: Array, final: Array, *, strict: bool = True) -> Decided:
    """Take the smaller form of every component of blocked vertices with settled neighbours.

    Parameters
    ----------
    edges
        Contracted, parallel ones merged.
    blocked
        Boolean array: closed vertices whose elimination adds edges.
    final
        Boolean array: vertices that stay for good.

    Raises
    ------
    CycleError
        When a cycle leads through a component.
    """
    nothing = np.zeros(len(blocked), dtype=np.bool_)
    touched = blocked[edges.source] | blocked[edges.dest]
    if not touched.any():
        return Decided(edges, nothing)
    around = edges.take(touched)
    component = components(around, blocked)
    component_of_edge = np.where(
        blocked[around.source], component[around.source], component[around.dest]
    )
    settled = blocked | final
    unsettled = ~(settled[around.source] & settled[around.dest])
    ready = blocked.copy()
    waiting = nothing.copy()
    waiting[component_of_edge[unsettled]] = True
    ready &= ~waiting[component]
    if not ready.any():
        return Decided(edges, nothing)
    inside = ready[component_of_edge]
    members = around.take(inside)
    hubs = np.bincount(component_of_edge[inside], minlength=len(blocked))
    closure, marks = _closures(members, ready, component, hubs, strict)
    complete = ready[component] & ready
    complete[marks[ready[closure.source] | ready[closure.dest]]] = False
    smaller = complete & (np.bincount(marks, minlength=len(blocked)) <= hubs)
    closure_is_less = _jointly(
        members, component_of_edge[inside], closure, marks, smaller, complete
    )
    smaller = complete & (smaller | closure_is_less)
    parts = [edges.take(~touched), around.take(~inside)]
    parts += [members.take(~smaller[component_of_edge[inside]]), closure.take(smaller[marks])]
    return Decided(joined(parts, edges.semiring).merged(), ready & ~smaller[component])


def _jointly(
    members: Edges,
    component_of_edge: Array,
    closure: Edges,
    marks: Array,
    smaller: Array,
    complete: Array,
) -> Array:
    """Return the components whose closures are smaller together with neighbouring components.

    Closures of components that share inputs and outputs may have most pairs in common. The result
    is a Boolean array over all vertices, at the smallest vertex of each component.
    """
    size = len(smaller)
    together = components(members, np.ones(size, dtype=np.bool_))
    either, whole = (
        _pairs_of(
            joined(
                [members.take(~closes[component_of_edge]), closure.take(closes[marks])],
                members.semiring,
            ),
            together,
            size,
        )
        for closes in (smaller, complete)
    )
    less: Array = (whole < either)[together]
    return less


def _pairs_of(edges: Edges, together: Array, size: int) -> Array:
    """Return the number of distinct edges of each group of components."""
    different = Edges(edges.source, edges.dest).merged()
    return np.bincount(together[different.source], minlength=size)


def components(edges: Edges, vertices: Array) -> Array:
    """Return, for each chosen vertex, the smallest vertex of its component.

    Components are connected by edges among chosen vertices; other vertices get their own number.
    Labels spread and pointers double: O(edges · log vertices) time.
    """
    component = np.arange(len(vertices), dtype=np.int64)
    both = vertices[edges.source] & vertices[edges.dest]
    first, second = edges.source[both], edges.dest[both]
    while True:
        least = np.minimum(component[first], component[second])
        before = component.copy()
        np.minimum.at(component, component[first], least)
        np.minimum.at(component, component[second], least)
        while True:
            onward = component[component]
            if bool((onward == component).all()):
                break
            component = onward
        if bool((component == before).all()):
            return component


def _closures(
    members: Edges, ready: Array, component: Array, hubs: Array, strict: bool
) -> tuple[Edges, Array]:
    """Return the closures of components, and the component of each edge; skip growing ones."""
    left = ready.copy()
    active = members
    marks = np.where(ready[members.source], component[members.source], component[members.dest])
    while True:
        going = left[active.source] | left[active.dest]
        if not going.any():
            return active, marks
        last = _last(active.take(going), left)
        sizes = np.bincount(active.source[last[active.source]], minlength=len(ready))
        growth = np.zeros(len(ready), dtype=np.int64)
        entering = last[active.dest]
        np.add.at(growth, component[active.dest[entering]], sizes[active.dest[entering]])
        too_large = growth > ROOM * np.maximum(hubs, 1)
        left &= ~too_large[component]
        last &= left
        untouched = ~(last[active.source] | last[active.dest])
        active, new_marks = eliminate_apart(active, last, component, strict=strict)
        marks = np.concatenate([marks[untouched], new_marks])
        active, marks = _merged(active, marks)
        left &= ~last


def _merged(edges: Edges, marks: Array) -> tuple[Edges, Array]:
    """Return edges with parallel edges of one component merged."""
    order = np.lexsort((edges.dest, edges.source, marks))
    edges, marks = edges.take(order), marks[order]
    if len(edges) < 2:
        return edges, marks
    fresh = np.empty(len(edges), dtype=np.bool_)
    fresh[0] = True
    fresh[1:] = (
        (edges.source[1:] != edges.source[:-1])
        | (edges.dest[1:] != edges.dest[:-1])
        | (marks[1:] != marks[:-1])
    )
    starts = np.flatnonzero(fresh)
    label = None
    if edges.label is not None and edges.semiring is not None:
        label = edges.semiring.sum_segments(edges.label, np.append(starts, len(edges)))
    merged = Edges(edges.source[starts], edges.dest[starts], label, edges.semiring)
    return merged, marks[starts]


def _last(edges: Edges, left: Array) -> Array:
    """Return the vertices of `left` without edges to vertices in `left`."""
    leads = mask_of(edges.source[left[edges.dest]], len(left))
    last: Array = left & ~leads
    if not last.any():
        raise cycle(np.flatnonzero(left))
    return last
