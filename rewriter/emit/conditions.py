"""Conditions on columns, and on scalars over them, as Spark SQL, for generated predicates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


_FUNCTIONS: dict[str, Callable[..., exp.Expr]] = {
    "length": exp.Length,
    "year": exp.Year,
    "month": exp.Month,
    "weekday": exp.DayOfWeek,
    "hour": exp.Hour,
    "date": lambda this: exp.cast(this, exp.DType.DATE),
}


@dataclass(frozen=True, slots=True)
class Operand:
    """The left side of a condition: a column, a field of a struct, or a function of such a value.

    Attributes
    ----------
    path
        The column, and the names of fields in it.
    function
        One of ``length year month weekday hour date``; weekdays count from Sunday, 1. None: the
        value.
    """

    path: tuple[str, ...]
    function: str | None = None

    def scalar(self) -> exp.Expr:
        """Return the operand as a tree."""
        named: exp.Expr = _column(self.path[0])
        for name in self.path[1:]:
            named = exp.Dot(this=named, expression=exp.to_identifier(name, quoted=True))
        return named if self.function is None else _FUNCTIONS[self.function](this=named)


def _named(operand: str | Operand) -> exp.Expr:
    return _column(operand) if isinstance(operand, str) else operand.scalar()


def equality_sql(column: str | Operand, value: Any) -> str:
    """Return ``column = value``, or ``column IS NULL`` for None."""
    named = _named(column)
    if value is None:
        return _sql(exp.Is(this=named, expression=exp.null()))
    if isinstance(value, bool):
        return _sql(named if value else exp.Not(this=named))
    return _sql(exp.EQ(this=named, expression=literal(value)))


def range_sql(column: str | Operand, least: Any, most: Any) -> str:
    """Return ``least <= column AND column <= most``, without a bound that is None."""
    bounds: list[exp.Expr] = []
    if least is not None:
        bounds.append(exp.GTE(this=_named(column), expression=literal(least)))
    if most is not None:
        bounds.append(exp.LTE(this=_named(column), expression=literal(most)))
    return _sql(exp.and_(*bounds))


def membership_sql(column: str, relation: str, key: str, *, negated: bool) -> str:
    """Return ``column IN (SELECT key FROM relation)``, or its negation with EXISTS' meaning."""
    inner = exp.select(_column(key)).from_(exp.to_table(relation, dialect="spark"))
    found: exp.Expr = exp.In(this=_column(column), query=exp.Subquery(this=inner))
    return _sql(exp.Not(this=found) if negated else found)


def prefix_sql(column: str | Operand, prefix: str) -> str:
    """Return ``startswith(column, prefix)``."""
    return _sql(exp.StartsWith(this=_named(column), expression=exp.Literal.string(prefix)))


def columns_sql(left: str | Operand, op: str, right: str | Operand) -> str:
    """Return a comparison of two columns by ``=``, ``<`` or ``>``."""
    return _sql(_COMPARISONS[op](this=_named(left), expression=_named(right)))


def comparison_sql(column: str | Operand, op: str, values: Sequence[Any]) -> str:
    """Return a comparison of a column.

    Parameters
    ----------
    op
        One of ``= <> < <= > >= like``, with one value; or ``in``, with any number.
    """
    named = _named(column)
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
