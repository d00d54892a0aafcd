"""The page of what is supported and refused is what the code says."""

import pytest
from pyspark.sql import SparkSession

from tests.support_page import PAGE, page
from tests.support_page.functions import SPARK_FUNCTIONS


def test_the_page_is_what_the_code_says() -> None:
    """Otherwise write it anew: python -m tests.support_page."""
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.classic
def test_the_functions_are_spark_s(spark: SparkSession) -> None:
    """Of Spark 4.3: older lines lack some, and have none that it lacks."""
    listed = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert listed <= set(SPARK_FUNCTIONS)
    if spark.version.startswith("4.3"):
        assert listed == set(SPARK_FUNCTIONS)
