"""N[X]: the free commutative semiring over tokens.

Source: Green et al., PODS 2007, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from semiring.base import Semiring
from semiring.errors import CapabilityError, ValuationError
from semiring.polynomial import Polynomial
from semiring.token import Token


class Polynomials(Semiring[Polynomial]):
    """How-provenance: (N[X], +, ·, 0, 1). A token is itself unless told.

    δ is defined on constants alone: δ of another polynomial is not a polynomial. There is no
    monus that commutes with evaluation. For annotations with either see `Expressions`.
    """

    name = "Polynomials"
    no_monus = "⊖ taken coefficient by coefficient in N[X] does not commute with evaluation"

    @property
    def zero(self) -> Polynomial:
        return Polynomial.zero()

    @property
    def one(self) -> Polynomial:
        return Polynomial.one()

    def plus(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a + b

    def times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a * b

    def delta(self, a: Polynomial) -> Polynomial:
        constant = a.constant_value()
        if constant is None:
            raise CapabilityError(
                f"δ({a.truncated(3)}) is not a polynomial; use the semiring Expressions, or"
                " evaluate in another semiring"
            )
        return Polynomial.constant(min(constant, 1))

    def default(self, token: Token) -> Polynomial:
        return Polynomial.token(token)

    def from_int(self, n: int) -> Polynomial:
        return Polynomial.constant(n)

    def repeat(self, a: Polynomial, n: int) -> Polynomial:
        return a * n

    def power(self, a: Polynomial, n: int) -> Polynomial:
        return a**n

    def sum(self, values: Iterable[Polynomial]) -> Polynomial:
        return Polynomial.sum(values)

    def check(self, value: Any) -> Polynomial:
        if isinstance(value, Polynomial):
            return value
        if isinstance(value, Token):
            return Polynomial.token(value)
        if isinstance(value, int) and value >= 0:
            return Polynomial.constant(int(value))
        raise ValuationError(
            f"{value!r} is not a value of Polynomials; use a polynomial, a token or an integer ≥ 0"
        )
