"""Scalars and aggregates without a rule in memory, computed by the session over known values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from lipstick.dataframes.arrow import frame_of_arrow
from lipstick.display.progress_line import progress
from lipstick.engines.memory.state import SparkScalar, spark_scalar
from lipstick.errors import CapabilityError
from semiring.base import Array

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SILENT = 2.0
"""Seconds after which progress is shown."""

_PLACE = "_place"
_VALUE = "_value"


@contextmanager
def scalars_by(spark: SparkSession) -> Iterator[None]:
    """Let formal values be computed by a session where memory has no rule for their functions."""
    token = spark_scalar.set(_scalar_of(spark))
    try:
        yield
    finally:
        spark_scalar.reset(token)


def _scalar_of(spark: SparkSession) -> SparkScalar:
    def compute(
        text: str,
        columns: Mapping[tuple[str, str], pa.Array],
        length: int,
        groups: Array | None,
    ) -> pa.Array:
        """Return the values of a text of SQL, whose columns are fields of structs, in order."""
        fields: dict[str, dict[str, pa.Array]] = {}
        for (alias, name), column in columns.items():
            fields.setdefault(alias, {})[name] = column
        structs = {
            alias: pa.StructArray.from_arrays(list(parts.values()), names=list(parts))
            for alias, parts in fields.items()
        }
        places = np.arange(length) if groups is None else groups
        table = pa.table({_PLACE: pa.array(places, pa.int64()), **structs})
        with progress(after=_SILENT) as line:
            line(f"Spark computes {text}")
            try:
                if groups is None:
                    frame = frame_of_arrow(spark, table).selectExpr(_PLACE, f"{text} AS {_VALUE}")
                else:
                    frame = _aggregated(spark, table, text, length)
                found = frame.toArrow().sort_by(_PLACE).column(_VALUE)
            except PySparkException as error:
                raise CapabilityError(
                    f"Spark does not compute {text} in every world: {error}"
                ) from error
        return found.combine_chunks()

    return compute


def _aggregated(spark: SparkSession, rows: pa.Table, text: str, count: int) -> DataFrame:
    """Return an aggregate of each of some groups of rows; groups may have none.

    No FILTER leaves out rows that stand for these: Spark fails at it beside DISTINCT and WITHIN
    GROUP (``RewriteDistinctAggregates``).
    """
    frame, value = frame_of_arrow(spark, rows), F.expr(text).alias(_VALUE)
    groups = frame.groupBy(_PLACE).agg(value)
    without = np.setdiff1d(np.arange(count), rows.column(_PLACE).to_numpy())
    if not len(without):
        return groups
    places = frame_of_arrow(spark, pa.table({_PLACE: pa.array(without, pa.int64())}))
    return groups.unionAll(places.crossJoin(frame.where(F.lit(False)).agg(value)))
