"""Unions of intervals, as columns: no Python object per union."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semiring.arrays.segments import Segmented, bounds
from semiring.base import Array

Bounds = tuple[Any, Any]
"""The bounds of an interval; None: unbounded on that side."""


@dataclass(frozen=True, slots=True)
class Intervals(Segmented):
    """Unions of disjoint intervals: union i has the rows from ``offsets[i]`` to ``offsets[i + 1]``.

    Attributes
    ----------
    instants
        All bounds of intervals, ascending.
    starts, stops
        The bounds of intervals, as int64 positions of instants from 1; 0 if unbounded below, the
        number of instants plus 1 if unbounded above. Ascending within each union.
    offsets
        int64, one more than there are unions.
    """

    by_row = ("starts", "stops")

    instants: Sequence[Any]
    starts: Array
    stops: Array
    offsets: Array

    @classmethod
    def constant(cls, instants: Sequence[Any], always: Array) -> Intervals:
        """Return the set of all instants where a mask is true, and the empty set elsewhere."""
        count = int(always.sum())
        none = np.zeros(count, dtype=np.int64)
        return cls(instants, none, none + len(instants) + 1, bounds(always))

    @classmethod
    def of(cls, instants: Sequence[Any], unions: Sequence[Sequence[Bounds]]) -> Intervals:
        """Return unions of disjoint intervals whose bounds are among the instants."""
        places: Mapping[Any, int] = {instant: n for n, instant in enumerate(instants, start=1)}
        rows = [interval for union in unions for interval in union]
        starts = [0 if start is None else places[start] for start, _ in rows]
        stops = [len(instants) + 1 if stop is None else places[stop] for _, stop in rows]
        offsets = bounds(np.array([*map(len, unions)], dtype=np.int64))
        return cls(instants, _integers(starts), _integers(stops), offsets)

    def summed(self, offsets: Array) -> Intervals:
        """Return the unions of consecutive elements."""
        wide = replace(self, offsets=self.offsets[offsets])
        return swept([wide], lambda inside: inside[0] > 0)


def swept(sides: Sequence[Intervals], holds: Callable[[Array], Array]) -> Intervals:
    """Return, row by row, the maximal intervals on which a condition holds.

    Parameters
    ----------
    sides
        Columns of one length.
    holds
        Maps an array of shape (sides, moments), the number of each side's intervals around a
        moment, to a Boolean array. It must be false for a moment in no interval.
    """
    first = sides[0]
    width = len(first.instants) + 2
    keys = np.concatenate(
        [side.owners * width + ends for side in sides for ends in (side.starts, side.stops)]
    )
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    last = np.append(keys[1:] != keys[:-1], np.ones(min(len(keys), 1), dtype=np.bool_))
    inside = []
    at = 0
    for side in sides:
        count = len(side.starts)
        moves = np.zeros(len(keys), dtype=np.int64)
        moves[at : at + count], moves[at + count : at + 2 * count] = 1, -1
        at += 2 * count
        inside.append(np.cumsum(moves[order])[last])
    keys, state = keys[last], holds(np.array(inside))
    before = np.append(np.zeros(min(len(state), 1), dtype=np.bool_), state[:-1])
    starts, stops = keys[state & ~before], keys[~state & before]
    sizes = np.bincount(starts // width, minlength=len(first.offsets) - 1)
    return Intervals(first.instants, starts % width, stops % width, bounds(sizes))


def _integers(values: list[int]) -> Array:
    return np.array(values, dtype=np.int64)
