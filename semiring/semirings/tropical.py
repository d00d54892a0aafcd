"""The tropical semiring: least cost.

Carrier: the non-negative reals and ∞, as doubles, with min and +. Source: Green et al., PODS 2007,
section 3. Sums of costs are exact up to the rounding of doubles.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from semiring.errors import ValuationError
from semiring.semirings.lattice import AddedCosts


class Tropical(AddedCosts):
    """The cost of the cheapest derivation: (R≥0 ∪ {∞}, min, +, ∞, 0). A token costs 0 by default.

    a ⊖ b = ∞ if b ≤ a, else a.
    """

    name = "Tropical"
    better = np.minimum
    zero: float = math.inf

    def check(self, value: Any) -> float:
        if isinstance(value, (int, float, Decimal, np.integer, np.floating)):
            cost = float(value)
            if cost >= 0:
                return cost + 0.0
        raise ValuationError(
            f"{value!r} is not a value of Tropical; use a number ≥ 0, or infinity for absent"
        )
