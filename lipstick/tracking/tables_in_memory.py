"""Tables of this process as data frames: tables of Arrow, and frames of pandas."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from lipstick.errors import SourceError

MOST_BYTES = 64 * 2**20
"""How large a table may be."""


class PandasFrame(Protocol):
    """A frame of pandas, as far as it is looked at here."""

    @property
    def iloc(self) -> Any:
        """Rows by their places."""

    def memory_usage(self) -> Any:
        """The bytes of each column."""


InMemory: TypeAlias = pa.Table | pa.RecordBatch | PandasFrame
"""Tables of this process that can be tracked."""


def as_frame(spark: SparkSession, table: InMemory) -> DataFrame:
    """Return a table as a data frame, as ``createDataFrame`` makes it.

    Raises
    ------
    SourceError
        For more than `MOST_BYTES`, which would travel in every plan, and where Spark makes no
        data frame of it.
    """
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    size = table.nbytes if isinstance(table, pa.Table) else int(table.memory_usage().sum())
    if size > MOST_BYTES:
        raise SourceError(
            f"A table of {size:,} bytes in memory is too large to travel in every plan (at most "
            f"{MOST_BYTES:,}).\nWrite it to Parquet, and track the path."
        )
    rows: Any = table
    try:
        return spark.createDataFrame(rows)
    except Exception as error:
        raise SourceError(f"Spark makes no data frame of this table: {error}") from error
