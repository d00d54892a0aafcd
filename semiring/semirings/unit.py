"""Semirings on the interval from 0 to 1 with the maximum as sum."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.errors import ValuationError
from semiring.semirings.lattice import TotallyOrdered


class UnitInterval(TotallyOrdered[float]):
    """([0, 1], max, ·, 0, 1) for some ·, a t-norm; doubles. A token has 1 by default.

    a ⊖ b = 0 if a ≤ b, else a.
    """

    dtype = np.dtype(np.float64)
    arrow_type = pa.float64()
    better = np.maximum
    zero: float = 0.0
    one: float = 1.0

    def check(self, value: Any) -> float:
        if isinstance(value, (int, float, Decimal, np.integer, np.floating)):
            degree = float(value)
            if 0 <= degree <= 1:
                return degree + 0.0
        raise ValuationError(f"{value!r} is not a value of {self.name}; use a number from 0 to 1")
