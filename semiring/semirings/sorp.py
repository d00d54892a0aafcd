"""Absorptive polynomials: the cheapest derivations, with the multiplicities of tuples.

Carrier: antichains of monomials under divisibility. Source: Deutch, Milo, Roy, Tannen, *Circuits
for Datalog Provenance*, ICDT 2014, section 3 (Sorp(X), without its infinite exponents).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from semiring.monomials import Monomial, minimal, multiply
from semiring.semirings.boolean_polynomials import BooleanPolynomials, Monomials


class Sorp(BooleanPolynomials):
    """Derivations that no shorter one divides: (antichains of monomials, minimal ∪, minimal ·,
    ∅, {1}). The free absorptive semiring: x + x·y = x, while x² is not x.

    a ⊖ b has the monomials of a that none of b divides.
    """

    name = "Sorp"
    absorptive = True

    def plus(self, a: Monomials, b: Monomials) -> Monomials:
        return _minimal(a | b)

    def times(self, a: Monomials, b: Monomials) -> Monomials:
        return _minimal(multiply(x, y) for x in a for y in b)

    def monus(self, a: Monomials, b: Monomials) -> Monomials:
        return frozenset(x for x in a if not any(_divides(y, x) for y in b))

    def sum(self, values: Iterable[Monomials]) -> Monomials:
        return _minimal(monomial for value in values for monomial in value)

    def check(self, value: Any) -> Monomials:
        return _minimal(super().check(value))


def _minimal(monomials: Iterable[Monomial]) -> Monomials:
    return frozenset(minimal(monomials, _divides, lambda monomial: sum(n for _, n in monomial)))


def _divides(a: Monomial, b: Monomial) -> bool:
    exponents = dict(b)
    return all(exponents.get(token, 0) >= n for token, n in a)
