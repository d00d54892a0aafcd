"""LIMIT and OFFSET of constant expressions: finding them, and putting numbers in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlglot import exp

from rewriter.dialect.sparksql import emit

E = TypeVar("E", bound=exp.Expr)


def computed_bounds(expression: exp.Expr) -> list[str]:
    """Return Spark SQL for each LIMIT and OFFSET that is an expression, in order.

    Spark has seen that they are constant.
    """
    return [emit(clause.expression, pretty=False) for clause in _computed(expression)]


def with_bounds(expression: E, values: Sequence[int]) -> E:
    """Return a copy with numbers in the place of :func:`computed_bounds`."""
    copy = expression.copy()
    for clause, value in zip(list(_computed(copy)), values, strict=True):
        clause.set("expression", exp.Literal.number(value))
    return copy


def _computed(expression: exp.Expr) -> Iterator[exp.Expr]:
    for clause in expression.find_all(exp.Limit, exp.Offset):
        bound = clause.expression
        if not isinstance(bound, exp.Literal | exp.Placeholder | exp.Var):
            yield clause
