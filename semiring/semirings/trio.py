"""Trio: the witnesses of a tuple, each with how many derivations have it.

Carrier: polynomials with coefficients in N in which x² = x. Source: Das Sarma, Theobald, Widom,
*Exploiting Lineage for Confidence Computation*, ICDE 2008, as a semiring in Green, ICDT 2009,
section 3 (Trio(X)).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.column_texts import polynomials
from semiring.derivations import Derivations, Terms
from semiring.monomials import Monomial
from semiring.polynomial import Polynomial
from semiring.quotients import Quotient
from semiring.semirings.polynomials import Polynomials
from semiring.token import Token

_POLYNOMIALS = Polynomials()


class Trio(Quotient[Polynomial]):
    """Counted witnesses: (N[X] with x² = x, +, ·, 0, 1). A token is itself by default.

    Elements are polynomials without exponents. δ is 0 of 0, else 1. No monus: taken coefficient by
    coefficient it does not commute with evaluation.
    """

    name = "Trio"
    flat = True
    no_monus = "⊖ taken coefficient by coefficient does not commute with evaluation"

    @property
    def zero(self) -> Polynomial:
        return Polynomial.zero()

    @property
    def one(self) -> Polynomial:
        return Polynomial.one()

    def plus(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return a + b

    def times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return _flat(a * b)

    def sum(self, values: Iterable[Polynomial]) -> Polynomial:
        return Polynomial.sum(values)

    def default(self, token: Token) -> Polynomial:
        return Polynomial.token(token)

    def from_int(self, n: int) -> Polynomial:
        return Polynomial.constant(n)

    def repeat(self, a: Polynomial, n: int) -> Polynomial:
        return a * n

    def terms(self, value: Polynomial) -> Terms:
        return value.terms

    def delta_column(self, derivations: Derivations) -> Derivations:
        there = np.minimum(np.diff(derivations.offsets), 1)
        return Derivations.of_constants(derivations.vocabulary, there).once()

    def write(self, derivations: Derivations) -> pa.Array:
        return polynomials(derivations)

    def check(self, value: Any) -> Polynomial:
        return _flat(_POLYNOMIALS.check(value))


def _flat(polynomial: Polynomial) -> Polynomial:
    """Return a polynomial with all exponents 1."""
    terms: dict[Monomial, int] = {}
    for monomial, coefficient in polynomial.terms:
        flat = tuple((token, 1) for token, _ in monomial)
        terms[flat] = terms.get(flat, 0) + coefficient
    return Polynomial(terms)
