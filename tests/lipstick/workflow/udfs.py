"""Functions for modules of tests."""

from __future__ import annotations

from pyspark.sql.functions import udf
from pyspark.sql.types import IntegerType


@udf(IntegerType(), useArrow=False)
def twice(number: int) -> int:
    """Double a number."""
    return 2 * number


plain = len
