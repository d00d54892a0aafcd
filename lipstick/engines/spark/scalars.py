"""Scalars that have no rule in memory, computed by the session over values that are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.errors import PySparkException

from lipstick.dataframes.arrow import frame_of_arrow
from lipstick.display.progress_line import progress
from lipstick.engines.memory.state import spark_scalar
from lipstick.errors import CapabilityError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


def _scalar_of(
    spark: SparkSession,
) -> Callable[[str, Mapping[tuple[str, str], pa.Array], int], pa.Array]:
    def compute(text: str, columns: Mapping[tuple[str, str], pa.Array], length: int) -> pa.Array:
        """Return the values of a text of SQL, whose columns are fields of structs, in order."""
        fields: dict[str, dict[str, pa.Array]] = {}
        for (alias, name), column in columns.items():
            fields.setdefault(alias, {})[name] = column
        structs = {
            alias: pa.StructArray.from_arrays(list(parts.values()), names=list(parts))
            for alias, parts in fields.items()
        }
        table = pa.table({_PLACE: pa.array(range(length), pa.int64()), **structs})
        with progress(after=_SILENT) as line:
            line(f"Spark computes {text}")
            try:
                frame = frame_of_arrow(spark, table).selectExpr(_PLACE, f"{text} AS {_VALUE}")
                found = frame.toArrow().sort_by(_PLACE).column(_VALUE)
            except PySparkException as error:
                raise CapabilityError(
                    f"Spark does not compute {text} in every world: {error}"
                ) from error
        return found.combine_chunks()

    return compute
