"""The vertices of a partial graph: counted degrees, declared degrees, and roles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import IntFlag

import numpy as np

from semiring.base import Array

UNKNOWN = -1
"""An undeclared number of edges, no scope, or no time."""

SEVERAL = -2
"""The scope of a vertex that several functions claim."""


class VertexRole(IntFlag):
    """The roles of a vertex by its edges and declarations."""

    ACTIVITY = 1
    """It used or generated: never an input or output."""
    ENTITY = 2
    """It was used, generated, derived or a member. A vertex of both roles counts as an entity."""
    KEPT = 4
    """A declared terminal: it stays, although it is read again."""
    HUB = 8
    """It stays since its elimination would add edges."""
    EXCESS = 16
    """It has more edges than declared, and was reported."""


@dataclass(frozen=True, slots=True)
class Vertices:
    """The vertices of a partial graph, as arrays of one length.

    An edge points from effect to cause: it *enters* its cause and *leaves* its effect. The readers
    of an entity enter it, and it leaves towards its generator.

    Parameters
    ----------
    entering, leaving
        int64: the number of raw edges counted, including eliminated ones.
    due_entering, due_leaving
        int64: the declared totals; `UNKNOWN` if undeclared.
    roles
        uint8, of :class:`VertexRole`.
    scope
        int64: the place of the function that generates an entity, or that an activity is an
        execution of, in the partial graph's functions; `UNKNOWN`, or `SEVERAL`.
    ended
        int64, microseconds since 1970: the end of an execution, or `UNKNOWN`.
    """

    entering: Array
    leaving: Array
    due_entering: Array
    due_leaving: Array
    roles: Array
    scope: Array
    ended: Array

    def __len__(self) -> int:
        return len(self.entering)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays."""
        return sum(int(getattr(self, each.name).nbytes) for each in fields(self))

    def take(self, which: Array) -> Vertices:
        """Return the vertices at positions, or where a Boolean array is true."""
        return Vertices(*(getattr(self, each.name)[which] for each in fields(self)))


def has(roles: Array, role: VertexRole) -> Array:
    """Return a Boolean array: the roles that have any of the bits of `role`."""
    shared: Array = (roles & np.uint8(role)) != 0
    return shared


def unknown(length: int) -> Vertices:
    """Return vertices with zero counts and no declarations."""
    zeros = np.zeros(length, dtype=np.int64)
    nothing = np.full(length, UNKNOWN, dtype=np.int64)
    return Vertices(
        zeros, zeros, nothing, nothing, np.zeros(length, dtype=np.uint8), nothing, nothing
    )


def merged(length: int, parts: Sequence[tuple[Array, Vertices]]) -> Vertices:
    """Merge the records of vertices from several parts.

    Counts are added. The larger of two declared degrees holds, so that nothing closes too early;
    and the later of two ends. The result does not depend on the order of parts.

    Parameters
    ----------
    length
        The number of vertices.
    parts
        Vertices, and the number of each among all; within a part no number occurs twice.
    """
    entering = np.zeros(length, dtype=np.int64)
    leaving = np.zeros(length, dtype=np.int64)
    due_entering = np.full(length, UNKNOWN, dtype=np.int64)
    due_leaving = np.full(length, UNKNOWN, dtype=np.int64)
    roles = np.zeros(length, dtype=np.uint8)
    scope = np.full(length, UNKNOWN, dtype=np.int64)
    ended = np.full(length, UNKNOWN, dtype=np.int64)
    for numbers, part in parts:
        entering[numbers] += part.entering
        leaving[numbers] += part.leaving
        roles[numbers] |= part.roles
        for whole, piece in (
            (due_entering, part.due_entering),
            (due_leaving, part.due_leaving),
            (ended, part.ended),
        ):
            whole[numbers] = np.maximum(whole[numbers], piece)
        before = scope[numbers]
        after = np.where(before == UNKNOWN, part.scope, before)
        differ = (before != part.scope) & (before != UNKNOWN) & (part.scope != UNKNOWN)
        after[differ] = SEVERAL
        scope[numbers] = after
    return Vertices(entering, leaving, due_entering, due_leaving, roles, scope, ended)
