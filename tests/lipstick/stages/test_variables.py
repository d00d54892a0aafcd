"""Session variables and IDENTIFIER: what a name is at the call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from rewriter.errors import QueryError, UnsupportedError
from tests.oracle.small import Oracles, oracles, small

pytestmark = pytest.mark.classic

A = small("a", "id int, k int, x int", [(1, 1, 2), (2, 1, 3), (3, 2, None), (4, None, 5)])


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, A) as both:
        yield both


def test_variables_are_read_at_the_call(on: Oracles) -> None:
    """A query keeps the values that its variables had, whatever is set later."""
    spark = on.ls.spark
    spark.sql("DECLARE OR REPLACE VARIABLE least INT DEFAULT 2")
    spark.sql("DECLARE OR REPLACE VARIABLE listed ARRAY<INT> DEFAULT array(1)")
    try:
        sql = "SELECT k, count(*) + {0} AS n FROM a WHERE x > {0} GROUP BY k HAVING count(*) < {0}"
        q = on.ls.sql(sql.format("session.least"))
        stated = on.hold(sql.format("2"), {"a": [2]})
        spark.sql("SET VAR least = 100")
        assert q.polynomials() == stated.polynomials()
        assert sorted(q.what_if(delete={"a": [2]}).df.collect()) == [(None, 3)]
        with pytest.raises(UnsupportedError, match="variable listed of the type array<int>"):
            on.ls.sql("SELECT id FROM a WHERE array_contains(listed, k)")
    finally:
        spark.sql("DROP TEMPORARY VARIABLE least")
        spark.sql("DROP TEMPORARY VARIABLE listed")


def test_identifiers_are_names(on: Oracles) -> None:
    """IDENTIFIER of a text, or of a parameter, is a relation or a column."""
    sql = "SELECT IDENTIFIER('r.k'), sum(IDENTIFIER('x')) FROM IDENTIFIER('a') r GROUP BY 1"
    on.hold(sql, {"a": [2]})
    q = on.ls.sql(
        "SELECT id FROM IDENTIFIER(:relation) WHERE IDENTIFIER(:column) = 1",
        args={"relation": "a", "column": "k"},
    )
    assert [str(annotation) for _, annotation in q.polynomials()] == ["a:1", "a:2"]
    on.hold("SELECT IDENTIFIER('i' || 'd') FROM IDENTIFIER('a' || '') r", {"a": [2]})
    with pytest.raises(QueryError, match="identifier"):
        on.ls.sql("SELECT id FROM IDENTIFIER(lower('A'))")
