"""Literals of a text, expressions that literals replace, and literals of values of Python.

Spark's plans do not show the types of literals, so the texts are compared by them. Functions of the
moment, and LIMIT and OFFSET of constant expressions, are found here and replaced by their values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TypeVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from rewriter.dialect.nodes import TypedLiteral
from rewriter.dialect.sparksql import emit, tokenize
from rewriter.dialect.typed_literals import LITERAL_TYPES, STRINGS, SUFFIXES

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


_WORDS = (TokenType.NULL, TokenType.TRUE, TokenType.FALSE)
_PREFIXES = (*LITERAL_TYPES, "INTERVAL")

_NO_LITERAL_AFTER = (TokenType.DOT, TokenType.IS, TokenType.ALIAS)
"""Before a word that is not a literal but part of a name or a predicate."""


def literals(sql: str) -> Counter[tuple[str, str]]:
    """Count the literals of a text by type and value; adjacent strings are one.

    A plan prints ``1``, ``1L`` and ``'1'`` alike. Two texts of one meaning have the same literals.
    """
    written: list[tuple[str, str]] = []
    before: Token | None = None
    for token in tokenize(sql):
        kind = token.token_type
        previous = before.token_type if before else None
        if kind in STRINGS and previous in STRINGS:
            written[-1] = (written[-1][0], written[-1][1] + token.text)
        elif kind in STRINGS:
            prefix = before.text.upper() if before else ""
            written.append((prefix if prefix in _PREFIXES else "STRING", token.text))
        elif kind == TokenType.NUMBER:
            written.append(("NUMBER", token.text))
        elif previous == TokenType.DCOLON and token.text.upper() in SUFFIXES:
            written[-1] = (token.text.upper(), written[-1][1])
        elif kind == TokenType.HEX_STRING:
            written.append(("BINARY", token.text.upper()))
        elif kind in _WORDS and previous not in _NO_LITERAL_AFTER:
            written.append((token.text.upper(), ""))
        if not (previous == TokenType.IS and kind == TokenType.NOT):
            before = token
    return Counter(written)


_TIMESTAMP = "date_format(current_timestamp(), \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\")"
_DATE = "CAST(current_date() AS STRING)"

VALUE_OF = {
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
    return {name: VALUE_OF[name][1] for _, name in _calls(expression)}


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
        if name in VALUE_OF:
            yield node, name


def _literal(call: exp.Expr, name: str, value: str) -> exp.Expr:
    mark = VALUE_OF[name][0]
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


# -- values of Python --------------------------------------------------------------------------

_BIGINT = range(-(2**63), 2**63)
_WIDEST_DECIMAL = 38


def literal_of(value: object, *, ntz: bool) -> exp.Expr | None:
    """Return the literal of the type Spark gives a Python value; None if there is none.

    Parameters
    ----------
    ntz
        A datetime without a time zone is a TIMESTAMP_NTZ; else it is a TIMESTAMP, at the local
        time zone of this process.
    """
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int() if value in _BIGINT:
            literal: exp.Expr = exp.Literal.number(abs(value))
            return exp.Paren(this=exp.Neg(this=literal)) if value < 0 else literal
        case float():
            return _cast(repr(float(value)), "DOUBLE")
        case Decimal() if value.is_finite() and decimal_width(value)[0] <= _WIDEST_DECIMAL:
            precision, scale = decimal_width(value)
            return _cast(format(value, "f"), f"DECIMAL({precision}, {scale})")
        case str():
            return exp.Literal.string(value)
        case bytes() | bytearray():
            return exp.HexString(this=value.hex().upper())
        case datetime() if ntz and value.tzinfo is None:
            return _cast(value.isoformat(" "), "TIMESTAMP_NTZ")
        case datetime():
            instant = value.astimezone(UTC).replace(tzinfo=None)
            return _cast(f"{instant.isoformat(' ')} UTC", "TIMESTAMP")
        case date():
            return _cast(value.isoformat(), "DATE")
    return None


def decimal_width(value: Decimal) -> tuple[int, int]:
    """Return the precision and scale of Spark's type for a finite decimal."""
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)  # finite
    scale = max(0, -exponent)
    return max(len(digits) + max(0, exponent), scale, 1), scale


def _cast(text: str, kind: str) -> exp.Cast:
    to = exp.DataType.build(kind, dialect="spark")
    return exp.Cast(this=exp.Literal.string(text), to=to)
