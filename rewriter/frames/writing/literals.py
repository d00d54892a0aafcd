"""Types as Spark writes them in JSON, and literals of a plan, as Spark SQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlglot import exp

from rewriter.dialect import SparkSQL
from rewriter.dialect.nodes import TypedLiteral
from rewriter.frames.writing.selects import unsupported

_NAMES = {
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
}


def sql_type(document: Any) -> exp.DataType:
    """Return the type that ``DataType.jsonValue`` describes."""
    return exp.DataType.build(text(document), dialect=SparkSQL)


def cast(value: exp.Expr, to: exp.DataType, *, tried: bool) -> exp.Expr:
    """Return CAST, or TRY_CAST, of a value."""
    return exp.TryCast(this=value, to=to, safe=True) if tried else exp.Cast(this=value, to=to)


def has_required_parts(document: Any) -> bool:
    """Return True if a type has parts that are never NULL, which CAST cannot always express."""
    if isinstance(document, str):
        return False
    inner = [document.get(name) for name in ("elementType", "keyType", "valueType")]
    parts = [part for part in inner if part is not None]
    parts += [field["type"] for field in document.get("fields", ())]
    never = (document.get("containsNull"), document.get("valueContainsNull"))
    return False in never or any(map(has_required_parts, parts))


def text(document: Any) -> str:
    """Return the type that ``DataType.jsonValue`` describes, as text."""
    if isinstance(document, str):
        if document.startswith(("geography(", "geometry(")):
            kind, _, reference = document.partition("(SRID:")
            return f"{kind.upper()}({reference.rstrip(')').partition(',')[0]})"
        return _NAMES.get(document, document.upper())
    match document["type"]:
        case "array":
            return f"ARRAY<{text(document['elementType'])}>"
        case "map":
            return f"MAP<{text(document['keyType'])}, {text(document['valueType'])}>"
        case "struct":
            return f"STRUCT<{', '.join(map(_field, document['fields']))}>"
    return str(document.get("class") or document["type"])


def _field(field: dict[str, Any]) -> str:
    name = field["name"].replace("`", "``")
    required = "" if field.get("nullable", True) else " NOT NULL"
    return f"`{name}`: {text(field['type'])}{required}"


_EPOCH = datetime(1970, 1, 1)
_SUFFIXES = {"byte": "Y", "short": "S", "long": "L", "double": "D", "float": "F"}
_PREFIXES = {"date": "DATE", "timestamp": "TIMESTAMP_LTZ"}
_NUMBERS = ("NaN", "Infinity", "-Infinity")


def literal(value: object, type_: Any) -> exp.Expr:
    """Return the expression of a literal: of its value and of its type.

    Raises
    ------
    UnsupportedError
        For values that a plan's JSON does not show: of arrays, structs, maps, variants and binary.
    """
    if value is None:
        null = exp.Null()
        return null if type_ == "void" else exp.Cast(this=null, to=sql_type(type_))
    if isinstance(type_, str):
        for known, write in _WRITERS.items():
            if _is(type_, known):
                return write(str(value), type_)
    raise unsupported(f"a literal of type {sql_type(type_).sql(dialect='spark')} has no text")


def has_text(type_: Any) -> bool:
    """Return True if the value of a literal of a type stands in a plan as text."""
    return isinstance(type_, str) and any(map(partial(_is, type_), _WRITERS))


def _is(type_: str, known: str) -> bool:
    return type_ == known or (known[-1] in " (" and type_.startswith(known))


def _number(value: str, type_: str) -> exp.Expr:
    if value in _NUMBERS:
        return exp.Cast(this=exp.Literal.string(value), to=sql_type(type_))
    number: exp.Expr = exp.Literal.number(value.removeprefix("-"))
    if type_ in _SUFFIXES:
        number = TypedLiteral(this=number, to=sql_type(type_), suffix=_SUFFIXES[type_])
    return exp.Neg(this=number) if value.startswith("-") else number


def _decimal(value: str, type_: str) -> exp.Expr:
    digits = exp.Literal.number(value.removeprefix("-"))
    number: exp.Expr = TypedLiteral(this=digits, to=sql_type(type_), suffix="BD")
    if value.startswith("-"):
        number = exp.Neg(this=number)
    whole, _, fraction = value.removeprefix("-").partition(".")
    precision = max(len(whole.lstrip("0")) + len(fraction), 1)
    if type_ == f"decimal({max(precision, len(fraction))},{len(fraction)})":
        return number
    return exp.Cast(this=number, to=sql_type(type_))


def _string(value: str, type_: str) -> exp.Expr:
    return exp.Literal.string(value)


def _boolean(value: str, type_: str) -> exp.Expr:
    return exp.Boolean(this=value == "true")


def _moment(value: str, type_: str) -> exp.Expr:
    return _typed(_PREFIXES[type_], value, type_)


def _timestamp_ntz(value: str, type_: str) -> exp.Expr:
    moment = _EPOCH + timedelta(microseconds=int(value))
    return _typed("TIMESTAMP_NTZ", moment.isoformat(sep=" ", timespec="microseconds"), type_)


def _typed(prefix: str, value: str, type_: str) -> exp.Expr:
    return TypedLiteral(this=exp.Literal.string(value), to=sql_type(type_), prefix=prefix)


def _day_time(value: str, type_: str) -> exp.Expr:
    sign, rest = ("-" if value.startswith("-") else ""), abs(int(value))
    seconds, micros = divmod(rest, 1_000_000)
    days, seconds = divmod(seconds, 86_400)
    text = f"{sign}{days} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return _interval(f"{text}.{micros:06}", "DAY", "SECOND", type_)


def _year_month(value: str, type_: str) -> exp.Expr:
    sign, months = ("-" if value.startswith("-") else ""), abs(int(value))
    return _interval(f"{sign}{months // 12}-{months % 12}", "YEAR", "MONTH", type_)


def _interval(value: str, first: str, last: str, type_: str) -> exp.Expr:
    span = exp.IntervalSpan(this=exp.var(first), expression=exp.var(last))
    interval = exp.Interval(this=exp.Literal.string(value), unit=span)
    if type_ == f"interval {first} to {last}".lower():
        return interval
    return exp.Cast(this=interval, to=sql_type(type_))


_Writer = Callable[[str, Any], exp.Expr]

_WRITERS: dict[str, _Writer] = {
    "integer": _number,
    **dict.fromkeys(_SUFFIXES, _number),
    "decimal(": _decimal,
    "string": _string,
    "boolean": _boolean,
    **dict.fromkeys(_PREFIXES, _moment),
    "timestamp_ntz": _timestamp_ntz,
    "interval year": _year_month,
    "interval year to month": _year_month,
    "interval month": _year_month,
    "interval ": _day_time,
}
"""Type, or the beginning of it: how its values are written."""
