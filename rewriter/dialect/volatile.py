"""Functions of the moment of the query: finding them, and putting their values in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from sqlglot import exp

from rewriter.dialect.nodes import TypedLiteral

E = TypeVar("E", bound=exp.Expr)

_TIMESTAMP = "date_format(current_timestamp(), \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\")"
_DATE = "CAST(current_date() AS STRING)"

_VALUE_OF = {
    "curdate": ("DATE", _DATE),
    "current_date": ("DATE", _DATE),
    "current_time": ("TIME", "CAST(current_time() AS STRING)"),
    "current_timestamp": ("TIMESTAMP_LTZ", _TIMESTAMP),
    "localtime": ("TIME", "CAST(current_time() AS STRING)"),
    "localtimestamp": ("TIMESTAMP_NTZ", "CAST(localtimestamp() AS STRING)"),
    "now": ("TIMESTAMP_LTZ", _TIMESTAMP),
    "unix_timestamp": ("L", "CAST(unix_timestamp() AS STRING)"),
}
"""Function: the prefix or suffix of its value as a literal, and Spark SQL for the value's text."""

_TIMES = ("current_time", "localtime")
"""Functions of the moment that take a precision."""

_NODES: dict[type[exp.Expr], str] = {
    exp.CurrentDate: "current_date",
    exp.CurrentTime: "current_time",
    exp.CurrentTimestamp: "current_timestamp",
}


def volatile_calls(expression: exp.Expr) -> dict[str, str]:
    """Return, for each function of the moment in a tree, Spark SQL for its value as text."""
    return {name: _VALUE_OF[name][1] for _, name in _calls(expression)}


def with_literals(expression: E, values: Mapping[str, str]) -> E:
    """Return a copy with every function of the moment replaced by a typed literal.

    ``values`` maps the names of :func:`volatile_calls` to the text of their values. A call that is
    a column of its own keeps its name. ``current_user`` and ``current_timezone`` belong to the
    session, not to the moment, and stay. The root of the tree is a query, not a call.
    """
    copy = expression.copy()
    for call, name in list(_calls(copy)):
        literal = _literal(call, name, values[name])
        if isinstance(call.parent, exp.Select) and call.arg_key == "expressions":
            literal = exp.alias_(literal, _column_name(call, name), quoted=True)
        call.replace(literal)
    return copy


def _calls(expression: exp.Expr) -> Iterator[tuple[exp.Expr, str]]:
    for node in expression.walk():
        name = _NODES.get(type(node))
        if name is None and isinstance(node, exp.Anonymous):
            name = node.name.lower()
            if len(node.expressions) > (name in _TIMES):
                continue
        if name in _VALUE_OF:
            yield node, name


def _literal(call: exp.Expr, name: str, value: str) -> exp.Expr:
    mark = _VALUE_OF[name][0]
    if mark == "L":
        return TypedLiteral(
            this=exp.Literal.number(value), to=exp.DataType.build("bigint"), suffix="L"
        )
    literal = TypedLiteral(
        this=exp.Literal.string(value), to=exp.DataType.build(mark, dialect="spark"), prefix=mark
    )
    if name in _TIMES and call.expressions and call.expressions[0].name != "6":
        precision = call.expressions[0].name
        return exp.Cast(this=literal, to=exp.DataType.build(f"time({precision})"))
    return literal


def _column_name(call: exp.Expr, name: str) -> str:
    if name == "unix_timestamp":
        return "unix_timestamp(current_timestamp(), yyyy-MM-dd HH:mm:ss)"
    if name in _TIMES:
        return f"current_time({call.expressions[0].name if call.expressions else 6})"
    return "current_date()" if name == "curdate" else f"{name}()"
