"""The page of what is supported and refused is what the code says."""

import pytest
from pyspark.sql import SparkSession

from tests.support_page import (
    FUNCTIONS_PAGE,
    PAGE,
    constructs,
    functions,
    some_constructs,
    statements,
    use_of,
)
from tests.support_page.functions import SPARK_FUNCTIONS


def test_statements_and_refusals_are_what_the_code_says() -> None:
    """Otherwise write the page anew: python -m tests.support_page."""
    assert PAGE.read_text(encoding="utf-8").endswith(statements())


def test_some_functions_are_what_the_code_says() -> None:
    lines = FUNCTIONS_PAGE.read_text(encoding="utf-8").splitlines()
    said = dict(line.removeprefix("- ").rsplit(": `", 1) for line in lines if line.startswith("- "))
    uses = {name: use for use, names in said.items() for name in names.rstrip("`").split("`, `")}
    assert set(uses) == set(SPARK_FUNCTIONS)
    assert {name: uses[name] for name in SPARK_FUNCTIONS[::7]} == {
        name: use_of(name) for name in SPARK_FUNCTIONS[::7]
    }


@pytest.mark.slow
def test_functions_are_what_the_code_says() -> None:
    assert functions() == FUNCTIONS_PAGE.read_text(encoding="utf-8")


@pytest.mark.classic
def test_some_constructs_are_what_a_session_says(spark: SparkSession) -> None:
    """Through the guard: what the rewriter alone understands is not said to be supported."""
    if not spark.version.startswith("4.3"):
        pytest.skip("the page is that of Spark 4.3")
    lines = set(PAGE.read_text(encoding="utf-8").splitlines())
    assert [line for line in some_constructs(spark, 4) if line not in lines] == []


@pytest.mark.slow
@pytest.mark.classic
def test_constructs_are_what_a_session_says(spark: SparkSession) -> None:
    if not spark.version.startswith("4.3"):
        pytest.skip("the page is that of Spark 4.3")
    assert PAGE.read_text(encoding="utf-8").startswith(constructs(spark))


@pytest.mark.classic
def test_the_functions_are_spark_s(spark: SparkSession) -> None:
    """Of Spark 4.3: older lines lack some, and have none that it lacks."""
    listed = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert listed <= set(SPARK_FUNCTIONS)
    if spark.version.startswith("4.3"):
        assert listed == set(SPARK_FUNCTIONS)
