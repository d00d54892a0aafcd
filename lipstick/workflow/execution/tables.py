"""Relations as Arrow tables: read from inputs and files, checked, and sorted.

Files on this machine are read without Spark and without guessing types.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, NullType, StructField, StructType

from lipstick.capture.documents import named_class
from lipstick.engines.memory.keys import distinct
from lipstick.tracking.source import read_source
from lipstick.workflow.definition.module import Relation
from lipstick.workflow.errors import WorkflowError
from semiring.arrays.arrow import decoded, whole
from semiring.base import Array
from semiring.token import format_value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SUFFIXES = (".parquet", ".csv", ".json")


def read_table(path: Path) -> pa.Table | list[Any]:
    """Read the rows of a file: typed Parquet, CSV as text, JSON as a list of rows or by line.

    Text is converted to the declared type of its column: ``007`` in a string column is not a
    number.

    Raises
    ------
    WorkflowError
        For a file that cannot be read, and for other kinds of files.
    """
    if path.suffix not in SUFFIXES:
        raise WorkflowError(
            f"{path} is not a table.\nGive a file that ends in {', '.join(SUFFIXES)}."
        )
    try:
        if path.suffix == ".parquet":
            return pq.read_table(path)
        if path.suffix == ".csv":
            return _csv(path)
        return _json(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise WorkflowError(f"{path} cannot be read: {error}") from error


def _csv(path: Path) -> pa.Table:
    """Read a CSV file with a header, every column as text; empty unquoted fields are NULL."""
    with pa.csv.open_csv(path) as file:
        names = file.schema.names
    return pa.csv.read_csv(
        path,
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _json(path: Path) -> list[Any]:
    """Read a list of rows, or a row on every line."""
    text = path.read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    rows = json.loads(text)
    if not isinstance(rows, list):
        raise WorkflowError(f"{path} has {rows!r}, and not a list of rows.")
    return rows


_SHOWN = 3

_structs: dict[str, StructType] = {}


def column_texts(schema: StructType) -> tuple[str, ...]:
    """Return the name and type of every column, as users write them."""
    return tuple(f"{field.name.lower()} {field.dataType.simpleString()}" for field in schema.fields)


def struct_of(relation: Relation) -> StructType:
    """Return a relation's columns as Spark types; Spark parses every text once."""
    if relation.ddl not in _structs:
        _structs[relation.ddl] = plain_struct(cast(StructType, StructType.fromDDL(relation.ddl)))
    return _structs[relation.ddl]


def remember_structs(structs: Mapping[str, Any]) -> None:
    """Restore Spark's parsed types from a record, so that Spark is not needed to parse them."""
    for ddl, document in structs.items():
        name = named_class(document)
        if name is not None:
            raise WorkflowError(
                f"The store has values of the class {name}, whose code would be run to read them.\n"
                "lipstick stores none: ask whoever made the store for one that it wrote."
            )
        _structs.setdefault(ddl, StructType.fromJson(document))


def plain_struct(schema: StructType) -> StructType:
    """Return a schema with nullable columns, without metadata, of types that Parquet supports."""
    return StructType(
        [
            StructField(
                field.name,
                BooleanType() if isinstance(field.dataType, NullType) else field.dataType,
            )
            for field in schema.fields
        ]
    )


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table's columns, by position, with the names and types of a schema.

    Raises
    ------
    pyarrow.ArrowException, ValueError
        When a value does not fit.
    """
    columns = [
        decoded(whole(column)).cast(field.type)
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def take(table: pa.Table, rows: Array) -> pa.Table:
    """Return some rows of a table."""
    return table.take(pa.array(rows, pa.int64()))


# -- what users give ---------------------------------------------------------------------------


def as_table(
    spark: SparkSession, given: Any, relation: Relation, schema: pa.Schema, where: str
) -> pa.Table:
    """Return a user's rows as a table of a relation.

    Parameters
    ----------
    given
        A data frame, an Arrow table, a list of tuples or of mappings, or the path of a file.
    where
        The purpose of the rows, for messages.

    Raises
    ------
    WorkflowError
        For other things, other columns, or values that do not fit.
    """
    if isinstance(given, str | os.PathLike):
        given = _read(spark, os.fspath(given))
    if isinstance(given, DataFrame):
        given = given.toArrow()
    try:
        if isinstance(given, pa.Table):
            return conform(_by_name(given, relation, where), schema)
        if isinstance(given, Sequence) and not isinstance(given, str | bytes):
            return _of_rows(given, relation, schema, where)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise WorkflowError(
            f"{where}: the rows do not fit the columns {relation.ddl}: {error}"
        ) from error
    raise WorkflowError(
        f"{where} is a {type(given).__name__}.\nGive a data frame, an Arrow table, a list of "
        "tuples or of dicts, or the path of a file."
    )


def _read(spark: SparkSession, path: str) -> Any:
    """Read a local file, or files where Spark finds them; columns of CSV as text."""
    local = Path(path)
    if local.is_file() and local.suffix in SUFFIXES:
        return read_table(local)
    return read_source(spark, path, options={"inferSchema": "false"}).frame


def _by_name(table: pa.Table, relation: Relation, where: str) -> pa.Table:
    names = {name.lower(): name for name in table.column_names}
    missing = [name for name in relation.names if name.lower() not in names]
    if missing or len(table.column_names) != len(relation.names):
        raise WorkflowError(
            f"{where} has the columns {', '.join(table.column_names)}.\n"
            f"It should have: {', '.join(relation.names)}."
        )
    return table.select([names[name.lower()] for name in relation.names])


def _of_rows(rows: Sequence[Any], relation: Relation, schema: pa.Schema, where: str) -> pa.Table:
    if all(isinstance(row, Mapping) for row in rows):
        unknown = sorted({str(name) for row in rows for name in row} - set(relation.names))
        if unknown:
            raise WorkflowError(
                f"{where} has no column {unknown[0]!r}.\n"
                f"Its columns are: {', '.join(relation.names)}."
            )
        return pa.Table.from_pylist([dict(row) for row in rows], schema=schema)
    width = len(relation.names)
    for row in rows:
        if not isinstance(row, Sequence) or isinstance(row, str | bytes) or len(row) != width:
            raise WorkflowError(
                f"{where}: {row!r} is not a row of {width} values ({', '.join(relation.names)})."
            )
    columns = [
        pa.array([row[index] for row in rows], field.type) for index, field in enumerate(schema)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


# -- keys and order ----------------------------------------------------------------------------


def check_key(table: pa.Table, key: Sequence[str], where: str, advice: str) -> None:
    """Check that a key is unique and never NULL.

    Raises
    ------
    WorkflowError
        Naming some of the tuples.
    """
    if not key or not table.num_rows:
        return
    columns = [whole(table.column(name)) for name in key]
    for name, column in zip(key, columns, strict=True):
        if column.null_count:
            raise WorkflowError(
                f"{where} has {column.null_count} tuples with NULL in its key {name}."
            )
    codes, first = distinct(columns, table.num_rows)
    if len(first) == table.num_rows:
        return
    twice = np.flatnonzero(np.bincount(codes) > 1)[:_SHOWN]
    shown = "; ".join(
        ", ".join(format_value(column[int(row)].as_py()) for column in columns)
        for row in first[twice]
    )
    raise WorkflowError(
        f"{where} has several tuples of one key ({', '.join(key)}): {shown}.\n{advice}"
    )


def is_key(table: pa.Table, key: Sequence[str]) -> bool:
    """Return True if a table has the key columns, and they are unique and never NULL."""
    if not set(key) <= set(table.column_names):
        return False
    columns = [whole(table.column(name)) for name in key]
    if any(column.null_count for column in columns):
        return False
    _, first = distinct(columns, table.num_rows)
    return bool(len(first) == table.num_rows)


def stable_order(table: pa.Table, key: Sequence[str]) -> Array:
    """Return the rows sorted by their key, then by all sortable columns.

    Spark returns tuples in any order; the stored tables do not depend on it.
    """
    if table.num_rows < 2:
        return np.arange(table.num_rows, dtype=np.int64)
    names = list(dict.fromkeys([*key, *table.column_names]))
    columns, used = [], []
    for number, name in enumerate(names):
        kind = table.schema.field(name).type
        if pa.types.is_nested(kind) or pa.types.is_null(kind):
            continue
        columns.append(table.column(name))
        used.append(f"c{number}")
    if not used:
        return np.arange(table.num_rows, dtype=np.int64)
    sortable = pa.Table.from_arrays(columns, names=used)
    indices = pc.sort_indices(sortable, sort_keys=[(name, "ascending") for name in used])
    return cast("Array", indices.to_numpy().astype(np.int64))
