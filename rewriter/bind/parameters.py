"""Parameters: their markers become literals of the type Spark gives the Python value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import bracketed
from rewriter.dialect import SparkSQL, literal_of, name_identifiers
from rewriter.errors import QueryError
from rewriter.position import Span, keyword_spans, span_at

Arguments: TypeAlias = Mapping[str, object] | Sequence[object] | None

_PLACE = "_place_"
_TYPES = "int, float, Decimal, str, bool, None, date, datetime and bytes"

_LIST = "Give the values in order, as many as there are markers."
_DICT = "Give the values by name."


def substitute(
    expression: exp.Query, args: Arguments, *, sql: str = "", timestamp_ntz: bool = False
) -> exp.Query:
    """Return a query with literals in place of ``:name`` and ``?``.

    ``IDENTIFIER`` of a literal is then a name.

    Parameters
    ----------
    expression
        The parsed query, which is left as it is.
    args
        Values by name for ``:name``, in order for ``?``; an expression stands for itself.
    sql
        The text, for the place in errors.
    timestamp_ntz
        Whether the session's ``spark.sql.timestampType`` is TIMESTAMP_NTZ, which is then the type
        of a datetime without a time zone. It is TIMESTAMP otherwise, at the local time zone of
        this process, as in ``pyspark.sql.functions.lit``.

    Raises
    ------
    QueryError
        A marker has no value, or a value has a type that has no literal.
    """
    expression = expression.copy()
    markers = list(expression.find_all(exp.Placeholder))
    named = {marker.name: None for marker in markers if marker.this}
    positional = [marker for marker in markers if not marker.this]
    if isinstance(args, Mapping):
        values = dict(args)
        if positional:
            raise QueryError("a parameter ? needs args to be a list", _LIST, sql, _question(sql, 0))
    else:
        if named and args is not None:
            raise QueryError("a parameter :name needs args to be a dict", _DICT, sql, None)
        values = _by_place(expression, positional, list(args or ()), sql)
    for marker in markers:
        span = _named_span(marker, sql)
        if marker.name not in values:
            problem = f"parameter {marker.sql(dialect=SparkSQL)} has no value"
            raise QueryError(problem, "Give its value in args.", sql, span)
        literal = _literal(marker.name, values[marker.name], sql, span, ntz=timestamp_ntz)
        marker.replace(literal)
    name_identifiers(expression)
    return expression


def _by_place(
    expression: exp.Query, markers: list[exp.Placeholder], values: list[object], sql: str
) -> dict[str, object]:
    """Name the markers ``?`` by their place in the text, and return the values by these names.

    The parser gives them no position; their order in the emitted text is that in the user's.
    """
    for number, marker in enumerate(markers):
        marker.set("this", f"{_PLACE}{number}")
    order = re.findall(rf":{_PLACE}(\d+)", expression.sql(dialect=SparkSQL))
    named = {f"{_PLACE}{number}": index for index, number in enumerate(order)}
    if len(values) < len(markers):
        problem = f"the query has {len(markers)} parameters ?, args {len(values)} values"
        raise QueryError(problem, _LIST, sql, _question(sql, len(values)))
    if markers and sql.split(None, 1)[:1] and sql.split(None, 1)[0].upper() == "FROM":
        advice = "Name the parameters: :name."
        raise QueryError("parameters ? in a query that starts with FROM", advice, sql, None)
    return {name: values[index] for name, index in named.items()}


def _literal(name: str, value: object, sql: str, span: Span | None, *, ntz: bool) -> exp.Expr:
    if isinstance(value, exp.Expr):
        return bracketed(value.copy())
    literal = literal_of(value, ntz=ntz)
    if literal is not None:
        return literal
    shown = name.removeprefix(_PLACE)
    kind = type(value)
    label = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    problem = f"parameter {shown} has type {label}, or a value out of range, which has no literal"
    raise QueryError(problem, f"Give a value of one of the types {_TYPES}.", sql, span)


def _named_span(marker: exp.Expr, sql: str) -> Span | None:
    """Return the place of a marker ``:name``, which the parser gives no position."""
    size = len(marker.name)
    for colon in keyword_spans(sql, ":"):
        if sql[colon.end : colon.end + size] == marker.name:
            return span_at(sql, colon.start, colon.end + size)
    return None


def _question(sql: str, number: int) -> Span | None:
    spans = list(keyword_spans(sql, "?"))
    return spans[number] if number < len(spans) else None
