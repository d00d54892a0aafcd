"""B: set semantics.

Carrier: {false, true} with ∨ and ∧. Source: Green et al., PODS 2007, section 3; monus (and-not):
Geerts, Poggi 2010, example 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from semiring.arrays.exact import reduce_segments
from semiring.base import Array, Semiring
from semiring.errors import ValuationError


class Boolean(Semiring[bool]):
    """The presence of a tuple: (B, ∨, ∧, false, true).

    a ⊖ b = a ∧ ¬b. MIN and MAX have values; SUM, COUNT and AVG do not, because
    v = (true ∨ true)⊗v = true⊗v + true⊗v = 2v would follow.
    """

    name = "Boolean"
    idempotent = True
    absorptive = True
    has_monus = True
    capabilities = frozenset({"MIN", "MAX"})
    dtype = np.dtype(np.bool_)
    arrow_type = pa.bool_()
    zero: bool = False
    one: bool = True

    def plus(self, a: bool, b: bool) -> bool:
        return a or b

    def times(self, a: bool, b: bool) -> bool:
        return a and b

    def monus(self, a: bool, b: bool) -> bool:
        return a and not b

    def check(self, value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)):
            return bool(value)
        if isinstance(value, (int, np.integer)) and value in (0, 1):
            return bool(value)
        raise ValuationError(f"{value!r} is not a value of Boolean; use True or False")

    def plus_array(self, a: Array, b: Array) -> Array:
        return np.logical_or(a, b)

    def times_array(self, a: Array, b: Array) -> Array:
        return np.logical_and(a, b)

    def monus_array(self, a: Array, b: Array) -> Array:
        return np.logical_and(a, np.logical_not(b))

    def repeat_array(self, counts: Array) -> Array:
        return counts > 0

    def nonzero_array(self, a: Array) -> Array:
        return a

    def sum_segments(self, values: Array, offsets: Array) -> Array:
        # maximum on bytes is vectorised where logical_or.reduceat on bool is not.
        return reduce_segments(np.maximum, values.view(np.uint8), offsets, 0).view(np.bool_)

    def render(self, value: bool) -> str:
        return "true" if value else "false"
