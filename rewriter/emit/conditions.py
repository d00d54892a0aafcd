"""Conditions on single columns as Spark SQL, for generated predicates."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from rewriter.dialect import emit, literal_of

_COMPARISONS = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "like": exp.Like,
}


def equality_sql(column: str, value: Any) -> str:
    """Return ``column = value``, or ``column IS NULL`` for None."""
    named = _column(column)
    if value is None:
        return _sql(exp.Is(this=named, expression=exp.null()))
    if isinstance(value, bool):
        return _sql(named if value else exp.Not(this=named))
    return _sql(exp.EQ(this=named, expression=literal(value)))


def range_sql(column: str, least: Any, most: Any) -> str:
    """Return ``least <= column AND column <= most``, without a bound that is None."""
    bounds: list[exp.Expr] = []
    if least is not None:
        bounds.append(exp.GTE(this=_column(column), expression=literal(least)))
    if most is not None:
        bounds.append(exp.LTE(this=_column(column), expression=literal(most)))
    return _sql(exp.and_(*bounds))


def membership_sql(column: str, relation: str, key: str, *, negated: bool) -> str:
    """Return ``column IN (SELECT key FROM relation)``, or its negation with EXISTS' meaning."""
    inner = exp.select(_column(key)).from_(exp.to_table(relation, dialect="spark"))
    found: exp.Expr = exp.In(this=_column(column), query=exp.Subquery(this=inner))
    return _sql(exp.Not(this=found) if negated else found)


def comparison_sql(column: str, op: str, values: Sequence[Any]) -> str:
    """Return a comparison of a column.

    Parameters
    ----------
    op
        One of ``= <> < <= > >= like``, with one value; or ``in``, with any number.
    """
    named = _column(column)
    if op == "in":
        return _sql(exp.In(this=named, expressions=[literal(value) for value in values]))
    return _sql(_COMPARISONS[op](this=named, expression=literal(values[0])))


def conjunction_sql(conditions: Sequence[str]) -> str:
    """Return the conjunction of conditions from the functions above."""
    return " AND ".join(conditions)


def _column(name: str) -> exp.Column:
    return exp.column(name, quoted=True)


def literal(value: Any) -> exp.Expr:
    """Return a value as a literal of exactly its type and value.

    Raises
    ------
    TypeError
        For values of types without literals.
    """
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return exp.Literal.number(f"{value:f}" if isinstance(value, Decimal) else value)
    known = literal_of(value, ntz=True)
    if known is None:
        raise TypeError(f"{type(value).__name__} has no literal")
    return known


def _sql(condition: exp.Expr) -> str:
    return emit(condition, pretty=False)
