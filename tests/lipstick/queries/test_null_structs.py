"""Structs that are NULL, of fields that are never NULL: Arrow and PySpark refuse such a value."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.oracle.small import Oracles, oracles, small

pytestmark = pytest.mark.classic

LEFT = small("l", "id int, k int", [(1, 1), (2, 1), (3, 2), (4, 3)])
RIGHT = small("r", "id int, v int", [(1, 10), (2, 20), (3, None)])
PAIR = "named_struct('v', coalesce(v, 0), 'of', array(named_struct('id', coalesce(id, 0))))"
PAIRS = f"(SELECT id, {PAIR} AS p, map(1, {PAIR}) AS m FROM r)"


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, LEFT, RIGHT) as both:
        yield both


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT l.id, q.p, q.m FROM l LEFT JOIN {PAIRS} q ON l.id = q.id",
        f"SELECT k, max(q.p) AS p FROM l LEFT JOIN {PAIRS} q ON l.id = q.id GROUP BY k",
        f"SELECT id, CASE WHEN v > 10 THEN {PAIR} END AS p FROM r",
        f"SELECT id, array(CASE WHEN v > 10 THEN {PAIR} END) AS ps FROM r",
        f"SELECT id, lag({PAIR}) OVER (ORDER BY id) AS p FROM r",
        f"SELECT l.id, (SELECT max({PAIR}) FROM r WHERE r.id = l.id) AS p FROM l",
    ],
)
def test_answers_and_deletions(on: Oracles, query: str) -> None:
    """Answers in Arrow, deletions and their changes are those of Spark."""
    annotated = on.hold(query, {"r": [2]}, {"l": [1], "r": [1, 3]}, {"r": [1, 2, 3]})
    assert annotated.toArrow().num_rows == annotated.count()
    changed = annotated.what_if(delete={"r": [2]}).changes
    assert changed.where("_change <> 'unchanged'").count()
