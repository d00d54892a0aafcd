"""The max-plus semiring: greatest cost.

Carrier: the reals and -∞, as doubles, with max and +. Source: Cuninghame-Green, *Minimax Algebra*,
1979; the counterpart of the tropical semiring of Green et al., PODS 2007, section 3.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.base import Array
from semiring.errors import ValuationError
from semiring.semirings.lattice import TotallyOrdered


class MaxPlus(TotallyOrdered[float]):
    """The cost of the dearest derivation: (R ∪ {-∞}, max, +, -∞, 0). A token costs 0 by default.

    Not absorptive: max(0, a) is a where a > 0. a ⊖ b = -∞ if a ≤ b, else a.
    """

    name = "MaxPlus"
    absorptive = False
    dtype = np.dtype(np.float64)
    arrow_type = pa.float64()
    better = np.maximum

    @property
    def zero(self) -> float:
        return -math.inf

    @property
    def one(self) -> float:
        return 0.0

    def times(self, a: float, b: float) -> float:
        return a + b

    def check(self, value: Any) -> float:
        if isinstance(value, (int, float, Decimal, np.integer, np.floating)):
            cost = float(value)
            if cost < math.inf:
                return cost + 0.0
        raise ValuationError(
            f"{value!r} is not a value of MaxPlus; use a finite number, or -infinity for absent"
        )

    def times_array(self, a: Array, b: Array) -> Array:
        result: Array = a + b
        return result
