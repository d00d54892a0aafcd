"""A count and an order-free checksum of rows, by which two bags of rows are held to be equal.

The checksums of two bags add up to that of their union.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DoubleType, MapType, StructType, VariantType

from lipstick.tracking.views import column_of

_ROWS, _SUM = "_lipstick_rows", "_lipstick_checksum"


@dataclass(frozen=True, slots=True)
class RowChecksum:
    """The number of rows of a bag, and the sum of their hashes."""

    rows: int = 0
    hashes: int = 0

    def __add__(self, other: RowChecksum) -> RowChecksum:
        """Return the checksum of both bags together."""
        return RowChecksum(self.rows + other.rows, self.hashes + other.hashes)

    @staticmethod
    def of(frame: DataFrame, *, rounded: bool = False) -> RowChecksum:
        """Compute the checksum of a frame, by one job."""
        aggregates = RowChecksum.columns(frame, rounded=rounded)
        return RowChecksum.read(frame.agg(*aggregates).collect()[0].asDict())

    @staticmethod
    def columns(frame: DataFrame, *, rounded: bool = False) -> list[Column]:
        """Return the aggregates that :meth:`read` takes, for `agg` or `observe`.

        Parameters
        ----------
        rounded
            Hash doubles to seven digits: the last bits of sums depend on the order of adding.
        """
        hashed = row_hash(frame, rounded=rounded).cast("decimal(38,0)")
        total = F.coalesce(F.sum(hashed), F.lit(0))
        return [F.count(F.lit(1)).alias(_ROWS), total.alias(_SUM)]

    @staticmethod
    def read(values: dict[str, Any]) -> RowChecksum:
        """Return the checksum in the values of :meth:`columns`."""
        return RowChecksum(int(values[_ROWS]), int(values[_SUM]))


def row_hash(frame: DataFrame, *, rounded: bool = False) -> Column:
    """Return a hash of a row of a frame, of 64 bits."""
    values, missing = [], []
    for field in frame.schema:
        column = column_of(field.name)
        values.append(_hashable(column, field.dataType, rounded))
        missing.append(column.isNull())  # a hash passes over NULL
    return F.xxhash64(*values, *missing) if values else F.lit(0).cast("bigint")


def _hashable(value: Column, type_: DataType, rounded: bool) -> Column:
    if rounded and isinstance(type_, DoubleType):
        return (value + F.lit(0.0)).cast("float")  # minus zero is zero
    if isinstance(type_, ArrayType | MapType | StructType | VariantType):
        return F.to_json(F.struct(value.alias("value")), {"ignoreNullFields": "false"})
    return value
