"""Which columns of a table the columns of an answer go to, and what the others are filled with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NullType,
    ShortType,
    StructField,
    StructType,
)

from lipstick.errors import TrackingError
from rewriter.dialect import Into

FILLED = "_lipstick_filled"
"""The column, a struct, of what columns of a table are filled with that a query gives no values."""

_VARCHAR = "__CHAR_VARCHAR_TYPE_STRING"
_DEFAULT = "CURRENT_DEFAULT"
_DIGITS: Mapping[type[DataType], int] = {ByteType: 3, ShortType: 5, IntegerType: 10, LongType: 20}
"""The integer types, from the shortest, and how many digits values have."""


def goals(
    name: str, into: Into, answer: StructType, table: StructType, *, fills: bool
) -> tuple[str, ...]:
    """Return the columns of a table that those of an answer go to.

    Parameters
    ----------
    name
        That of the table.
    fills
        Columns may be left out where the statement says which it gives, or takes them by name.

    Raises
    ------
    TrackingError
        When a column is not there, or is of a type whose values another one need not have.
    """
    if into.by_name:
        called: Sequence[str] = answer.names
    elif into.columns is not None:
        called = into.columns
    else:
        filled = {column.lower() for column in into.static}
        called = [column for column in table.names if column.lower() not in filled]
    wanted = table.names if into.by_name and not fills else called
    if len(answer) != len(wanted):
        listed = f"{len(wanted)} columns of {name!r} are listed"
        there = listed if into.columns is not None else f"{name!r} has {len(wanted)} columns"
        raise TrackingError(f"{there}, the answer has {len(answer)}.")
    places = {field.name.lower(): field for field in table}
    fields = [_goal(name, column, places, table) for column in called]
    for field, given in zip(fields, answer, strict=True):
        _check_type(name, field, given)
    if len({field.name for field in fields}) != len(fields):
        raise TrackingError("The answer has two columns of one name.\nName them apart: AS.")
    for column, _ in into.partition:
        _goal(name, column, places, table)
    return tuple(field.name for field in fields)


def _goal(name: str, column: str, places: dict[str, StructField], table: StructType) -> StructField:
    field = places.get(column.lower())
    if field is None:
        known = ", ".join(table.names)
        raise TrackingError(f"{name!r} has no column {column}.\nIts columns are: {known}.")
    return field


def _check_type(name: str, field: StructField, given: StructField) -> None:
    if isinstance(given.dataType, NullType):
        return
    wanted = field.metadata.get(_VARCHAR, field.dataType.simpleString())
    actual = given.metadata.get(_VARCHAR, given.dataType.simpleString())
    wider = _VARCHAR not in field.metadata and _holds(field.dataType, given.dataType)
    if wanted != actual and not wider:
        raise TrackingError(
            f"The column {field.name} of {name!r} is {wanted}, the answer's is {actual}: values "
            "could change when they are written.\n"
            f"Convert them in the query: CAST(... AS {field.dataType.simpleString()})."
        )


def _holds(wide: DataType, narrow: DataType) -> bool:
    """Tell whether a type has all values of another one, so that Spark writes them as they are."""
    kinds = list(_DIGITS)
    if type(wide) in kinds and type(narrow) in kinds:
        return kinds.index(type(narrow)) <= kinds.index(type(wide))
    if isinstance(wide, DecimalType):
        if isinstance(narrow, DecimalType):
            whole = wide.precision - wide.scale >= narrow.precision - narrow.scale
            return whole and wide.scale >= narrow.scale
        return _DIGITS.get(type(narrow), 39) <= wide.precision - wide.scale
    return isinstance(wide, DoubleType) and isinstance(narrow, FloatType)


def written_as(value: Column, given: DataType, field: StructField) -> Column:
    """Return a value as the table has it."""
    same = given.simpleString() == field.dataType.simpleString()
    return value if same else value.cast(field.dataType)


def filling(
    spark: SparkSession, into: Into, given: Sequence[str], table: StructType
) -> DataFrame | None:
    """Return one row of what the columns that no values are given to are filled with.

    The values of PARTITION, else the columns' defaults, else NULL; evaluated once.
    """
    values = {name.lower(): value for name, value in into.static.items()}
    rest = [field for field in table if field.name not in given]
    if not rest:
        return None
    columns = []
    for field in rest:
        text = values.get(field.name.lower()) or field.metadata.get(_DEFAULT) or "NULL"
        value = F.expr(text).cast(field.dataType)
        padded = re.fullmatch(r"char\((\d+)\)", field.metadata.get(_VARCHAR, ""))
        if padded is not None:
            value = F.rpad(value, int(padded[1]), " ")
        columns.append(value.alias(field.name))
    return spark.range(1).select(F.struct(*columns).alias(FILLED))
