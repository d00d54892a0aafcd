"""Sixty-four possible worlds at once: the set of worlds that contain a tuple.

Carrier: B⁶⁴ as bits of a word, with or and and; products of semirings are semirings, so each bit is
one Boolean world. Source: Green, Tannen, *Models for Incomplete and Probabilistic Information*,
2006; Imieliński, Lipski, JACM 1984.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from semiring.arrays.exact import reduce_segments
from semiring.base import Array, Semiring
from semiring.errors import ValuationError

_ALL = (1 << 64) - 1


class Worlds(Semiring[int]):
    """Sets of worlds, where bit i is the presence in world i: (B⁶⁴, ∨, ∧, no world, all worlds).

    A token is in all worlds by default. a ⊖ b = a ∧ ¬b. Not positive: two tuples may be in no world
    together; so MIN and MAX have no value for all worlds at once. In Arrow a value is its bits as
    text, world 63 first.
    """

    name = "Worlds"
    idempotent = True
    absorptive = True
    positive = False
    has_monus = True
    dtype = np.dtype(np.uint64)
    zero: int = 0
    one: int = _ALL

    def plus(self, a: int, b: int) -> int:
        return a | b

    def times(self, a: int, b: int) -> int:
        return a & b

    def monus(self, a: int, b: int) -> int:
        return a & ~b

    def check(self, value: Any) -> int:
        if isinstance(value, (int, np.integer)) and 0 <= int(value) <= _ALL:
            return int(value)
        raise ValuationError(f"{value!r} is not a value of Worlds; use an integer of 64 bits")

    def from_arrow(self, column: pa.Array) -> Array:
        if not pa.types.is_uint64(column.type) or column.null_count:
            return self.array(column.to_pylist())
        words: Array = column.to_numpy(zero_copy_only=False)
        return words

    def plus_array(self, a: Array, b: Array) -> Array:
        result: Array = a | b
        return result

    def times_array(self, a: Array, b: Array) -> Array:
        result: Array = a & b
        return result

    def monus_array(self, a: Array, b: Array) -> Array:
        result: Array = a & ~b
        return result

    def repeat_array(self, counts: Array) -> Array:
        return np.where(counts > 0, np.uint64(_ALL), np.uint64(0))

    def nonzero_array(self, a: Array) -> Array:
        result: Array = a != 0
        return result

    def sum_segments(self, values: Array, offsets: Array) -> Array:
        return reduce_segments(np.bitwise_or, values, offsets, 0)

    def render(self, value: int) -> str:
        return f"{value:064b}"

    def to_arrow(self, array: Array) -> pa.Array:
        return pa.array([self.render(word) for word in array.tolist()], pa.string())
