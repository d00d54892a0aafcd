"""Late edges, which arrive after an end was eliminated: repaired exactly from the raw edges.

A late edge (a, b) joins the nearest live effects of a with the nearest live causes of b, through
eliminated vertices (the definitions' section 8). That needs the raw edges, from the source of the
stream or from where it was kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.errors import ReductionCycleError
from graphquery.reduction.contract import contract
from graphquery.reduction.cycles import condensed
from graphquery.reduction.edges import Edges, joined, no_edges, without_loops
from graphquery.reduction.hubs import eliminate
from graphquery.reduction.partial import Partial, encoded
from graphquery.reduction.vertices import VertexRole, Vertices, has, unknown
from semiring.arrays.segments import mask_of
from semiring.base import Array, Semiring


def repair(
    raw: Partial,
    late: Partial,
    live: pa.Array | None = None,
    still_open: pa.Array | None = None,
    semiring: Semiring[Any] | None = None,
    *,
    break_cycles: bool = False,
) -> Partial:
    """Return the edges that late edges add to a reduced graph.

    Parameters
    ----------
    raw
        All raw edges of the stream that arrived in time.
    late
        The raw edges that arrived late.
    live
        Keys of vertices of the reduced graph that paths may end in, beside inputs, outputs and
        terminals declared in `raw`: with hubs among them, the repair takes fewer edges.
    still_open
        Keys of vertices that a reducer has not closed yet; None once the stream is sealed. Before,
        entities that only late edges have are open too; activities have ended, so edges were late.

    Returns
    -------
    Partial
        Edges among live and open vertices, to be added to the reducer that has the open ones, or
        to be reduced on its own once the stream is sealed. Late edges count at open vertices;
        others are declared to be complete, so that what is added is final at once. An edge may be
        one that the reduced graph has.

    Raises
    ------
    ReductionCycleError
        When late edges close a cycle, and cycles are not broken as by `reduce`.

    Takes O(edges of `raw`) time, with labels for every late edge, since each path counts once.
    """
    nothing = pa.array([], raw.keys.type)
    keys, (known, around, reduced, opened) = encoded(
        [raw.keys, late.keys, *(nothing if each is None else each for each in (live, still_open))]
    )
    size = len(keys)
    before, after = raw.edges.renumbered(known), late.edges.renumbered(around)
    roles = _roles(raw, late, known, around, size)
    activities = _are_activities(roles)
    is_open = np.zeros(size, dtype=np.bool_)
    if still_open is not None:
        is_open = _are_open(activities, len(raw.keys), reduced, opened)
    stays = is_open | _ends(joined([before, after], semiring), size, activities)
    stays[reduced] = True
    stays[known[has(raw.vertices.roles, VertexRole.KEPT)]] = True
    stays[around[has(late.vertices.roles, VertexRole.KEPT)]] = True
    try:
        edges = _crossing(before, after, stays, semiring, strict=not break_cycles)
    except ReductionCycleError as error:
        names = ", ".join(str(keys[int(v) % size].as_py()) for v in error.args[1])
        raise ReductionCycleError(f"Late edges close a cycle through {names}.") from None
    return _compacted(Partial(keys, edges, _counted(after, is_open, roles)), is_open)


def _are_open(activities: Array, early: int, reduced: Array, opened: Array) -> Array:
    """Return a mask of the open vertices, with the entities that only late edges have."""
    is_open = ~activities
    is_open[:early] = False
    is_open[reduced] = False
    is_open[opened] = True
    return is_open


def _crossing(
    before: Edges, late: Edges, stays: Array, semiring: Semiring[Any] | None, *, strict: bool
) -> Edges:
    """Return edges for the paths with a late edge; with labels one by one, each path once."""
    if semiring is None:
        return _through(joined([before, late], None), late, stays, strict)
    edges = no_edges(semiring)
    for number in range(len(late)):
        edge = late.take(np.array([number]))
        edges = joined([edges, _through(before, edge, stays, strict)], semiring)
        before = joined([before, edge], semiring)
    return edges.merged()


def _counted(late: Edges, is_open: Array, roles: Array) -> Vertices:
    """Return vertices that count late edges where they are open, and are complete elsewhere."""
    size = len(is_open)
    return replace(
        unknown(size),
        entering=np.where(is_open, np.bincount(late.dest, minlength=size), 0),
        leaving=np.where(is_open, np.bincount(late.source, minlength=size), 0),
        due_entering=np.where(is_open, -1, 0),
        due_leaving=np.where(is_open, -1, 0),
        # A vertex that is not open may have other counted edges, so it gets no counts here.
        roles=np.where(is_open, roles, VertexRole.KEPT | VertexRole.EXCESS).astype(np.uint8),
    )


def _roles(raw: Partial, late: Partial, known: Array, around: Array, size: int) -> Array:
    """Merge the roles of both parts' vertices at their positions, without the reported roles."""
    roles = np.zeros(size, dtype=np.uint8)
    roles[known] |= raw.vertices.roles
    roles[around] |= late.vertices.roles
    known_roles: Array = roles & np.uint8(VertexRole.ACTIVITY | VertexRole.ENTITY | VertexRole.KEPT)
    return known_roles


def _are_activities(roles: Array) -> Array:
    """Return a mask of the vertices that are activities and not entities."""
    both = np.uint8(VertexRole.ACTIVITY | VertexRole.ENTITY)
    activities: Array = (roles & both) == np.uint8(VertexRole.ACTIVITY)
    return activities


def _ends(edges: Edges, size: int, activities: Array) -> Array:
    """Return a mask of the entities without leaving or without entering edges."""
    leaving = np.bincount(edges.source, minlength=size)
    entering = np.bincount(edges.dest, minlength=size)
    ends: Array = ((leaving == 0) | (entering == 0)) & ~activities
    return ends


def _through(edges: Edges, late: Edges, stays: Array, strict: bool) -> Edges:
    """Return edges between staying vertices for the paths that contain a late edge.

    The graph is laid out twice, with effects of late edges above and causes below, and only the
    late edges lead from above to below. Eliminating all other vertices leaves the crossing edges.
    """
    size = len(stays)
    above = edges.take(_behind(edges.reversed(), late.source, stays))
    below = edges.take(_behind(edges, late.dest, stays))
    crossing = Edges(late.source, late.dest + size, late.label, late.semiring)
    lowered = Edges(below.source + size, below.dest + size, below.label, below.semiring)
    # Vertices that stay end a path: above only as a source, below only as a destination.
    gone = ~np.concatenate([stays, stays])
    whole = joined([above, crossing, lowered], edges.semiring)
    try:
        contracted = contract(whole, gone)
        crossed = eliminate(contracted.edges, contracted.blocked)
    except ReductionCycleError:
        if strict:
            raise
        whole, _ = condensed(whole, gone)
        contracted = contract(whole, gone, strict=False)
        crossed = eliminate(contracted.edges, contracted.blocked, strict=False)
    crossed = crossed.take((crossed.source < size) & (crossed.dest >= size))
    crossed = Edges(crossed.source, crossed.dest - size, crossed.label, crossed.semiring)
    return without_loops(crossed, strict=strict)[0].merged()


def _behind(edges: Edges, start: Array, stays: Array) -> Array:
    """Return a mask of the edges on paths from some vertices to the first staying vertex."""
    reached = mask_of(start, len(stays))
    reached &= ~stays
    while True:
        on_path = reached[edges.source]
        grown = reached.copy()
        grown[edges.dest[on_path]] = True
        grown &= ~stays
        grown |= reached
        if bool((grown == reached).all()):
            return on_path
        reached = grown


def _compacted(partial: Partial, counted: Array) -> Partial:
    needed = counted & (partial.vertices.entering + partial.vertices.leaving > 0)
    needed[partial.edges.source] = True
    needed[partial.edges.dest] = True
    numbers = np.cumsum(needed) - 1
    return Partial(
        partial.keys.filter(pa.array(needed)),
        partial.edges.renumbered(numbers),
        partial.vertices.take(needed),
    )
