"""What is captured at all: parts that the tail joins, and the members that conditions ask for."""

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
    with oracles(spark, LEFT, RIGHT, NAMED) as both:
        yield both


@pytest.mark.many
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


@pytest.mark.many
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


GROUPS = "WITH c AS (SELECT k, g, count(*) AS n, sum(id) AS s FROM l GROUP BY k, g) "
CHANNELS = (
    "WITH c AS (SELECT k, 's' AS t, sum(g) AS s FROM l GROUP BY k"
    " UNION ALL SELECT k, 'c', sum(w) FROM r GROUP BY k) "
)


@pytest.mark.many
@pytest.mark.parametrize(
    ("sql", "members"),
    [
        (GROUPS + "SELECT a.n, b.s FROM c a, c b WHERE a.k = 1 AND b.k = 2 AND a.g <= b.g", 4),
        (
            GROUPS + "SELECT a.n, b.s FROM c a LEFT JOIN c b ON a.k = b.k AND a.g = b.g + 1"
            " WHERE a.k = 1",
            6,
        ),
        (
            CHANNELS + "SELECT a.s, b.s AS other FROM c a JOIN c b ON a.k = b.k"
            " WHERE a.t = 's' AND b.t = 'c' AND a.k < 2",
            7,
        ),
        (
            CHANNELS + "SELECT m.k, max(m.s) AS s FROM c m WHERE m.t = 's' AND m.k IN (1, 2)"
            " GROUP BY m.k HAVING count(*) < 3",
            4,
        ),
        (
            "SELECT x.id FROM l x WHERE x.k = 1 AND NOT EXISTS"
            " (SELECT 1 FROM r WHERE r.k = x.k AND r.w > x.g)",
            3,
        ),
        (
            "WITH c AS (SELECT k, w, count(*) AS n FROM r GROUP BY k, w), h AS (SELECT * FROM c"
            " WHERE n > 0) SELECT a.w, b.n FROM h a, h b WHERE a.k = 1 AND b.k = a.w AND a.w = 2",
            3,
        ),
    ],
)
def test_members_that_readers_ask_for(on: Oracles, sql: str, members: int) -> None:
    """Members of groups that every reader leaves out are not captured; the rest answers."""
    q = on.hold(sql, *DELETIONS, {"l": [1, 2], "r": [5]}, grouping="GROUP BY" in sql)
    counted = q.capture.manifest.counts.values()
    assert sum(counts.get("members", 0) for counts in counted) == members


def test_what_a_union_converts_is_captured_whole(on: Oracles) -> None:
    """A condition on a number is none on the text that a branch has."""
    sql = (
        "WITH c AS (SELECT k, sum(g) AS s FROM l GROUP BY k UNION ALL"
        " SELECT CAST(w AS STRING), count(*) FROM r GROUP BY CAST(w AS STRING)) "
        "SELECT a.s, b.s AS other FROM c a, c b WHERE a.k = 1 AND b.k = 2"
    )
    q = on.hold(sql, {"l": [1]}, {"r": [2]}, {"l": [3], "r": [1, 4]}, offline=False)
    counted = q.capture.manifest.counts.values()
    assert sum(counts.get("members", 0) for counts in counted) == 11
