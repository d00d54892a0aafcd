"""Scalar expressions of a plan, and the attributes they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

Scalar: TypeAlias = exp.Expr
"""A scalar expression whose columns are attribute ids."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of an operator's output: an identity for the plan and a name for the user."""

    id: str
    name: str

    def column(self) -> exp.Column:
        """Return a fresh reference to this attribute."""
        return column(self.id)


def column(attribute_id: str) -> exp.Column:
    """Return a fresh reference to the attribute with this id."""
    return exp.Column(this=exp.to_identifier(attribute_id, quoted=True))


def references(scalar: Scalar) -> Iterator[str]:
    """Yield the ids of the attributes that a scalar expression mentions, in order of appearance."""
    for node in scalar.find_all(exp.Column):
        yield node.name


def conjuncts(scalar: Scalar | None) -> list[Scalar]:
    """Split a predicate at its ANDs."""
    if scalar is None:
        return []
    scalar = scalar.unnest()
    if isinstance(scalar, exp.And):
        return conjuncts(scalar.left) + conjuncts(scalar.right)
    return [scalar]


def bracketed(scalar: Scalar) -> Scalar:
    """Return the expression in brackets if it needs them as the operand of another."""
    return exp.Paren(this=scalar) if is_compound(scalar) else scalar


def is_known(scalar: Scalar) -> exp.Expr:
    """Return the condition that a scalar is not NULL."""
    return exp.Not(this=exp.Is(this=bracketed(scalar.copy()), expression=exp.null()))


def is_compound(scalar: Scalar) -> bool:
    """Tell whether the text of an expression falls apart when an operator is put beside it."""
    if isinstance(scalar, exp.Dot | exp.Paren):
        return False
    return isinstance(scalar, exp.Binary | exp.Unary | exp.Between | exp.In | exp.Interval)
