"""B[X]: polynomials with Boolean coefficients: the derivations, without multiplicities.

Carrier: finite sets of monomials. Source: Green, *Containment of Conjunctive Queries on Annotated
Relations*, ICDT 2009, section 3.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import pyarrow as pa

from semiring.encodings.derivations import Derivations, Terms
from semiring.encodings.quotients import Quotient
from semiring.encodings.texts import polynomials
from semiring.monomials import Monomial, multiply
from semiring.polynomial import Polynomial
from semiring.semirings.polynomials import Polynomials
from semiring.token import Token

Monomials: TypeAlias = frozenset[Monomial]

_POLYNOMIALS = Polynomials()


class BooleanPolynomials(Quotient[Monomials]):
    """Derivations: (finite sets of monomials, ∪, pairwise ·, ∅, {1}). A token is {x} by default.

    Polynomials, without their coefficients, and tokens are values, too. The natural order is ⊆, so
    a ⊖ b = a \\ b.
    """

    name = "BooleanPolynomials"
    idempotent = True
    has_monus = True
    capabilities = frozenset({"MIN", "MAX"})
    zero: Monomials = frozenset()
    one: Monomials = frozenset(((),))

    def plus(self, a: Monomials, b: Monomials) -> Monomials:
        return a | b

    def times(self, a: Monomials, b: Monomials) -> Monomials:
        return frozenset(multiply(x, y) for x in a for y in b)

    def monus(self, a: Monomials, b: Monomials) -> Monomials:
        return a - b

    def sum(self, values: Iterable[Monomials]) -> Monomials:
        return frozenset().union(*values)

    def default(self, token: Token) -> Monomials:
        return frozenset((((token, 1),),))

    def check(self, value: Any) -> Monomials:
        if isinstance(value, frozenset) and all(_is_monomial(item) for item in value):
            return value
        return frozenset(monomial for monomial, _ in _POLYNOMIALS.check(value).terms)

    def terms(self, value: Monomials) -> Terms:
        return ((monomial, 1) for monomial in value)

    def write(self, derivations: Derivations) -> pa.Array:
        return polynomials(derivations)

    def render(self, value: Monomials) -> str:
        return str(Polynomial(dict.fromkeys(value, 1)))


def _is_monomial(item: Any) -> bool:
    return isinstance(item, tuple) and all(
        isinstance(factor, tuple)
        and len(factor) == 2
        and isinstance(factor[0], Token)
        and isinstance(factor[1], int)
        and factor[1] > 0
        for factor in item
    )
