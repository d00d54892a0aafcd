"""The max-plus semiring: greatest cost.

Carrier: the reals and -∞, as doubles, with max and +. Source: Cuninghame-Green, *Minimax Algebra*,
1979; the counterpart of the tropical semiring of Green et al., PODS 2007, section 3.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from semiring.errors import ValuationError
from semiring.semirings.lattice import AddedCosts


class MaxPlus(AddedCosts):
    """The cost of the dearest derivation: (R ∪ {-∞}, max, +, -∞, 0). A token costs 0 by default.

    Not absorptive: max(0, a) is a where a > 0. a ⊖ b = -∞ if a ≤ b, else a.
    """

    name = "MaxPlus"
    absorptive = False
    better = np.maximum
    zero: float = -math.inf

    def check(self, value: Any) -> float:
        if isinstance(value, (int, float, Decimal, np.integer, np.floating)):
            cost = float(value)
            if cost < math.inf:
                return cost + 0.0
        raise ValuationError(
            f"{value!r} is not a value of MaxPlus; use a finite number, or -infinity for absent"
        )
