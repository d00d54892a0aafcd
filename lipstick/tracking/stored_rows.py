"""Rows of local Parquet files, read without Spark as Spark reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.base import Array

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

_BATCH: Final = 32_768
"""Rows of a file that are read together."""
_DAY: Final = 86_400_000_000
_CALENDAR: Final = -25_202
"""The day, 1901-01-01, from which on Spark reads moments as every file has them."""


def stored_rows(
    file: ParquetFile, schema: pa.Schema, keys: pa.Table | None = None
) -> pa.Table | None:
    """Return rows of a file in a schema; None where Spark reads them, or may read other values.

    Parameters
    ----------
    keys
        Columns of the file by their names: only rows are read that have a value of each of them.
        None: all rows are.

    Raises
    ------
    pyarrow.ArrowException, KeyError, OSError
        Where the file cannot be read, or has not these columns.
    """
    stored = {file.schema.column(n).physical_type for n in range(len(file.schema))}
    if "INT96" in stored or any(pa.types.is_nested(kind) for kind in schema.types):
        return None
    rows = None if keys is None else _with_keys(file.read(keys.column_names), keys)
    if rows is not None and not len(rows):
        return schema.empty_table()
    table = file.read(schema.names) if rows is None else _taken(file, schema.names, rows)
    given = [table.schema.field(name).type for name in schema.names]
    if not all(map(_is_read_as, given, schema.types)):
        return None
    table = valid(table.select(schema.names), schema)
    return None if any(map(_is_early, table.columns)) else table


def _taken(file: ParquetFile, names: Sequence[str], rows: Array) -> pa.Table:
    """Return columns of some rows, and read no row after the last of them."""
    found, start = list[pa.RecordBatch](), 0
    for batch in file.iter_batches(_BATCH, columns=names):
        inside = rows[(rows >= start) & (rows < start + batch.num_rows)]
        found.append(batch.take(pa.array(inside - start)))
        start += batch.num_rows
        if start > rows[-1]:
            break
    return pa.Table.from_batches(found)


def _with_keys(columns: pa.Table, keys: pa.Table) -> Array:
    """Return the numbers of the rows that have a value of each column of keys, ascending."""
    names = keys.column_names
    each = (pc.is_in(columns.column(name), value_set=keys.column(name)) for name in names)
    found: Array = pc.indices_nonzero(reduce(pc.and_, each)).to_numpy().astype(np.int64)
    return found


def valid(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table in the types of a schema, whose texts are UTF-8; else raise Arrow's error."""
    table.validate(full=True)
    return table.cast(schema)


def _is_read_as(stored: pa.DataType, kind: pa.DataType) -> bool:
    """Return True unless Arrow makes other values of a stored type than Spark does.

    Instants are no local times, and bytes, such as these of a UUID, are no texts.
    """
    if pa.types.is_string(kind):
        texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)
        return any(is_text(stored) for is_text in texts)
    if not pa.types.is_timestamp(kind):
        return not pa.types.is_timestamp(stored)
    return pa.types.is_timestamp(stored) and (stored.tz is None) == (kind.tz is None)


def _is_early(column: pa.ChunkedArray) -> bool:
    """Return True if a column has moments of a time when calendars of files differ."""
    days = pa.types.is_date(column.type)
    if not days and not pa.types.is_timestamp(column.type):
        return False
    first = pc.min(column).value
    return first is not None and first < _CALENDAR * (1 if days else _DAY)
