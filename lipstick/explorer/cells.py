"""Values of tables as JSON has them, and back.

A cell is text, or None where the value is NULL: numbers and decimals are exact that way, and a page
shows them without reading them. Text is cut, so that no answer is larger than it may be.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from lipstick.explorer.errors import ExploreError
from semiring.arrays.arrow import decoded
from semiring.base import Array

LONGEST = 400
"""Characters of a cell at most."""

_OFFSET = r"\d(Z|[+-]\d\d:\d\d)$"


def cell(value: Any, longest: int | None = LONGEST) -> str | None:
    """A value as text; None is NULL.

    Parameters
    ----------
    longest
        Characters at most; None: all of them.
    """
    if value is None:
        return None
    text = _text(value)
    return text if longest is None or len(text) <= longest else text[: longest - 1] + "…"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime) and value.tzinfo is not None:
        # The page is there before anything is opened: only instants need it.
        from rewriter.interpret import on_clock

        return on_clock(value).isoformat(" ")
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=_text)
    return str(value)


def _zone() -> str | None:
    """Return the session's time zone; None: it is not known."""
    from rewriter.interpret import UninterpretableError, time_zone

    try:
        return time_zone()
    except UninterpretableError:
        return None


def plain_value(value: Any) -> Any:
    """Return a plain value for JSON: digits of exact numbers, doubles, texts, or another's cell."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return {"e": str(value)}
    if isinstance(value, Decimal) and value.is_finite():
        return {"e": format(value, "f")}
    if isinstance(value, float):
        return {"d": {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, repr(value))}
    dated = type(value) is date or (isinstance(value, datetime) and value.tzinfo is None)
    return {"k": type(value).__name__ if dated else "other", "v": cell(value)}


def json_text(document: Any, **options: Any) -> str:
    """Return a document as JSON, which has no NaN and no infinities: they are texts, as in Spark.

    ``options``: see :func:`json.dumps`.
    """
    return json.dumps(_finite(document), ensure_ascii=False, allow_nan=False, **options)


def _finite(value: Any) -> Any:
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case Mapping():
            return {name: _finite(each) for name, each in value.items()}
        case list() | tuple():
            return [_finite(each) for each in value]
    return value


def number(value: Any) -> float | None:
    """A value as a number to draw; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return None
    finite = float(value)
    return finite if math.isfinite(finite) else None


def cells(table: pa.Table, longest: int | None = LONGEST) -> list[list[str | None]]:
    """The rows of a small table as cells."""
    columns = [[cell(value, longest) for value in column.to_pylist()] for column in table.columns]
    return [list(row) for row in zip(*columns, strict=True)]


_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?(\d[\d,]*)?(\.\d+)?([eE][+-]?\d+)?( %)?$"


def csv_bytes(table: pa.Table) -> bytes:
    """Return a table as CSV; values of other types are texts.

    Texts that a spreadsheet would compute get an apostrophe: they begin with ``=``, ``+``, ``-`` or
    ``@``, and are no numbers.
    """
    if any(kind(field.type) == "other" for field in table.schema):
        rows = cells(table, None)
        columns = list(zip(*rows, strict=True)) or [()] * table.num_columns
        arrays = [pa.array(column, pa.string()) for column in columns]
        table = pa.Table.from_arrays(arrays, names=table.column_names)
    safe = [_safe(c) if kind(c.type) == "text" else c for c in table.columns]
    names = _safe(pa.array(table.column_names, pa.string())).to_pylist()
    out = io.BytesIO()
    pyarrow.csv.write_csv(pa.Table.from_arrays(safe, names=names), out)
    return out.getvalue()


def _safe(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    texts = decoded(texts)
    computed = pc.match_substring_regex(texts, _FORMULA)
    computed = pc.and_(computed, pc.invert(pc.match_substring_regex(texts, _NUMBER)))
    return pc.if_else(computed, pc.binary_join_element_wise("'", texts, ""), texts)


def kind(type_: pa.DataType) -> str:
    """Return the kind of a type: ``number``, ``text``, ``time``, ``truth`` or ``other``.

    Values of the first four can be sorted and compared.
    """
    if isinstance(type_, pa.DictionaryType):
        return kind(type_.value_type)
    tests = (
        ("number", (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)),
        ("text", (pa.types.is_string, pa.types.is_large_string)),
        ("time", (pa.types.is_temporal,)),
        ("truth", (pa.types.is_boolean,)),
    )
    return next((name for name, of in tests if any(test(type_) for test in of)), "other")


_SQL = {
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.large_string(): "STRING",
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
    pa.binary(): "BINARY",
}


def sql_type(type_: pa.DataType) -> str:
    """Return the name of a type in SQL."""
    if isinstance(type_, pa.DictionaryType):
        return sql_type(type_.value_type)
    if pa.types.is_decimal(type_):
        return f"DECIMAL({type_.precision},{type_.scale})"
    if pa.types.is_timestamp(type_):
        return "TIMESTAMP" if type_.tz else "TIMESTAMP_NTZ"
    if pa.types.is_list(type_):
        return f"ARRAY<{sql_type(type_.value_type)}>"
    return _SQL.get(type_, str(type_).upper())


def columns(schema: pa.Schema) -> list[dict[str, str]]:
    """The columns of a table: ``name``, ``type`` and ``kind`` of each."""
    return [{"name": f.name, "type": sql_type(f.type), "kind": kind(f.type)} for f in schema]


def parsed(texts: Sequence[str | None], type_: pa.DataType) -> pa.Array:
    """Cells as values of a type: the inverse of `cell`, for what keys are made of.

    Times without an offset are read by the session's clock.

    Raises
    ------
    ExploreError
        Where a text is not a value of the type.
    """
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        try:
            return pa.array([None if t is None else bytes.fromhex(t) for t in texts], type_)
        except ValueError as error:
            raise _unreadable(texts, type_) from error
    try:
        given = pa.array(list(texts), pa.string())
        if not pa.types.is_timestamp(type_) or type_.tz is None:
            return given.cast(type_)
        exact = pc.match_substring_regex(given, _OFFSET)
        local = pc.if_else(exact, None, given).cast(pa.timestamp("us"))
        chosen = {"ambiguous": "earliest", "nonexistent": "latest"}
        shown = pc.assume_timezone(local, _zone() or "UTC", **chosen).cast(type_)
        return pc.coalesce(pc.if_else(exact, given, None).cast(type_), shown)
    except pa.ArrowException as error:
        raise _unreadable(texts, type_) from error


def _unreadable(texts: Sequence[str | None], type_: pa.DataType) -> ExploreError:
    shown = ", ".join("NULL" if text is None else repr(text) for text in list(texts)[:3])
    return ExploreError(f"These are not values of the type {sql_type(type_)}: {shown}.")


def text_ranks(column: pa.ChunkedArray, text: str) -> Array:
    """Return per value 0 if it is a text, 1 if it begins with it, 2 if it has it, else 9.

    The text is in lower case; the case of values does not matter. Nested values have rank 9.
    """
    column = decoded(column)
    if kind(column.type) == "other":
        return np.full(len(column), 9, dtype=np.int64)
    if kind(column.type) != "text":
        from rewriter.interpret import on_clocks

        column = on_clocks(column).cast(pa.string())
    column = column.combine_chunks()
    has = np.asarray(pc.fill_null(pc.match_substring(column, text, ignore_case=True), False))
    ranks = np.where(has, 2, 9)
    places = np.flatnonzero(has)
    lowered = pc.utf8_lower(column.take(pa.array(places)))
    ranks[places[np.asarray(pc.starts_with(lowered, text), dtype=np.bool_)]] = 1
    ranks[places[np.asarray(pc.equal(lowered, text), dtype=np.bool_)]] = 0
    return ranks
