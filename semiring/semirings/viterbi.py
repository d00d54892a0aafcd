"""The Viterbi semiring: greatest confidence.

Carrier: [0, 1], as doubles, with max and ×. Source: Green et al., PODS 2007, section 3; Green,
Tannen, *The Semiring Framework for Database Provenance*, PODS 2017.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.base import Array
from semiring.errors import ValuationError
from semiring.semirings.lattice import TotallyOrdered


class Viterbi(TotallyOrdered[float]):
    """The confidence of the best derivation: ([0, 1], max, ×, 0, 1). A token has 1 unless told.

    a ⊖ b = 0 if a ≤ b, else a.
    """

    name = "Viterbi"
    dtype = np.dtype(np.float64)
    arrow_type = pa.float64()
    better = np.maximum

    @property
    def zero(self) -> float:
        return 0.0

    @property
    def one(self) -> float:
        return 1.0

    def at_least(self, a: float, b: float) -> bool:
        return a >= b

    def times(self, a: float, b: float) -> float:
        return a * b

    def check(self, value: Any) -> float:
        if isinstance(value, (int, float, Decimal, np.integer, np.floating)):
            confidence = float(value)
            if 0 <= confidence <= 1:
                return confidence + 0.0
        raise ValuationError(f"{value!r} is not a value of Viterbi; use a number from 0 to 1")

    def times_array(self, a: Array, b: Array) -> Array:
        result: Array = a * b
        return result
