"""Comparison of the rows that Spark has written with the rows of the capture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from lipstick.tracking.tracker import comparable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, Observation

_FLOATS = ("float", "double")


@dataclass(frozen=True, slots=True)
class Compared:
    """The count and checksums of the rows of a frame, observed while Spark writes them."""

    observation: Observation

    def with_rows(self, rows: DataFrame) -> tuple[int | None, str | None]:
        """Return the number of rows written, and why they are not a frame's rows; None: they are.

        Floats are compared by their sums, whose last bits depend on the order of adding.
        """
        seen = self.observation.get
        if not seen:
            return None, "Spark did not say what it has written"
        again = rows.agg(*measures(rows)).collect()[0].asDict()
        count = int(seen["_rows"])
        if count != again["_rows"]:
            return count, f"{count} rows were written, and another run has {again['_rows']}"
        for name, value in seen.items():
            if not _equal(value, again[name]):
                return count, "another run of the frame has other rows"
        return count, None


def observed(frame: DataFrame) -> tuple[DataFrame, Compared | None]:
    """The same frame, and what will be seen of its rows; None where Spark cannot observe it."""
    from pyspark.errors import PySparkException
    from pyspark.sql import Observation

    observation = Observation()
    try:
        return frame.observe(observation, *measures(frame)), Compared(observation)
    except PySparkException:  # columns of one name; streams
        return frame, None


def measures(frame: DataFrame) -> list[Column]:
    """Count, an order-free checksum of all columns but floats, and the sums of floats."""
    from pyspark.sql import functions as F

    exact, sums = [], []
    for number, field in enumerate(frame.schema):
        column = F.col(f"`{field.name}`")
        if field.dataType.typeName() in _FLOATS:
            finite = F.when(F.abs(column) < F.lit(1e300), column.cast("double"))
            sums.append(F.sum(finite).alias(f"_sum{number}"))
            sums.append(F.sum(F.abs(finite)).alias(f"_size{number}"))
        else:
            exact.append(comparable(column, field.dataType))
    hashes = [F.xxhash64(*exact).cast("decimal(38,0)")] if exact else [F.lit(0)]
    checksum = F.sum(reduce(add, hashes)).alias("_checksum")
    return [F.count(F.lit(1)).alias("_rows"), checksum, *sums]


def _equal(left: Any, other: Any) -> bool:
    if isinstance(left, float) and isinstance(other, float):
        return math.isclose(left, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(left == other)
