"""Bags of rows: exact comparison of everything but floating point, whatever made the rows.

A row is split into its exact part and its finite floating-point numbers. Rows with different exact
parts are different; among rows with equal exact parts the numbers are paired within a tolerance.
No rounding takes place, so two values never differ for lying on two sides of a rounding step.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row: TypeAlias = tuple[Any, ...]

RELATIVE = 1e-9
ABSOLUTE = 1e-9
SHOWN = 8
_MATCHED_EXHAUSTIVELY = 2_000


@dataclass(frozen=True, slots=True)
class Bag:
    """Rows in the order they came, their column names (repeats allowed) and type names."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[Row, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def without(self, column: str) -> Bag:
        """Return the bag without its last column of that name.

        Raises
        ------
        ValueError
            If no column has that name.
        """
        at = len(self.columns) - 1 - self.columns[::-1].index(column)
        return Bag(
            self.columns[:at] + self.columns[at + 1 :],
            self.types[:at] + self.types[at + 1 :],
            tuple(row[:at] + row[at + 1 :] for row in self.rows),
        )


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One item of ORDER BY over an output column, given by position."""

    position: int
    descending: bool = False
    nulls_first: bool = True


def from_spark(frame: DataFrame) -> Bag:
    """Run a DataFrame (one action) and return its rows."""
    schema = frame.schema
    rows = tuple(tuple(normal(value) for value in row) for row in frame.collect())
    types = tuple(field.dataType.simpleString() for field in schema.fields)
    return Bag(tuple(field.name for field in schema.fields), types, rows)


def from_arrow(table: pa.Table) -> Bag:
    """Return the rows of an Arrow table."""
    columns = [
        [arrow_value(value, field.type) for value in _numbered(table.column(index)).to_pylist()]
        for index, field in enumerate(table.schema)
    ]
    types = tuple(arrow_type_name(field.type) for field in table.schema)
    rows = tuple(zip(*columns, strict=True)) if columns else ((),) * table.num_rows
    return Bag(tuple(table.schema.names), types, rows)


def _numbered(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a struct column with numbers for field names: Python's rows cannot repeat a name."""
    if not pa.types.is_struct(column.type):
        return column
    fields = [column.type.field(number) for number in range(column.type.num_fields)]
    named = [field.with_name(f"_{number}") for number, field in enumerate(fields)]
    chunks = [
        pa.StructArray.from_arrays(
            [chunk.field(number) for number in range(len(named))],
            fields=named,
            mask=chunk.is_null(),
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, type=pa.struct(named))


def bag_of(source: Any) -> Bag:
    """Return the rows of a Spark DataFrame, an Arrow table or a bag."""
    if isinstance(source, Bag):
        return source
    if isinstance(source, pa.Table):
        return from_arrow(source)
    return from_spark(source)


def normal(value: Any) -> Any:
    """Return a value as tuples, lists, bytes and scalars; a map as a tuple of sorted pairs.

    A variant is the tuple of its parts, as Arrow has it.
    """
    if isinstance(value, tuple):
        return tuple(normal(item) for item in value)
    if isinstance(value, list):
        return [normal(item) for item in value]
    if isinstance(value, dict):
        pairs = [(normal(key), normal(item)) for key, item in value.items()]
        return ("map", *sorted(pairs, key=repr))
    if isinstance(value, bytearray | memoryview):
        return bytes(value)
    if type(value).__name__ == "VariantVal":  # by its name: there may be no PySpark here
        return (bytes(value.value), bytes(value.metadata))
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone().replace(tzinfo=None)
    return value


def arrow_value(value: Any, kind: pa.DataType) -> Any:
    """Return a value as Arrow hands it to Python, of a type, as rows have it."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        fields = [kind.field(index) for index in range(kind.num_fields)]
        items = value.values() if isinstance(value, dict) else value
        pairs = zip(items, fields, strict=True)
        return tuple(arrow_value(item, field.type) for item, field in pairs)
    if pa.types.is_map(kind):
        return normal(
            {
                _hashable(arrow_value(k, kind.key_type)): arrow_value(v, kind.item_type)
                for k, v in value
            }
        )
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [arrow_value(item, kind.value_type) for item in value]
    return normal(value)


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


_ARROW_NAMES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "boolean"),
    (pa.types.is_int8, "tinyint"),
    (pa.types.is_int16, "smallint"),
    (pa.types.is_int32, "int"),
    (pa.types.is_int64, "bigint"),
    (pa.types.is_float32, "float"),
    (pa.types.is_float64, "double"),
    (pa.types.is_string, "string"),
    (pa.types.is_large_string, "string"),
    (pa.types.is_string_view, "string"),
    (pa.types.is_binary, "binary"),
    (pa.types.is_large_binary, "binary"),
    (pa.types.is_date32, "date"),
    (pa.types.is_null, "void"),
)


def arrow_type_name(kind: pa.DataType) -> str:
    """Return Spark's name for an Arrow type."""
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_dictionary(kind):
        return arrow_type_name(kind.value_type)
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if pa.types.is_struct(kind):
        fields = [kind.field(index) for index in range(kind.num_fields)]
        inner = ",".join(f"{field.name}:{arrow_type_name(field.type)}" for field in fields)
        return f"struct<{inner}>"
    if pa.types.is_map(kind):
        return f"map<{arrow_type_name(kind.key_type)},{arrow_type_name(kind.item_type)}>"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"array<{arrow_type_name(kind.value_type)}>"
    return next((name for test, name in _ARROW_NAMES if test(kind)), str(kind))


def split(row: Row) -> tuple[Row, tuple[float, ...]]:
    """Return a hashable exact part and the finite floating-point numbers, in order."""
    numbers: list[float] = []
    return tuple(_split(value, numbers) for value in row), tuple(numbers)


def _split(value: Any, numbers: list[float]) -> Any:
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return ("float", "NaN" if math.isnan(value) else value)
        numbers.append(value + 0.0)
        return ("float",)
    if isinstance(value, tuple | list):
        return (type(value).__name__, *(_split(item, numbers) for item in value))
    # The type keeps True from 1 and 1 from Decimal(1), which Python calls equal.
    return value if value is None or isinstance(value, str) else (type(value).__name__, value)


def close(left: Sequence[float], right: Sequence[float]) -> bool:
    """Return whether two vectors of finite numbers are equal within the tolerance."""
    return all(
        math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        for a, b in zip(left, right, strict=True)
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """What one bag has and the other has not, with multiplicity."""

    missing: tuple[Row, ...]
    unexpected: tuple[Row, ...]

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected)

    def __str__(self) -> str:
        return "\n".join(
            [*_listed("missing", self.missing), *_listed("unexpected", self.unexpected)]
        )


def _listed(title: str, rows: Sequence[Row]) -> list[str]:
    shown = [f"    {row!r}" for row in sorted(rows, key=repr)[:SHOWN]]
    more = [f"    ... and {len(rows) - SHOWN} more"] if len(rows) > SHOWN else []
    return [f"  {title}: {len(rows)}", *shown, *more] if rows else []


def difference(expected: Iterable[Row], actual: Iterable[Row]) -> Difference:
    """Compare two bags of rows.

    Linear in the number of rows, and n log n in those that share their exact part and have
    floating-point numbers.
    """
    sides: dict[Row, tuple[list[tuple[tuple[float, ...], Row]], ...]]
    sides = defaultdict(lambda: ([], []))
    for side, rows in enumerate((expected, actual)):
        for row in rows:
            exact, numbers = split(row)
            sides[exact][side].append((numbers, row))
    missing: list[Row] = []
    unexpected: list[Row] = []
    for left, right in sides.values():
        lost, extra = _unpaired(left, right)
        missing += lost
        unexpected += extra
    return Difference(tuple(missing), tuple(unexpected))


def _unpaired(
    left: list[tuple[tuple[float, ...], Row]], right: list[tuple[tuple[float, ...], Row]]
) -> tuple[list[Row], list[Row]]:
    if not left or not right or not left[0][0]:
        shared = min(len(left), len(right))
        return [row for _, row in left[shared:]], [row for _, row in right[shared:]]
    left = sorted(left, key=lambda item: item[0])
    right = sorted(right, key=lambda item: item[0])
    if len(left) == len(right) and all(
        close(a, b) for (a, _), (b, _) in zip(left, right, strict=True)
    ):
        return [], []
    if len(left) * len(right) > _MATCHED_EXHAUSTIVELY**2:
        raise ValueError("too many rows differ in floating-point numbers alone to be compared")
    return _matched(left, right)


def _matched(
    left: list[tuple[tuple[float, ...], Row]], right: list[tuple[tuple[float, ...], Row]]
) -> tuple[list[Row], list[Row]]:
    """Match as many rows as possible (augmenting paths), because closeness is not transitive."""
    near = [[j for j, (b, _) in enumerate(right) if close(a, b)] for a, _ in left]
    owner: dict[int, int] = {}

    def augment(i: int, tried: set[int]) -> bool:
        for j in near[i]:
            if j not in tried:
                tried.add(j)
                if j not in owner or augment(owner[j], tried):
                    owner[j] = i
                    return True
        return False

    lost = [row for i, (_, row) in enumerate(left) if not augment(i, set())]
    return lost, [row for j, (_, row) in enumerate(right) if j not in owner]


def assert_same_bag(expected: Bag, actual: Bag, what: str) -> None:
    """Fail with a bounded report unless both bags have equal rows, equally often."""
    differences = difference(expected.rows, actual.rows)
    if differences:
        raise AssertionError(
            f"{what}: {len(expected)} rows expected, {len(actual)} found\n"
            f"  columns: {', '.join(expected.columns)}\n{differences}"
        )


def assert_same_schema(expected: Bag, actual: Bag, what: str) -> None:
    """Fail unless both have the same column names and types, in the same order."""
    left = list(zip(expected.columns, expected.types, strict=True))
    right = list(zip(actual.columns, actual.types, strict=True))
    if left != right:
        raise AssertionError(f"{what}: columns {left} expected, {right} found")


def assert_ordered(bag: Bag, keys: Sequence[OrderKey], what: str) -> None:
    """Fail unless the rows come in this order; rows that tie may come in any."""
    for number, (before, after) in enumerate(zip(bag.rows, bag.rows[1:], strict=False), start=1):
        for key in keys:
            sign = _compare(before[key.position], after[key.position], key)
            if sign > 0:
                raise AssertionError(f"{what}: row {number} {before!r} comes before {after!r}")
            if sign < 0:
                break


def _compare(left: Any, right: Any, key: OrderKey) -> int:
    if left is None or right is None:
        if left is right:
            return 0
        return -1 if (left is None) == key.nulls_first else 1
    if isinstance(left, float) and isinstance(right, float):
        # NaN is the greatest number, as in Spark.
        a: tuple[bool, Any] = (math.isnan(left), 0.0 if math.isnan(left) else left)
        b: tuple[bool, Any] = (math.isnan(right), 0.0 if math.isnan(right) else right)
        if a[0] == b[0] and close([a[1]], [b[1]]):
            return 0
    else:
        a, b = (False, _sortable(left)), (False, _sortable(right))
    sign = (a > b) - (a < b)
    return -sign if key.descending else sign


def _sortable(value: Any) -> Any:
    # Spark compares strings as UTF-8 bytes, which is the order of code points.
    return (
        value
        if isinstance(value, Decimal | int) or not isinstance(value, str)
        else (value.encode())
    )
