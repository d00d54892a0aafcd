"""Operators of SQL by the classes of their trees, and types that compare without loss.

``=`` converts its operands to a common type. Where that loses something, several values of one
side are equal to one of the other ('1' and '01' to 1), and grouping one side by its own values is
not grouping it by the values it is compared with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.dialect import SparkSQL
from rewriter.position import Span

COMPARISONS: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
"""Comparisons that are NULL where a side is."""

AGGREGATES: Mapping[type[exp.Expr], str] = {
    exp.Sum: "SUM",
    exp.Count: "COUNT",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.Avg: "AVG",
}
"""Aggregates that have classes of their own."""

Conversions = Mapping[Span, Mapping[int, str]]
"""Types to convert both sides of comparisons to: by the place of the operator that compares, and
the number of the comparison there."""

_DIGITS: Mapping[str, int] = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_FLOATING = ("float", "double")
_EXACT_IN_DOUBLE = 15
_MOST_DIGITS = 38


def compared_exactly(outer: str, inner: str) -> bool:
    """Return True if no value of the outer type equals two different values of the inner type.

    Parameters
    ----------
    outer, inner
        Types as Spark writes them: ``int``, ``decimal(10,2)``, ``array<string>``. False where it
        is not known.
    """
    if outer == inner or "void" in (outer, inner):
        return True
    if inner in _FLOATING:
        return outer in _FLOATING or _decimal(outer) is not None
    known = _decimal(inner)
    if known is not None:
        return _decimal_compared_exactly(outer, *known)
    if inner == "date":
        return outer in ("timestamp", "timestamp_ntz", "string")
    return outer == "string" and inner in ("boolean", "timestamp", "timestamp_ntz", "binary")


def cast_to(scalar: Scalar, name: str) -> Scalar:
    """Return a value converted to a type, which is written as Spark does."""
    return exp.Cast(this=scalar.copy(), to=exp.DataType.build(name, dialect=SparkSQL))


def _decimal_compared_exactly(outer: str, precision: int, scale: int) -> bool:
    if outer == "string":
        return scale == 0
    if outer in _FLOATING:
        return precision <= _EXACT_IN_DOUBLE
    other = _decimal(outer)
    if other is None:
        return False
    return max(precision - scale, other[0] - other[1]) + max(scale, other[1]) <= _MOST_DIGITS


def _decimal(name: str) -> tuple[int, int] | None:
    """Return precision and scale of an exact number."""
    if name in _DIGITS:
        return _DIGITS[name], 0
    digits = re.fullmatch(r"decimal\((\d+),(\d+)\)", name)
    return (int(digits[1]), int(digits[2])) if digits else None
