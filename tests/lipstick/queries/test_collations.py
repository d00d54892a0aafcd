"""Texts with a collation: Spark compares them by it, and what is computed in memory leaves them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import NeedsSparkError, TrackingError
from semiring.semirings import Counting
from tests.oracle.rows import assert_same_bag, from_arrow, from_spark

COMPARED = (
    "SELECT upper(c) AS u, count(*) AS n FROM r GROUP BY c",
    "SELECT sum(CASE WHEN m = 'A' THEN n ELSE 0 END) AS s"
    " FROM (SELECT max(c) AS m, count(*) AS n FROM r GROUP BY v % 2)",
    "SELECT id FROM r WHERE c IN (SELECT max(c) FROM r WHERE v < 3)",
    "SELECT max(upper(c)) AS m FROM r",
)
ROWS = "VALUES (1, 'a', 1), (2, 'A', 2), (3, 'b', 3), (4, 'B', 4), (5, 'a', 5) AS r(id, c, v)"
COLLATED = f"SELECT id, c COLLATE UTF8_LCASE AS c, v FROM {ROWS}"
GONE = {"r": [2, 3]}


@pytest.fixture(scope="module")
def tracked(spark: SparkSession) -> Iterator[lipstick.Session]:
    """A session with a relation of texts whose case does not matter."""
    with lipstick.session(spark) as ls:
        ls.track("r", spark.sql(COLLATED), key="id")
        yield ls


@pytest.mark.parametrize("sql", COMPARED)
def test_spark_compares_them(
    tracked: lipstick.Session, spark: SparkSession, tmp_path: Path, sql: str
) -> None:
    q = tracked.sql(sql)
    left = spark.sql(f"WITH r AS (SELECT * FROM ({COLLATED}) WHERE id NOT IN (2, 3)) {sql}")
    assert_same_bag(from_spark(left), from_spark(q.what_if(GONE).df), sql)
    assert q.algebra.evaluate(Counting()).count() == q.df.count()
    q.save(tmp_path / "capture")
    with pytest.raises(NeedsSparkError, match="have a collation, by which Spark compares them"):
        lipstick.open(tmp_path / "capture").what_if(GONE)


def test_what_does_not_read_them_is_answered_in_memory(
    tracked: lipstick.Session, spark: SparkSession, tmp_path: Path
) -> None:
    sql = "SELECT v % 2 AS k, sum(v) AS s FROM r WHERE c = 'A' GROUP BY v % 2"
    tracked.sql(sql).save(tmp_path / "capture")
    left = spark.sql(f"WITH r AS (SELECT * FROM ({COLLATED}) WHERE id NOT IN (2, 3)) {sql}")
    actual = lipstick.open(tmp_path / "capture").what_if(GONE).df
    assert_same_bag(from_spark(left), from_arrow(actual), sql)


def test_texts_with_a_collation_are_in_no_key(ls: lipstick.Session, spark: SparkSession) -> None:
    with pytest.raises(TrackingError, match="texts without a collation") as raised:
        ls.track("t", spark.sql(COLLATED), key=["c", "id"])
    assert "key='*'" in str(raised.value)


def test_rows_named_by_their_values_are_named_as_they_are_spelt(
    ls: lipstick.Session, spark: SparkSession
) -> None:
    """Rows that are equal to their collation have tokens of their own, by which they go."""
    rows = spark.sql(
        "SELECT c COLLATE UTF8_LCASE AS c, v FROM VALUES ('b', 3), ('B', 3), ('b', 3) AS t(c, v)"
    )
    ls.track("t", rows, key="*")
    q = ls.sql("SELECT c, v FROM t")
    tokens = {token.key for _, annotation in q.polynomials() for token in annotation.tokens}
    assert tokens == {("b", 3, 1), ("B", 3, 1), ("b", 3, 2)}
    assert len(q.what_if(delete={"t": "c = 'B'"}).df.collect()) == 0
    left = q.what_if(delete={"t": [("B", 3, 1)]}).df.collect()
    assert [tuple(row) for row in left] == [("b", 3), ("b", 3)]
    few = ls.sql("SELECT upper(c) AS u, count(*) AS n FROM t GROUP BY v, c")
    assert few.what_if(delete={"t": "c COLLATE UTF8_BINARY = 'B'"}).df.collect()[0]["n"] == 2
