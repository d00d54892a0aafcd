"""The values of erased rows that no other row has: what a leftover is known by."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DecimalType, IntegralType, StringType, StructType

from lipstick.erasure.tables import PlannedTable
from lipstick.erasure.value_search import DISTINCTIVE, ErasedValues
from lipstick.errors import ErasureError
from lipstick.tracking.views import column_of, quoted_name
from rewriter.statements import Bags

SHORTEST = 3
"""Texts of fewer characters are not searched for."""
MOST_ROWS = 10_000
"""Rows of a source whose values are searched for, at most."""


def values_to_search(
    spark: SparkSession,
    tables: Sequence[PlannedTable],
    differences: Mapping[str, Bags],
    identify: Mapping[str, Sequence[str]],
) -> tuple[list[ErasedValues], list[str]]:
    """Return the values that erased rows alone have, and columns whose values are not searched."""
    found: list[ErasedValues] = []
    skipped: list[str] = []
    for table in tables:
        bags = differences[table.name]
        if table.predicate is None or bags.gone is None:
            continue
        real, gone = spark.table(bags.real), spark.table(bags.gone)
        rest = real.where(f"NOT coalesce({table.predicate}, FALSE)")
        kinds = {field.name: field.dataType for field in real.schema}
        columns = []
        for column in identify.get(table.name) or _identifying(table, real.schema):
            if column not in kinds:
                raise ErasureError(f"{table.name!r} has no column {column!r} to search by.")
            if _is_number(kinds[column]) or isinstance(kinds[column], StringType):
                columns.append(column)
            else:
                kind = kinds[column].simpleString()
                skipped.append(f"{table.name}.{column}: values of type {kind}")
        for column, values in _of_erased_alone(table.name, gone, rest, columns).items():
            wanted = [v for v in values if not isinstance(v, str) or len(v) >= SHORTEST]
            if len(wanted) < len(values):
                skipped.append(f"{table.name}.{column}: texts of less than {SHORTEST} characters")
            if any(isinstance(value, int) and abs(value) < DISTINCTIVE for value in wanted):
                skipped.append(
                    f"{table.name}.{column}: numbers below {DISTINCTIVE:,}, but for columns of "
                    "this name"
                )
            if wanted:
                found.append(ErasedValues(table.name, column, tuple(sorted(wanted, key=str))))
    return found, skipped


def _is_number(kind: DataType) -> bool:
    whole = isinstance(kind, DecimalType) and kind.scale == 0
    return isinstance(kind, IntegralType) or whole


def _of_erased_alone(
    name: str, gone: DataFrame, rest: DataFrame, columns: Sequence[str]
) -> dict[str, set[str | int]]:
    """Return by column the values that erased rows have and no other row has."""
    cells = [column_of(column) for column in columns]
    rows = gone.select(*cells).distinct().limit(MOST_ROWS + 1).collect() if columns else []
    if len(rows) > MOST_ROWS:
        raise ErasureError(
            f"More than {MOST_ROWS:,} rows of {name!r} with values to search for are erased.\n"
            "Erase them in parts, or search by fewer columns, identify={...}."
        )
    values = [{row[n] for row in rows if row[n] is not None} for n in range(len(columns))]
    of_others = [
        F.collect_set(F.when(cell.isin(*own), cell) if own else F.lit(None)).alias(f"c{n}")
        for n, (cell, own) in enumerate(zip(cells, values, strict=True))
    ]
    shared = rest.agg(*of_others).head() if of_others else None
    return {
        column: {
            v if isinstance(v, str) else int(v) for v in own - set(shared[n] if shared else ())
        }
        for n, (column, own) in enumerate(zip(columns, values, strict=True))
    }


def _identifying(table: PlannedTable, schema: StructType) -> list[str]:
    """Return the key, the columns that the predicate names, and all texts."""
    predicate = (table.predicate or "").lower()
    words = set(re.findall(r"\w+", predicate))

    def named(column: str) -> bool:
        return column.lower() in words or quoted_name([column]).lower() in predicate

    return [
        field.name
        for field in schema
        if field.name in table.key or named(field.name) or isinstance(field.dataType, StringType)
    ]
