"""Closure of vertices: all of their edges, or all edges on one side, have been counted.

The definitions admit as evidence a declared degree, a sealed function with the total of its edges,
a watermark past the end of a scope, and a sealed topic; silence is not evidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphquery.reduction.partial import Partial
from graphquery.reduction.vertices import UNKNOWN, VertexRole, has
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for closure, apart from the counts.

    Parameters
    ----------
    watermark
        In microseconds since 1970: no later edge has an earlier time. A scope that ended strictly
        before it is closed.
    sealed
        Whether the topic is sealed, which closes everything.
    partial
        Whether other parts may have counts. Then only declared degrees close a vertex: totals of
        functions and watermarks do not apply to the counts of one part.
    """

    watermark: int | None = None
    sealed: bool = False
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """The closed sides of each vertex, as Boolean arrays over vertices.

    Parameters
    ----------
    entering, leaving
        Whether no more edges are to come on that side.
    final
        Vertices that stay: inputs, outputs, declared terminals and hubs.
    excess
        Vertices with more edges than were declared.
    missing
        Vertices that a sealed topic closed with fewer edges than were declared.
    """

    entering: Array
    leaving: Array
    final: Array
    excess: Array
    missing: Array

    @property
    def eliminable(self) -> Array:
        """Vertices that are closed on both sides and need not stay."""
        either: Array = self.entering & self.leaving & ~self.final
        return either


def closed(partial: Partial, evidence: Evidence) -> Closed:
    """Return the closed sides of every vertex of a partial graph, in O(vertices)."""
    known = partial.vertices
    due_in, due_out = known.due_entering, known.due_leaving
    entering = (due_in != UNKNOWN) & (known.entering >= due_in)
    leaving = (due_out != UNKNOWN) & (known.leaving >= due_out)
    is_activity = has(known.roles, VertexRole.ACTIVITY) & ~has(known.roles, VertexRole.ENTITY)
    # An input and its count of reads may have been forgotten in between.
    is_input = ~is_activity & (known.leaving == 0) & (due_out <= 0)
    short = ((due_in > known.entering) & ~is_input) | (due_out > known.leaving)
    short &= evidence.sealed
    if not evidence.partial:
        _by_scopes(partial, evidence, is_activity, entering, leaving)
    if evidence.sealed:
        entering[:] = True
        leaving[:] = True
    entity = ~is_activity
    final = has(known.roles, VertexRole.KEPT | VertexRole.HUB)
    final |= entity & entering & (known.entering == 0)
    final |= entity & leaving & (known.leaving == 0)
    excess = (due_in != UNKNOWN) & (known.entering > due_in)
    excess |= (due_out != UNKNOWN) & (known.leaving > due_out)
    return Closed(entering, leaving, final, excess, short)


def _by_scopes(
    partial: Partial, evidence: Evidence, is_activity: Array, entering: Array, leaving: Array
) -> None:
    """Close sides of vertices, in place, by counts of their functions and by the watermark."""
    known, functions = partial.vertices, partial.functions
    watermark = evidence.watermark
    if watermark is not None:
        ended = is_activity & (known.ended != UNKNOWN) & (known.ended < watermark)
        entering |= ended
        leaving |= ended
    if not functions:
        return
    used = {name: each.has_used_all(watermark) for name, each in functions.items()}
    generated = [each.has_generated_all(watermark) for each in functions.values()]
    read = [
        each.read_by is not None and all(used.get(name, False) for name in each.read_by)
        for each in functions.values()
    ]
    # Vertices of no scope or of several are unknown: their places count from the end.
    has_generated = np.array([*generated, False, False])[known.scope]
    has_used = np.array([*used.values(), False, False])[known.scope]
    are_read = np.array([*read, False, False])[known.scope]
    entering |= np.where(is_activity, has_generated & has_used, are_read)
    leaving |= np.where(is_activity, has_generated & has_used, has_generated)
