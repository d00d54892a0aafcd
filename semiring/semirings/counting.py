"""N: bag semantics.

Carrier: the natural numbers with + and ·. Source: Green et al., PODS 2007, section 3; monus
(truncated subtraction): Geerts, Poggi 2010, example 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.arrays.exact import (
    INT64_MAX,
    add,
    integer_array,
    multiply,
    shrink,
    subtract,
    sum_segments,
)
from semiring.base import Array, Semiring
from semiring.errors import ExactnessError, ValuationError


class Counting(Semiring[int]):
    """The multiplicity of a tuple: (N, +, ·, 0, 1), exact.

    Arrays are int64, or Python integers in an object array once a count does not fit.
    δ(n) = 1 for n ≥ 1; a ⊖ b = max(a - b, 0). All aggregates have values.
    """

    name = "Counting"
    has_monus = True
    capabilities = frozenset({"SUM", "COUNT", "MIN", "MAX", "AVG"})
    dtype = np.dtype(np.int64)
    arrow_type = pa.int64()
    zero: int = 0
    one: int = 1

    def plus(self, a: int, b: int) -> int:
        return a + b

    def times(self, a: int, b: int) -> int:
        return a * b

    def monus(self, a: int, b: int) -> int:
        return max(a - b, 0)

    def multiplicity(self, a: int) -> int:
        return a

    def copies(self, a: int) -> int:
        return a

    def from_int(self, n: int) -> int:
        return self.check(n)

    def repeat(self, a: int, n: int) -> int:
        return a * n

    def power(self, a: int, n: int) -> int:
        result: int = a**n
        return result

    def check(self, value: Any) -> int:
        if isinstance(value, (bool, np.bool_)):
            return int(value)
        if isinstance(value, (int, np.integer)) and value >= 0:
            return int(value)
        raise ValuationError(
            f"{value!r} is not a value of Counting; use a non-negative integer, such as 0 for a"
            " deleted tuple"
        )

    def array(self, values: Iterable[Any]) -> Array:
        return integer_array([self.check(value) for value in values])

    def from_arrow(self, column: pa.Array) -> Array:
        if not pa.types.is_integer(column.type) or column.null_count:
            return self.array(column.to_pylist())
        values = column.to_numpy(zero_copy_only=False)
        if len(values) and (values.min() < 0 or values.max() > INT64_MAX):
            return self.array(values.tolist())
        return shrink(values)

    def pack(self, values: list[int]) -> Array:
        return integer_array(values)

    def plus_array(self, a: Array, b: Array) -> Array:
        return add(a, b)

    def times_array(self, a: Array, b: Array) -> Array:
        return multiply(a, b)

    def monus_array(self, a: Array, b: Array) -> Array:
        return shrink(np.maximum(subtract(a, b), 0))

    def delta_array(self, a: Array) -> Array:
        result: Array = np.not_equal(a, 0).astype(np.int64)
        return result

    def repeat_array(self, counts: Array) -> Array:
        return shrink(counts)

    def nonzero_array(self, a: Array) -> Array:
        result: Array = np.not_equal(a, 0).astype(np.bool_)
        return result

    def multiplicity_array(self, a: Array) -> Array:
        return a

    def sum_segments(self, values: Array, offsets: Array) -> Array:
        return sum_segments(values, offsets)

    def take_where(self, condition: Array, a: Array, b: Array) -> Array:
        return shrink(np.where(condition, a, b))

    def to_arrow(self, array: Array) -> pa.Array:
        """int64; ExactnessError if a count does not fit, see `render` for its text."""
        if array.dtype == np.dtype(object) and len(array) and max(array) > INT64_MAX:
            raise ExactnessError(
                f"the count {max(array)} does not fit a bigint column; render the counts as text"
            )
        return pa.array(array.astype(np.int64, copy=False), pa.int64())
