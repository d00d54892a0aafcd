"""Tensors under a counting semiring: the sums of their terms, for many tensors at once, by
world.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from semiring.arrays.comparison import UFUNCS
from semiring.arrays.exact import INT64_MAX, INT64_MIN, multiply, reduce_segments, sum_segments
from semiring.base import Array
from semiring.circuit.scalars import Scalars
from semiring.monoid import AVG, COUNT, MIN


class TensorSums:
    """The monoid elements of some tensors: the number of values, and their sum or extreme.

    Parameters
    ----------
    count
        The number of tensors.
    worlds
        The number of worlds.
    """

    def __init__(self, count: int, worlds: int) -> None:
        self._worlds = worlds
        self._numbers: Array = np.zeros((count, worlds), dtype=np.int64)
        self._totals: Array = self._numbers.copy()

    def of(self, rows: Array) -> tuple[Array, Array]:
        """Return the numbers of values of some tensors, and their unscaled sums or labels of
        extremes.
        """
        return self._numbers[rows], self._totals[rows]

    def add(
        self,
        scalars: Scalars,
        rows: Array,
        copies: Array,
        totals: Array,
        offsets: Array,
        of_sums: bool,
    ) -> None:
        """Store the sums of segments, from copies of labelled values or from other sums."""
        monoid = scalars.monoid
        if monoid.idempotent:
            copies = (copies != 0).astype(np.int64)
        if monoid.idempotent and scalars.is_ordered:
            least = monoid == MIN
            nothing = INT64_MAX if least else INT64_MIN
            reduce, there = np.minimum if least else np.maximum, copies != 0
            summed = reduce_segments(reduce, np.where(there, totals, nothing), offsets, nothing)
        elif monoid == COUNT:
            summed = np.zeros((len(rows), self._worlds), dtype=np.int64)
        elif scalars.scale is not None:
            brought = totals if of_sums else multiply(copies, totals)
            summed = sum_segments(brought, offsets)
        else:
            values = totals if of_sums else objects(scalars.values(totals[:, 0]), totals.shape)
            values = np.broadcast_to(values, copies.shape)
            summed = np.empty((len(rows), self._worlds), dtype=object)
            for place, (start, stop) in enumerate(pairwise(offsets.tolist())):
                for world in range(self._worlds):
                    own = copies[start:stop, world].tolist()
                    add = monoid.added if of_sums else monoid.summed
                    parts = zip(own, values[start:stop, world], strict=True)
                    summed[place, world] = add(parts)[1] if own else None
        self._numbers = _with(self._numbers, rows, sum_segments(copies, offsets))
        self._totals = _with(self._totals, rows, summed)

    def finished(self, scalars: Scalars, rows: Array) -> Array:
        """Return the values of tensors, by world."""
        monoid = scalars.monoid
        numbers, totals = self.of(rows)
        if monoid == COUNT:
            counts: Array = numbers.astype(object)
            return counts
        there = numbers != 0
        values: Array = np.empty(numbers.shape, dtype=object)
        if monoid.idempotent and scalars.is_ordered:
            values[there] = objects(scalars.values(totals[there].astype(np.int64)), (-1,))
            return values
        sums = totals[there].tolist()
        if scalars.scale is not None:
            sums = scalars.numbers(sums)
        pairs = zip(numbers[there].tolist(), sums, strict=True)
        values[there] = objects([monoid.finished(*pair) for pair in pairs], (-1,))
        return values

    def compared(
        self, scalars: Scalars, rows: Array, op: str, value: int | Decimal
    ) -> Array | None:
        """Return comparisons of tensors with a number, or None if their values are not exact
        numbers.
        """
        counting = scalars.monoid == COUNT
        scale = 0 if counting else scalars.scale
        bound = None if scale is None else Fraction(value) * 10**scale
        if scalars.monoid == AVG or bound is None or bound.denominator > 1:
            return None
        numbers, totals = self.of(rows)
        compared = numbers if counting else totals
        if not INT64_MIN <= bound <= INT64_MAX:
            compared = compared.astype(object)
        held: Array = UFUNCS[op](compared, int(bound)) & (counting | (numbers != 0))
        return held


def objects(values: Sequence[Any], shape: tuple[int, ...]) -> Array:
    """Return Python objects, row by row, as an array of a shape."""
    array: Array = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        array[place] = value
    return array.reshape(shape)


def _with(array: Array, rows: Array, values: Array) -> Array:
    """Assign values to rows of an array, which becomes an array of objects if they are objects."""
    if values.dtype == np.dtype(object):
        array = array.astype(object, copy=False)
    array[rows] = values
    return array
