"""IN of a subquery as a value, where the left side is NULL for every row.

Spark makes NULL of it before it plans an existence join, which never is NULL.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.oracle.small import Oracles, oracles, small

pytestmark = pytest.mark.many(24)

OUTER = small("o", "id int, d int", [(1, 10), (2, 20), (3, None)])
INNER = small("i", "id int, d int", [(1, 10), (2, 20)])
WITH_NULL = small("n", "id int, d int", [(1, 10), (2, None)])

NULLS = [
    "NULL",
    "CAST(NULL AS INT)",
    "d + NULL",
    "-CAST(NULL AS INT)",
    "nullif(1, 1)",
    "(SELECT CAST(NULL AS INT))",
    "CASE WHEN id > 0 THEN NULL END",
    "coalesce(NULL, CAST(NULL AS INT))",
]
VALUES = ["10", "99", "d", "nullif(10, 1)", "CASE WHEN id > 1 THEN d END"]


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, OUTER, INNER, WITH_NULL) as both:
        yield both


@pytest.mark.parametrize("inner", ["i", "n"])
@pytest.mark.parametrize("negation", ["", "NOT "])
@pytest.mark.parametrize("left", [*NULLS, *VALUES])
def test_values_and_conditions(on: Oracles, left: str, negation: str, inner: str) -> None:
    found = f"{left} {negation}IN (SELECT d FROM {inner})"
    on.hold(
        f"SELECT id, {found} AS x, ({found}) IS NULL AS y, NOT ({found}) OR id = 2 AS z FROM o "
        f"UNION ALL SELECT id, NULL, NULL, NULL FROM o WHERE {found}",
        {inner: [1]},
        {inner: [2]},
        {inner: [1, 2]},
        {"o": [1]},
        offline="+" not in left,
    )
