"""Trio: the witnesses of a tuple, each with its number of derivations.

Carrier: polynomials with coefficients in N in which x² = x. Source: Das Sarma, Theobald, Widom,
*Exploiting Lineage for Confidence Computation*, ICDE 2008, as a semiring in Green, ICDT 2009,
section 3 (Trio(X)).
"""

from __future__ import annotations

from typing import Any

from semiring.monomials import Monomial
from semiring.polynomial import Polynomial
from semiring.semirings.polynomials import Polynomials, SumsOfMonomials

_POLYNOMIALS = Polynomials()


class Trio(SumsOfMonomials):
    """Counted witnesses: (N[X] with x² = x, +, ·, 0, 1). A token is itself by default.

    Elements are polynomials without exponents. δ is 0 of 0, else 1. No monus: taken coefficient by
    coefficient it does not commute with evaluation.
    """

    name = "Trio"
    flat = True
    no_monus = "⊖ taken coefficient by coefficient does not commute with evaluation"

    def times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        return _flat(a * b)

    def check(self, value: Any) -> Polynomial:
        return _flat(_POLYNOMIALS.check(value))


def _flat(polynomial: Polynomial) -> Polynomial:
    """Return a polynomial with all exponents 1."""
    terms: dict[Monomial, int] = {}
    for monomial, coefficient in polynomial.terms:
        flat = tuple((token, 1) for token, _ in monomial)
        terms[flat] = terms.get(flat, 0) + coefficient
    return Polynomial(terms)
