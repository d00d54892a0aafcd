"""Formulas: annotations as text, with tuples under names of the user's.

Carrier: symbolic annotations. Source: the formula semiring of Senellart, Jachiet, Maniu, Ramusat,
*ProvSQL: Provenance and Probability Management in PostgreSQL*, PVLDB 11(12), 2018.
"""

from __future__ import annotations

from typing import Any

from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings.expressions import Annotation, Expressions
from semiring.token import Token


class Name(Token):
    """A token that is written as its name alone."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__("name", (name,))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Name, self.key)

    def __str__(self) -> str:
        return str(self.key[0])


class Formula(Expressions):
    """How a tuple came about, written out: `Expressions` in which a value may be any name.

    A token is itself unless told. The laws hold up to evaluation in any semiring.
    """

    name = "Formula"

    def check(self, value: Any) -> Annotation:
        if isinstance(value, str):
            return Polynomial.token(Name(value))
        return super().check(value)

    def render(self, value: Expression | Polynomial) -> str:
        return str(value)
