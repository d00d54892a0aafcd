"""Formulas: annotations as text, with names for tuples that the user chooses.

Carrier: symbolic annotations. Source: the formula semiring of Senellart, Jachiet, Maniu, Ramusat,
*ProvSQL: Provenance and Probability Management in PostgreSQL*, PVLDB 11(12), 2018.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semiring.encodings.derivations import Terms
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings.expressions import Annotation, Expressions
from semiring.token import Token


class Name(Token):
    """A token that is written as just its name."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__("name", (name,))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Name, self.key)

    def __str__(self) -> str:
        return str(self.key[0])


class Formula(Expressions):
    """The derivation of a tuple as a formula: `Expressions` whose values may be any names.

    A token is itself by default. The laws hold up to evaluation in any semiring. Columns of
    formulas are texts, multiplied out up to δ and ⊖.
    """

    name = "Formula"
    flat = False
    """x·x and x are different formulas."""

    def check(self, value: Any) -> Annotation:
        if isinstance(value, str):
            return Polynomial.token(Name(value))
        return super().check(value)

    def terms(self, value: Annotation) -> Terms:
        """Return an element as a sum of monomials; an element with δ or ⊖ becomes one named
        factor.
        """
        if isinstance(value, Expression):
            if not value.is_polynomial:
                return [(((Name(value.truncated(None)), 1),), 1)]
            value = value.to_polynomial()
        return value.terms

    def tokens_in(self, value: Annotation) -> Iterator[Token]:
        """Return the tokens of an element's monomials, with repetitions."""
        return (token for monomial, _ in self.terms(value) for token, _ in monomial)

    def render(self, value: Expression | Polynomial) -> str:
        return str(value)
