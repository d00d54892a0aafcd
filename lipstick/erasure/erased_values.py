"""The values of erased rows that no other row has: what a leftover is known by."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    DecimalType,
    IntegralType,
    MapType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from lipstick.erasure.tables import PlannedTable
from lipstick.erasure.value_search import DISTINCTIVE, ErasedValues
from lipstick.tracking.views import column_of, quoted_name
from rewriter.statements import Bags
from semiring.errors import LipstickError

SHORTEST = 3
"""Texts of fewer characters are not searched for."""
MOST_ROWS = 10_000
"""Rows of a source whose values are searched for, at most."""
_DATES = (DateType, TimestampType, TimestampNTZType)


@dataclass(frozen=True, slots=True)
class FlatColumn:
    """A column without nesting, or such a part of a column with nesting.

    Attributes
    ----------
    name
        The names of the column and of the fields within it, with points between them.
    values
        An array of the values that a row has.
    """

    name: str
    kind: DataType
    values: Column


def leaves(schema: StructType) -> Iterator[FlatColumn]:
    """Yield the columns without nesting that the columns of a table consist of."""
    for field in schema:
        for name, kind, values in _parts(field.name, field.dataType):
            yield FlatColumn(name, kind, values(column_of(field.name)))


def _parts(name: str, kind: DataType) -> Iterator[tuple[str, DataType, Callable[[Column], Column]]]:
    """Yield the leaves of a type, each with the function from a column to an array of values."""
    if isinstance(kind, StructType):
        for field in kind:
            for path, leaf, values in _parts(f"{name}.{field.name}", field.dataType):
                yield path, leaf, _of(values, lambda column, f=field.name: column.getField(f))  # type: ignore[misc]
    elif isinstance(kind, ArrayType):
        for path, leaf, values in _parts(name, kind.elementType):
            yield path, leaf, _of_each(values, lambda column: column)
    elif isinstance(kind, MapType):
        for part, read in ((kind.keyType, F.map_keys), (kind.valueType, F.map_values)):
            for path, leaf, values in _parts(name, part):
                yield path, leaf, _of_each(values, read)
    elif isinstance(kind, TimestampType):
        yield name, kind, lambda column: F.array(F.unix_micros(column))
    else:
        yield name, kind, _alone


def _alone(column: Column) -> Column:
    """Return an array of one value; `F.array` itself is no function that `transform` takes."""
    return F.array(column)


def _of(
    values: Callable[[Column], Column], part: Callable[[Column], Column]
) -> Callable[[Column], Column]:
    return lambda column: values(part(column))


def _of_each(
    values: Callable[[Column], Column], read: Callable[[Column], Column]
) -> Callable[[Column], Column]:
    return lambda column: F.flatten(F.transform(read(column), values))


def values_to_search(
    spark: SparkSession,
    tables: Sequence[PlannedTable],
    differences: Mapping[str, Bags],
    identify: Mapping[str, Sequence[str]],
) -> tuple[list[ErasedValues], list[str]]:
    """Return the values that erased rows alone have, and all others by column, with reasons."""
    found: list[ErasedValues] = []
    skipped: list[str] = []
    for table in tables:
        bags = differences[table.name]
        if table.predicate is None or bags.gone is None:
            continue
        real, gone = spark.table(bags.real), spark.table(bags.gone)
        rest = real.where(f"NOT coalesce({table.predicate}, FALSE)")
        searched = []
        for leaf in _known(table, real.schema, identify.get(table.name)):
            reason = _reason(table, leaf, identify.get(table.name))
            if reason is None:
                searched.append(leaf)
            else:
                skipped.append(f"{table.name}.{leaf.name}: {reason}")
        for leaf, values in _of_erased_alone(table.name, gone, rest, searched):
            column = f"{table.name}.{leaf.name}"
            in_column = isinstance(leaf.kind, _DATES)
            shown = {_shown(value, leaf.kind) for value in values}
            wanted = [v for v in shown if isinstance(v, int) or (v and len(v) >= SHORTEST)]
            if None in shown:
                skipped.append(f"{column}: values of type binary that are no text")
            if len(wanted) < len(shown - {None}):
                skipped.append(f"{column}: texts of less than {SHORTEST} characters")
            small = any(isinstance(value, int) and abs(value) < DISTINCTIVE for value in wanted)
            if wanted and (small or in_column):
                what = "dates and times" if in_column else f"numbers below {DISTINCTIVE:,}"
                skipped.append(f"{column}: {what}, but for columns of this name")
            if wanted:
                values_of = tuple(sorted(wanted, key=str))
                found.append(ErasedValues(table.name, leaf.name, values_of, in_column))
    return found, skipped


def _known(
    table: PlannedTable, schema: StructType, identify: Sequence[str] | None
) -> list[FlatColumn]:
    """Return the leaves of a table, whose columns to search by are among them."""
    known = list(leaves(schema))
    for column in identify or ():
        if not any(_within(leaf, column) for leaf in known):
            raise LipstickError(f"{table.name!r} has no column {column!r} to search by.")
    return known


def _within(leaf: FlatColumn, column: str) -> bool:
    return leaf.name == column or leaf.name.startswith(f"{column}.")


def _reason(table: PlannedTable, leaf: FlatColumn, identify: Sequence[str] | None) -> str | None:
    """Return why values of a leaf are not searched for; None: they are."""
    if identify is not None and not any(_within(leaf, column) for column in identify):
        return "it is not among the columns to search by"
    if isinstance(leaf.kind, (StringType, BinaryType, *_DATES)):
        return None
    if not _is_number(leaf.kind):
        return f"values of type {leaf.kind.simpleString()}"
    if identify is None and not _identifies(table, leaf):
        return "numbers of a column that neither the key nor the condition names"
    return None


def _is_number(kind: DataType) -> bool:
    whole = isinstance(kind, DecimalType) and kind.scale == 0
    return isinstance(kind, IntegralType) or whole


def _shown(value: Any, kind: DataType) -> str | int | None:
    """Return a value as it is searched for; None: bytes that are no text."""
    if isinstance(kind, TimestampType):
        return str(datetime(1970, 1, 1) + timedelta(microseconds=value))
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    return int(value) if _is_number(kind) else str(value)


def _of_erased_alone(
    name: str, gone: DataFrame, rest: DataFrame, searched: Sequence[FlatColumn]
) -> Iterator[tuple[FlatColumn, set[Any]]]:
    """Yield by leaf the values that erased rows have and no other row has."""
    columns = [leaf.values.alias(f"c{n}") for n, leaf in enumerate(searched)]
    rows = gone.select(*columns).distinct().limit(MOST_ROWS + 1).collect() if columns else []
    if len(rows) > MOST_ROWS:
        raise LipstickError(
            f"More than {MOST_ROWS:,} rows of {name!r} with values to search for are erased.\n"
            "Erase them in parts, or search by fewer columns, identify={...}."
        )
    values = [_distinct(row[n] for row in rows) for n in range(len(columns))]
    of_others = [
        F.collect_set(F.filter(leaf.values, _is_among(own))).alias(f"c{n}")
        if own
        else F.array().alias(f"c{n}")
        for n, (leaf, own) in enumerate(zip(searched, values, strict=True))
    ]
    shared = rest.agg(*of_others).head() if of_others else None
    for n, (leaf, own) in enumerate(zip(searched, values, strict=True)):
        yield leaf, own - _distinct(shared[n] if shared else ())


def _is_among(values: Collection[Any]) -> Callable[[Column], Column]:
    return lambda value: value.isin(*values)


def _distinct(arrays: Iterable[Any]) -> set[Any]:
    """Return the values of arrays, NULL left out."""
    return {
        bytes(value) if isinstance(value, bytearray) else value
        for array in arrays
        for value in array or ()
        if value is not None
    }


def _identifies(table: PlannedTable, leaf: FlatColumn) -> bool:
    """Return True for numbers that the key has or the predicate names."""
    predicate = (table.predicate or "").lower()
    words = set(re.findall(r"\w+", predicate))
    top, *_, last = [*leaf.name.split("."), leaf.name.rpartition(".")[2]]
    named = last.lower() in words or quoted_name([last]).lower() in predicate
    return top in table.key or named
