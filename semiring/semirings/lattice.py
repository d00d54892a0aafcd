"""Semirings on a totally ordered carrier: + takes the better of two values."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa

from semiring.arrays.exact import reduce_segments
from semiring.base import Array, Semiring

K = TypeVar("K")


class TotallyOrdered(Semiring[K]):
    """A semiring whose + is the better of two elements of a total order, worst element 0, best 1.

    Then + is idempotent and absorptive, and the natural order is the order itself, so that
    a ⊖ b = 0 if b is at least as good as a, else a (Geerts, Poggi 2010, section 3).
    """

    idempotent = True
    absorptive = True
    has_monus = True
    capabilities = frozenset({"MIN", "MAX"})
    better: ClassVar[np.ufunc]
    """np.minimum or np.maximum: which of two numbers is better."""

    def plus(self, a: K, b: K) -> K:
        better: Any = min if self.better is np.minimum else max
        best: K = better(a, b)
        return best

    def monus(self, a: K, b: K) -> K:
        return self.zero if self.plus(a, b) == b else a

    def from_arrow(self, column: pa.Array) -> Array:
        number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        if not number or column.null_count or self.dtype != np.dtype(np.float64) or not len(column):
            return self.array(column.to_pylist())
        values: Array = column.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
        # The carrier is an interval, so the extremes stand for all; NaN propagates to both.
        self.check(values.min())
        self.check(values.max())
        return values

    def plus_array(self, a: Array, b: Array) -> Array:
        result: Array = self.better(a, b)
        return result

    def monus_array(self, a: Array, b: Array) -> Array:
        zero: Any = self.pack([self.zero])[0]
        result: Array = np.where(self.better(a, b) == b, zero, a).astype(self.dtype)
        return result

    def repeat_array(self, counts: Array) -> Array:
        zero, elements = self.pack([self.zero, self.one])
        result: Array = np.where(counts > 0, elements, zero).astype(self.dtype)
        return result

    def nonzero_array(self, a: Array) -> Array:
        result: Array = a != self.pack([self.zero])[0]
        return result

    def sum_segments(self, values: Array, offsets: Array) -> Array:
        return reduce_segments(self.better, values, offsets, self.pack([self.zero])[0])


class AddedCosts(TotallyOrdered[float]):
    """A semiring of numbers whose · is their sum, as doubles."""

    dtype = np.dtype(np.float64)
    arrow_type = pa.float64()
    one: float = 0.0

    def times(self, a: float, b: float) -> float:
        return a + b

    def times_array(self, a: Array, b: Array) -> Array:
        return np.add(a, b)
