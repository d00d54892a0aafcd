"""The Viterbi semiring: greatest confidence.

Carrier: [0, 1], as doubles, with max and ×. Source: Green et al., PODS 2007, section 3; Green,
Tannen, *The Semiring Framework for Database Provenance*, PODS 2017.
"""

from __future__ import annotations

from semiring.base import Array
from semiring.semirings.unit import UnitInterval


class Viterbi(UnitInterval):
    """The confidence of the best derivation: ([0, 1], max, ×, 0, 1). A token has 1 by default.

    a ⊖ b = 0 if a ≤ b, else a.
    """

    name = "Viterbi"

    def times(self, a: float, b: float) -> float:
        return a * b

    def times_array(self, a: Array, b: Array) -> Array:
        result: Array = a * b
        return result
