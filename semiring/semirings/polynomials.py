"""N[X]: the free commutative semiring over tokens.

Source: Green et al., PODS 2007, section 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.encodings.derivations import Derivations, Terms
from semiring.encodings.quotients import Quotient
from semiring.encodings.texts import polynomials
from semiring.errors import CapabilityError, ValuationError
from semiring.polynomial import Polynomial
from semiring.token import Token


class SumsOfMonomials(Quotient[Polynomial]):
    """The common base of semirings whose elements are polynomials and are added as such."""

    zero: Polynomial = Polynomial.zero()
    one: Polynomial = Polynomial.one()

    def plus(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a + b

    def default(self, token: Token) -> Polynomial:
        return Polynomial.token(token)

    def from_int(self, n: int) -> Polynomial:
        return Polynomial.constant(n)

    def repeat(self, a: Polynomial, n: int) -> Polynomial:
        return a * n

    def sum(self, values: Iterable[Polynomial]) -> Polynomial:
        return Polynomial.sum(values)

    def terms(self, value: Polynomial) -> Terms:
        return value.terms

    def delta_column(self, derivations: Derivations) -> Derivations:
        there = np.minimum(np.diff(derivations.offsets), 1)
        return Derivations.of_constants(derivations.vocabulary, there).once()

    def write(self, derivations: Derivations) -> pa.Array:
        return polynomials(derivations)


class Polynomials(SumsOfMonomials):
    """Polynomials, or how-provenance: (N[X], +, ·, 0, 1). A token is itself by default.

    δ is defined on constants alone: δ of another polynomial is not a polynomial. There is no
    monus that commutes with evaluation. For annotations with either see `Expressions`.
    """

    name = "Polynomials"
    total_delta = False
    no_monus = "⊖ taken coefficient by coefficient in N[X] does not commute with evaluation"

    def times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a * b

    def delta(self, a: Polynomial) -> Polynomial:
        constant = a.constant_value()
        if constant is None:
            raise self._no_delta(a.truncated(3))
        return Polynomial.constant(min(constant, 1))

    @staticmethod
    def _no_delta(text: str) -> CapabilityError:
        return CapabilityError(
            f"δ({text}) is not a polynomial; use the semiring Expressions, or"
            " evaluate in another semiring"
        )

    def power(self, a: Polynomial, n: int) -> Polynomial:
        return a**n

    def delta_column(self, derivations: Derivations) -> Derivations:
        variable = np.flatnonzero(derivations.degrees)
        if len(variable):
            segment = derivations.owners[variable[:1]]
            raise self._no_delta(polynomials(derivations.take(segment), 3)[0].as_py())
        return super().delta_column(derivations)

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
