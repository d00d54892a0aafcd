"""What older versions of Spark have not."""

from __future__ import annotations

import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

VERSION = tuple(map(int, pyspark.__version__.split(".")[:2]))


def needs(spark: SparkSession, sql: str) -> None:
    """Skip a test of what an older Spark has not, as it says itself of a query."""
    try:
        spark.sql(sql)
    except AnalysisException as error:
        if VERSION >= (4, 3):
            raise
        pytest.skip(f"PySpark {pyspark.__version__}: {error.getCondition()}")
