"""The fuzzy semiring: the greatest degree of truth; a derivation is as true as its weakest tuple.

Carrier: [0, 1], as doubles, with max and min. Source: Zadeh, *Fuzzy Sets*, 1965; Green et al., PODS
2007, section 3.
"""

from __future__ import annotations

import numpy as np

from semiring.base import Array
from semiring.semirings.unit import UnitInterval


class Fuzzy(UnitInterval):
    """The degree of the best derivation: ([0, 1], max, min, 0, 1). A token has 1 by default.

    a ⊖ b = 0 if a ≤ b, else a.
    """

    name = "Fuzzy"

    def times(self, a: float, b: float) -> float:
        return min(a, b)

    def times_array(self, a: Array, b: Array) -> Array:
        result: Array = np.minimum(a, b)
        return result
