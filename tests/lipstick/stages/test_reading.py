"""Errors of our own while a query is read, and names that an answer has twice."""

from __future__ import annotations

import logging
from typing import cast

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import InternalError, InvalidQueryError, UnsupportedError
from lipstick.stages.reading import own_sql, reading
from rewriter.dialect import parse

SQL = "SELECT a,\n  upper(b) FROM t"


def _fail() -> None:
    query = parse(SQL)
    node = query.selects[1]
    raise ZeroDivisionError(f"of {type(node).__name__}")


def test_an_internal_error_is_a_refusal_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.ERROR, "lipstick"),
        pytest.raises(InternalError) as caught,
        reading(SQL),
    ):
        _fail()
    message = str(caught.value)
    assert message.startswith(
        "an internal error ended the reading of this query: ZeroDivisionError: of Anonymous at 2:3"
    )
    assert "it arose in _fail of stages/test_reading.py, line" in message
    assert isinstance(caught.value, UnsupportedError)
    (record,) = caplog.records
    assert SQL in record.getMessage()
    assert "pyspark" in record.getMessage()
    assert record.exc_info is not None


def test_refusals_and_errors_of_the_users_text_pass() -> None:
    with pytest.raises(UnsupportedError, match="told"), reading(SQL):
        raise UnsupportedError("told", "do otherwise", SQL)
    with pytest.raises(InvalidQueryError, match="not found"), reading(SQL):
        raise AnalysisException("not found")
    with pytest.raises(InternalError), reading(SQL, accepted=True):
        raise AnalysisException("not found")


@pytest.mark.engines("spark")
def test_a_name_may_stand_twice_over_a_full_join(spark: SparkSession) -> None:
    """Spark's optimiser makes the plan of this answer invalid where both are plain aliases."""
    with lipstick.session(spark) as ls:
        ls.track("l", spark.createDataFrame([("a", 1), ("b", 2)], "k string, v int"), key="v")
        ls.track("r", spark.createDataFrame([("a", 3), ("c", 4)], "k string, w int"), key="w")
        q = ls.sql("SELECT k, r.k FROM l FULL OUTER JOIN r USING (k)")
        expected = sorted(map(str, map(tuple, q.df.collect())))
        assert sorted(str(tuple(row)[:2]) for row in q.plan.annotated.collect()) == expected
        assert q.plan.annotated.columns == ["k", "k", "_prov"]


def test_bounds_are_constant_expressions(spark: SparkSession) -> None:
    with lipstick.session(spark) as ls:
        ls.track("t", spark.createDataFrame([(1,), (2,), (3,)], "a int"), key="a")
        q = ls.sql("SELECT a FROM t ORDER BY a LIMIT 1 + 1 OFFSET CAST('1' AS INT)")
        assert [row.a for row in q.plan.annotated.collect()] == [2, 3]
        assert [row.a for row in q.what_if(delete={"t": "a = 1"}).df.collect()] == [3]


def test_statements_of_ours_that_spark_refuses_are_internal_errors() -> None:
    """What goes wrong elsewhere, such as a lost connection, is what it is."""

    class Refusing:
        def sql(self, text: str) -> None:
            raise AnalysisException(f"no column in {text}")

    class Lost:
        def sql(self, text: str) -> None:
            raise PySparkException("connection lost")

    with pytest.raises(InternalError, match="Spark does not accept a statement") as caught:
        own_sql(cast("SparkSession", Refusing()), "SELECT 1")
    assert "Please report the text and the log" in str(caught.value)
    with pytest.raises(PySparkException, match="connection lost"):
        own_sql(cast("SparkSession", Lost()), "SELECT 1")
