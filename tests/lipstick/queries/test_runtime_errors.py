"""ANSI errors of the data: raised exactly where the plain query raises them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.errors import ArithmeticException, PySparkException
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import CaptureError
from rewriter.errors import QueryError
from tests.oracle.database import Deletion
from tests.oracle.small import Oracles, oracles, small

pytestmark = pytest.mark.classic

LEFT = small("l", "id int, k int, x int", [(1, 1, 5), (2, 2, 4), (3, 3, 0), (4, 1, 2)])
RIGHT = small("r", "rid int, k int, y int", [(1, 1, 5), (2, 2, 3), (3, 3, 7), (4, 0, 1)])
"""Every row of l has a partner. Group 0 of r, and tuple 3 of l, are what must not be divided by."""


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Relations with a zero each."""
    with oracles(spark, LEFT, RIGHT) as both:
        yield both


@pytest.mark.many
@pytest.mark.parametrize(
    ("sql", "deletion"),
    [
        # The condition of WHERE comes before the select list and the aggregates.
        ("SELECT k, sum(10 / x) AS s FROM l WHERE NOT x = 0 GROUP BY k", {"l": [1]}),
        # A subquery decides before what is after it in WHERE.
        (
            "SELECT id FROM l WHERE x > (SELECT min(x) FROM l) AND 10 / x > 2",
            {"l": [1, 4]},
        ),
        ("SELECT sum(10 / x) AS s FROM l WHERE k IN (SELECT k FROM r WHERE y < 7)", {"r": [2]}),
        # So does a join by an aggregated value.
        (
            "SELECT l.id FROM l JOIN (SELECT k, max(y) AS m FROM r GROUP BY k) t ON l.x = t.m"
            " WHERE 10 / (l.x - t.k) > 0",
            {"l": [1]},
        ),
        # HAVING drops the group of the zero, LIMIT the tuple.
        (
            "SELECT l.id, 10 / t.k AS q FROM l"
            " JOIN (SELECT k FROM r GROUP BY k HAVING max(y) <> 1) t ON l.k >= t.k",
            {"r": [1]},
        ),
        ("SELECT 10 / x AS q FROM (SELECT * FROM l ORDER BY x DESC LIMIT 2) t", {"l": [1]}),
        # No row of l is padded as long as its partner is there.
        (
            "SELECT l.id FROM l LEFT JOIN r ON l.k = r.k WHERE 10 / coalesce(r.y, 0) > 1",
            {"l": [1]},
        ),
        (
            "SELECT count(*) AS n FROM l LEFT JOIN r ON l.k = r.k"
            " WHERE CAST(coalesce(string(r.y), 'none') AS int) > 3",
            {"l": [1]},
        ),
        # Nor is it in a group.
        (
            "SELECT 10 / coalesce(r.y, 0) AS q, count(*) AS n FROM l LEFT JOIN r ON l.k = r.k"
            " GROUP BY 10 / coalesce(r.y, 0)",
            {"l": [1]},
        ),
        (
            "SELECT DISTINCT CAST(coalesce(string(r.y), 'none') AS int) AS c FROM l LEFT JOIN r"
            " ON l.k = r.k",
            {"l": [1, 4]},
        ),
    ],
)
def test_no_error_of_rows_that_are_not_there(
    on: Oracles, sql: str, deletion: dict[str, Any]
) -> None:
    """A query that runs runs with annotations too, and so does what is asked of its capture."""
    on.hold(sql, deletion, offline=False)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, 10 / x AS q FROM l",
        "SELECT k, sum(10 / x) AS s FROM l GROUP BY k",
        "SELECT CAST(if(x = 0, 'none', '1') AS int) AS c FROM l",
        "SELECT sum(CAST(x AS bigint) * 4611686018427387904) AS s FROM l",
        "SELECT l.id FROM l FULL JOIN r ON l.k = r.k WHERE 10 / coalesce(l.k, 0) > 1",
        "SELECT id, element_at(array(1, 2, 3, 4), x) AS e FROM l",
    ],
)
def test_errors_of_rows_that_are_there(on: Oracles, sql: str) -> None:
    """A query that fails fails with annotations, and cannot be captured, of the same condition."""
    q = on.ls.sql(sql)
    tries: list[Callable[[], Any]] = [lambda: on.plain.answer(sql), q.plan.annotated.collect]
    conditions = set()
    for run in tries:
        with pytest.raises(PySparkException) as raised:
            run()
        conditions.add(raised.value.getCondition())
    with pytest.raises(QueryError) as failed:
        q.capture  # noqa: B018 - a property
    assert conditions == {failed.value.condition}


def test_errors_after_a_deletion(on: Oracles) -> None:
    """A deletion after which the plain query fails has no answer: with Spark, or without."""
    sql = "SELECT l.id FROM l LEFT JOIN r ON l.k = r.k WHERE 10 / coalesce(r.y, 0) > 1"
    q = on.ls.sql(sql)
    with pytest.raises(ArithmeticException):
        on.plain.answer(sql, Deletion("partner", {"r": frozenset({(3,)})}))
    with pytest.raises(ArithmeticException):
        q.what_if({"r": [3]}).df.collect()
    with pytest.raises(CaptureError, match=r"fails on these rows"):
        lipstick.open(q.capture.directory).what_if({"r": [3]})
