"""Data frames of Arrow tables."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema


def frame_of_arrow(spark: SparkSession, table: pa.Table) -> DataFrame:
    """Return the data frame of a table; Spark Connect infers no columns of one without rows."""
    schema = None if table.num_rows else from_arrow_schema(table.schema)
    return spark.createDataFrame(table, schema)
