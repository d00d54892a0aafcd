"""Parts of a query that aggregated values join, and values of subqueries that select members."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.oracle.small import Oracles, oracles, small

pytestmark = pytest.mark.classic

LEFT = small(
    "l",
    "id int, k int, g int",
    [(1, 1, 1), (2, 1, 2), (3, 2, 1), (4, None, 2), (5, 5, None), (6, 2, 3)],
)
RIGHT = small(
    "r", "rid int, k int, w int", [(1, 1, 1), (2, 1, 2), (3, 2, 3), (4, None, 1), (5, 2, None)]
)
NAMED = small("d", "m int, k int, place int", [(1, 1, 2), (2, 2, 3), (3, 5, 1), (4, None, 1)])
DELETIONS = (
    {"r": [4]},
    {"r": [1, 2], "d": [2]},
    {"l": [1], "r": [3, 5]},
    {"l": [1, 2, 3], "d": [1]},
    {"r": [1, 2, 3, 4, 5]},
)
RANKED = (
    "WITH a AS (SELECT k, rank() OVER (ORDER BY sum(g)) AS place FROM l GROUP BY k),"
    " b AS (SELECT k, rank() OVER (ORDER BY sum(w) DESC) AS place FROM r GROUP BY k) "
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Relations with NULLs and duplicates."""
    with oracles(spark, LEFT, RIGHT, NAMED) as made:
        yield made


@pytest.mark.parametrize(
    "sql",
    [
        RANKED + "SELECT a.place, x.id, y.m FROM a, b, l x, d y WHERE a.place = b.place"
        " AND x.k = a.k AND y.k = b.k AND a.place < 4 ORDER BY a.place, x.id, y.m LIMIT 5",
        RANKED + "SELECT y.place, count(*) AS n, sum(x.id) AS s FROM a, b, l x, d y"
        " WHERE a.place <= b.place AND x.k = a.k AND y.k = b.k GROUP BY y.place",
        RANKED + "SELECT x.id, v.n FROM a JOIN l x ON x.k = a.k JOIN (VALUES (1, 'one'),"
        " (2, 'two')) v(place, n) ON v.place = a.place",
        # Memberships and values of subqueries belong to one part, or to what joins them.
        "SELECT x.id, y.rid FROM l x JOIN r y ON x.g < y.w + (SELECT avg(place) FROM d)"
        " WHERE x.k IN (SELECT k FROM d) AND y.w > (SELECT min(g) FROM l)"
        " AND (x.g, y.w) IN (SELECT m, place FROM d UNION SELECT k, w FROM r)",
        "SELECT x.id, count(*) AS n, max(y.w) AS w FROM l x, r y"
        " WHERE x.g <= (SELECT max(m) FROM d WHERE d.k = x.k) AND x.id <> y.rid + (SELECT count(*)"
        " FROM d) AND NOT EXISTS (SELECT 1 FROM d WHERE d.k = y.k AND d.place > 2) GROUP BY x.id",
        "SELECT x.id, y.rid, z.m FROM l x, r y, d z WHERE x.g + (SELECT min(w) FROM r) <= y.w"
        " AND y.w >= z.place + (SELECT min(g) FROM l) AND x.k IS NOT NULL",
        "SELECT k FROM l WHERE EXISTS (SELECT 1 FROM r, d WHERE r.w < d.place +"
        " (SELECT min(g) FROM l) AND r.k = l.k)",
        "SELECT x.id, row_number() OVER (PARTITION BY y.k ORDER BY x.id, y.rid) AS n"
        " FROM l x LEFT JOIN d ON d.k = x.k, r y WHERE coalesce(d.place, 0) < y.w +"
        " (SELECT count(*) FROM d)",
    ],
)
def test_parts_are_joined_by_the_tail(on: Oracles, sql: str) -> None:
    """What aggregated values join is captured apart, and every deletion is answered from it."""
    on.hold(sql, *DELETIONS, grouping="GROUP BY" in sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM l WHERE k = (SELECT k FROM d WHERE m = 2)",
        "SELECT id FROM l WHERE (SELECT DISTINCT k FROM d WHERE place > 2) = k AND g < 3",
        "SELECT l.id, (SELECT k FROM d WHERE m = 1) AS v FROM l JOIN r USING (k)"
        " WHERE k + 1 = (SELECT place FROM d WHERE m = 1)",
        "SELECT k, count(*) AS n FROM l WHERE k IN (SELECT k FROM r WHERE w ="
        " (SELECT place FROM d WHERE place > 2 ORDER BY m LIMIT 1)) GROUP BY k",
        "SELECT id FROM l WHERE k = (SELECT k FROM d WHERE m = 1) OR g = 3",
        "SELECT id FROM l WHERE g = (SELECT place FROM d WHERE m = (SELECT max(w) FROM r) - 1)",
    ],
)
def test_values_of_rows_select_members(on: Oracles, sql: str) -> None:
    """A value that is one of few tuples' selects the members to capture."""
    on.hold(sql, *DELETIONS, grouping="GROUP BY" in sql)
