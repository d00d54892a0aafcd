"""The Łukasiewicz semiring: the greatest degree of truth, with truth deficits added in a
derivation.

Carrier: [0, 1], as doubles, with max and max(0, a + b - 1). Source: Łukasiewicz, 1920, as a
semiring in Grädel, Tannen, *Semiring Provenance for First-Order Model Checking*, 2017.
"""

from __future__ import annotations

import numpy as np

from semiring.base import Array
from semiring.semirings.unit import UnitInterval


class Lukasiewicz(UnitInterval):
    """The degree of the best derivation: ([0, 1], max, a·b = max(0, a + b - 1), 0, 1).

    A token has 1 by default; a ⊖ b = 0 if a ≤ b, else a. Not positive: ½·½ = 0, so MIN and MAX have
    no values, because a member may be 0 though none of its tuples is.
    """

    name = "Lukasiewicz"
    positive = False
    capabilities = frozenset()

    def times(self, a: float, b: float) -> float:
        return max(0.0, a + b - 1.0)

    def times_array(self, a: Array, b: Array) -> Array:
        result: Array = np.maximum(0.0, a + b - 1.0)
        return result
