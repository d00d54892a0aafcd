"""Z: changes of bags, with deletions as negative counts.

Carrier: the integers with + and ·. Source: Green, Ives, Tannen, *Reconcilable Differences*, ICDT
2009 (Z-relations).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.base import Array, Semiring
from semiring.errors import ValuationError
from semiring.semirings.counting import Counting


class Integers(Counting):
    """The multiplicity of a tuple after additions and deletions: (Z, +, ·, 0, 1), exact.

    Arrays are as in Counting. δ(n) = 1 for n ≥ 1, else 0. A ring, so not positive and without
    natural order: no monus, and MIN and MAX have no values, since -1 and 1 cancel.
    """

    name = "Integers"
    positive = False
    has_monus = False
    no_monus = "every integer is below every other, so that differences are not truncated"
    capabilities = frozenset({"SUM", "COUNT", "AVG"})

    def check(self, value: Any) -> int:
        if isinstance(value, (bool, int, np.bool_, np.integer)):
            return int(value)
        raise ValuationError(f"{value!r} is not a value of Integers; use an integer")

    def from_int(self, n: int) -> int:
        return n

    def monus(self, a: int, b: int) -> int:
        return Semiring.monus(self, a, b)

    def monus_array(self, a: Array, b: Array) -> Array:
        return Semiring.monus_array(self, a, b)

    def delta(self, a: int) -> int:
        return int(a > 0)

    def delta_array(self, a: Array) -> Array:
        result: Array = np.greater(a, 0).astype(np.int64)
        return result
