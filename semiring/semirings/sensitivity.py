"""Sensitivity: a weight and its derivatives with respect to the weights of tuples.

Carrier: polynomials over the reals in the tuples' changes, cut after the first degree: dual
numbers. Source: Clifford, 1873; as forward differentiation of provenance in Kanagal, Li, Deshpande,
*Sensitivity Analysis and Explanations for Robust Query Evaluation*, SIGMOD 2011.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from semiring.base import Semiring
from semiring.errors import ValuationError
from semiring.token import Token


@dataclass(frozen=True, slots=True)
class Weight:
    """A weight and its partial derivatives.

    Attributes
    ----------
    value
        The weight.
    slopes
        Tokens with their derivatives that are not 0, sorted.
    """

    value: float
    slopes: tuple[tuple[Token, float], ...] = ()

    def __str__(self) -> str:
        terms = [f"{self.value:g}", *(f"{slope:g}·d({token})" for token, slope in self.slopes)]
        return " + ".join(terms)


class Sensitivity(Semiring[Weight]):
    """Weights with derivatives: (R[X] cut after degree 1, +, ·, 0, 1).

    A token has weight 1 and derivative 1 with respect to itself; a number assigned to it, or a
    `Weight`, is used as it is, and :meth:`of` makes the weight of a token that is to be tracked.
    δ(0) = 0, else 1. A ring: not positive, no monus. Exact up to the rounding of doubles.
    """

    name = "Sensitivity"
    positive = False
    no_monus = "the reals with negatives have no natural order"
    zero: Weight = Weight(0.0)
    one: Weight = Weight(1.0)

    @staticmethod
    def of(token: Token, value: float) -> Weight:
        """Return the weight of a token whose influence is tracked."""
        return Weight(float(value), ((token, 1.0),))

    def plus(self, a: Weight, b: Weight) -> Weight:
        return _weight(a.value + b.value, (a, 1.0), (b, 1.0))

    def times(self, a: Weight, b: Weight) -> Weight:
        return _weight(a.value * b.value, (a, b.value), (b, a.value))

    def sum(self, values: Iterable[Weight]) -> Weight:
        parts = list(values)
        total = sum(part.value for part in parts)
        return _weight(total, *((part, 1.0) for part in parts))

    def default(self, token: Token) -> Weight:
        return self.of(token, 1.0)

    def check(self, value: Any) -> Weight:
        if isinstance(value, Weight):
            return value
        if isinstance(value, (int, float, Decimal, np.integer, np.floating)):
            return Weight(float(value))
        raise ValuationError(f"{value!r} is not a value of Sensitivity; use a number or a Weight")


def _weight(value: float, *parts: tuple[Weight, float]) -> Weight:
    slopes: dict[Token, float] = {}
    for weight, factor in parts:
        for token, slope in weight.slopes:
            slopes[token] = slopes.get(token, 0.0) + slope * factor
    kept = sorted((item for item in slopes.items() if item[1]), key=lambda item: item[0].sort_key)
    return Weight(value, tuple(kept))
