"""Tables of few values as JSON: there, what Arrow says of a table is longer than the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

_MOST = 512
"""Values of a table that travels as JSON, at most."""

_MOST_TOGETHER = 1 << 16
"""Values of all tables of a message that travel as JSON, at most."""

_TYPES = {
    str(each): each
    for each in (
        pa.int8(),
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.uint8(),
        pa.uint16(),
        pa.uint32(),
        pa.uint64(),
        pa.string(),
    )
}


def small_tables(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables of a message that travel as JSON: few values, all integers or texts, none NULL."""
    small = {}
    left = _MOST_TOGETHER
    for name, table in tables.items():
        if _is_small(table) and left >= table.num_columns * table.num_rows:
            small[name] = table
            left -= table.num_columns * table.num_rows
    return small


def _is_small(table: pa.Table) -> bool:
    return (
        0 < table.num_columns * max(1, table.num_rows) <= _MOST
        and all(str(column.type) in _TYPES for column in table.columns)
        and not any(column.null_count for column in table.columns)
        and len(set(table.column_names)) == table.num_columns
    )


def texts_of_table(table: pa.Table) -> dict[str, Any]:
    """By column, its type and its values."""
    return {
        name: [str(column.type), column.to_pylist()]
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def table_of_texts(columns: Any) -> pa.Table:
    """The inverse of `texts_of_table`.

    Raises
    ------
    ValueError
        What is no table.
    """
    try:
        arrays = {
            name: pa.array([_plain(value) for value in values], _TYPES[kind])
            for name, (kind, values) in columns.items()
        }
        return pa.table(arrays)
    except (AttributeError, KeyError, TypeError, OverflowError, pa.ArrowException) as error:
        raise ValueError(f"no table: {error!r}") from error


def _plain(value: Any) -> int | str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError("a value that is neither an integer nor a text")
    return value
