"""EXCEPT ALL and INTERSECT ALL: one annotation for all copies of a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lipstick import semirings
from tests.oracle.small import Oracles, annotated, oracles, small, token

pytestmark = pytest.mark.classic

LEFT = small(
    "a", "id int, k int, x double", [(1, 1, 0.0), (2, 1, -0.0), (3, 1, 0.0), (4, None, 2.0)]
)
RIGHT = small("b", "id int, k int, y double", [(1, 1, -0.0), (2, None, float("nan")), (3, 7, 2.0)])


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Rows that are equal but for the sign of zero, and NULLs."""
    with oracles(spark, LEFT, RIGHT) as both:
        yield both


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, x FROM a EXCEPT ALL SELECT k, y FROM b",
        "SELECT k FROM a INTERSECT ALL SELECT k FROM b",
        "SELECT b.id, t.k, t.x FROM (SELECT k, x FROM a MINUS ALL SELECT k, y FROM b) AS t"
        " JOIN b ON b.k = t.k",
    ],
)
def test_multiplicities(on: Oracles, sql: str) -> None:
    on.hold(sql, {"b": [1]}, {"a": [1, 4], "b": [2]}, {"a": [1, 2, 3, 4]})


@pytest.mark.slow
def test_groups_count_copies(on: Oracles) -> None:
    inner = "SELECT k, x FROM a EXCEPT ALL SELECT k, y FROM b"
    sql = f"SELECT k, count(*) AS n, sum(x) FROM ({inner}) GROUP BY k HAVING count(*) > 1"
    on.hold(sql, {"a": [1]}, {"b": [1]}, grouping=True, offline=False)


@pytest.mark.engines("spark")
def test_annotations_are_differences_of_sums(on: Oracles) -> None:
    q = on.ls.sql("SELECT k FROM a EXCEPT ALL SELECT k FROM b")
    a = [token("a", number) for number in range(5)]
    b = [token("b", number) for number in range(4)]
    assert annotated(q) == Counter(
        {((1,), (a[1] + a[2] + a[3]).monus(b[1])): 1},
    )
    assert [row.k for row in q.df.collect()] == [1, 1]
    tripled = q.algebra.evaluate(semirings.Counting(), {"a": lambda _: 3}).collect()
    assert [tuple(row) for row in tripled] == [(1, 8)]


def test_lineage_is_of_the_left_side(on: Oracles) -> None:
    except_all = on.ls.sql("SELECT k FROM a EXCEPT ALL SELECT k FROM b").lineage()
    assert {row.id for row in except_all["a"].collect()} == {1, 2, 3}
    assert not except_all["b"].collect()
