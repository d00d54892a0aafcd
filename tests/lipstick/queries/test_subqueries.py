"""Subqueries as values of a row: IN and EXISTS anywhere, correlated scalars, LATERAL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from rewriter.errors import UnsupportedError
from tests.oracle.small import Oracles, annotated, oracles, small, token

pytestmark = pytest.mark.classic

LEFT = small(
    "l", "id int, k int, g int", [(1, 1, 1), (2, 1, 2), (3, 2, 1), (4, None, 2), (5, 5, None)]
)
RIGHT = small(
    "r", "rid int, k int, w int", [(1, 1, 1), (2, 1, 2), (3, 2, 3), (4, None, 1), (5, 2, None)]
)
OTHER = small("o", "oid int, k int, z int", [(1, 1, 1), (2, 5, 2), (3, 5, 2)])
EMPTY = small("e", "eid int, k int, u int", [])
NAMED = small(
    "d", "m int, k int, d int", [(1, 1, 2), (2, 1, 3), (3, 2, 1), (4, None, 1), (5, 2, 5)]
)
"""Columns with the names of what the rewritten text calls relations and members."""
DELETIONS = (
    {"r": [4]},
    {"r": [1, 2], "o": [2]},
    {"l": [1], "r": [3, 5]},
    {"r": [1, 2, 3, 4, 5]},
    {"l": [2, 4], "o": [1, 2, 3]},
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Relations with NULLs on both sides, with duplicates, and without any row."""
    with oracles(spark, LEFT, RIGHT, OTHER, EMPTY, NAMED) as both:
        yield both


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM l WHERE k NOT IN (SELECT k FROM r) OR g = 2",
        "SELECT id FROM l WHERE k NOT IN (SELECT k FROM r WHERE r.w > l.g) OR g IS NULL",
        "SELECT id FROM l WHERE NOT (k IN (SELECT k FROM o) AND g = 1)",
        "SELECT id FROM l WHERE (k, g) NOT IN (SELECT k, w FROM r WHERE rid < 4) OR id = 4",
        "SELECT id FROM l WHERE (EXISTS (SELECT 1 FROM r WHERE r.k = l.k)) ="
        " (EXISTS (SELECT 1 FROM o WHERE o.z > l.g))",
        # Spark has no unknown here: IN is false where it is not known to be true.
        "SELECT id, k IN (SELECT k FROM r) AS i, k NOT IN (SELECT k FROM r) AS n,"
        " (k IN (SELECT k FROM o)) IS NULL AS u, (k NOT IN (SELECT k FROM e)) = false AS f,"
        " (k, g) IN (SELECT k, w FROM r) AS p FROM l",
        "SELECT g, sum(CASE WHEN EXISTS (SELECT 1 FROM r WHERE r.k = l.k) THEN k ELSE -1 END) AS s,"
        " count(*) FILTER (WHERE k IN (SELECT k FROM o)) AS c FROM l GROUP BY g",
        "SELECT EXISTS (SELECT 1 FROM r WHERE r.k = l.k) AS x, count(*) AS c FROM l"
        " GROUP BY EXISTS (SELECT 1 FROM r WHERE r.k = l.k)",
        "SELECT k, count(*) AS c FROM l GROUP BY k"
        " HAVING EXISTS (SELECT 1 FROM r WHERE r.w > l.k) OR count(*) IN (SELECT z FROM o)",
        "SELECT k, count(*) AS c FROM l GROUP BY k HAVING EXISTS (SELECT 1 FROM r"
        " WHERE r.w > min(l.g) AND r.k = l.k) OR max(g) IN (SELECT z FROM o WHERE z < sum(l.g))",
        "SELECT EXISTS (SELECT 1 FROM r WHERE w > 2) AS x, 2 NOT IN (SELECT k FROM r) AS n,"
        " 1 + (SELECT max(w) FROM r) AS m",
        "SELECT explode(array(1, 2)) AS e, 1 IN (SELECT k FROM o) AS i",
        "SELECT l.id, t.e FROM l, LATERAL explode(collection => array(l.k, l.g)) AS t(e)"
        " WHERE t.e IN (SELECT k FROM r)",
        "SELECT k FROM r GROUP BY k HAVING sum(w) - 3",
        "SELECT l.id, r.rid FROM l LEFT JOIN r ON l.k = r.k"
        " AND (EXISTS (SELECT 1 FROM o WHERE o.k = r.k) OR l.g NOT IN (SELECT z FROM o))",
        # An unknown value of a grouping is looked for among the values of another.
        "SELECT t.k, t.s FROM (SELECT k, sum(g) AS s FROM l GROUP BY k) t WHERE t.s NOT IN"
        " (SELECT d.m FROM (SELECT k, max(w) AS m FROM r GROUP BY k) d WHERE d.k >= t.k)"
        " OR t.k = 5",
    ],
)
def test_membership_anywhere(on: Oracles, sql: str) -> None:
    on.hold(sql, *DELETIONS, offline=False, grouping="GROUP BY" in sql)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, (SELECT count(*) FROM r WHERE r.w >= l.g) AS c FROM l",
        "SELECT id FROM l WHERE g < (SELECT sum(w) FROM r WHERE r.k = l.k AND r.w <> l.g)",
        "SELECT id, (SELECT count(*) FROM r WHERE r.k = l.k HAVING count(*) < l.g) AS c FROM l",
        "SELECT id, (SELECT w FROM r WHERE r.rid = l.id) AS w FROM l",
        "SELECT id, (SELECT max(w) FROM r WHERE r.k = l.k GROUP BY r.k) AS w FROM l",
        "SELECT id FROM l WHERE EXISTS (SELECT k FROM r WHERE r.w > l.g GROUP BY k"
        " HAVING count(*) < 2)",
        "SELECT id FROM l WHERE EXISTS (SELECT count(*) FROM r WHERE r.k = l.k"
        " HAVING count(*) < 2)",
        "SELECT id FROM l WHERE g IN (SELECT count(*) FROM r WHERE r.k = l.k)",
        "SELECT id FROM l WHERE g NOT IN (SELECT max(w) FROM r WHERE r.k = l.k)",
        "SELECT id FROM l WHERE EXISTS (SELECT k FROM r WHERE r.k = l.k"
        " UNION ALL SELECT k FROM o WHERE o.z = l.g)",
        "SELECT t.k, (SELECT count(*) FROM r WHERE r.w >= t.s) AS c"
        " FROM (SELECT k, sum(g) AS s FROM l GROUP BY k) t",
    ],
)
def test_correlated_by_any_predicate(on: Oracles, sql: str) -> None:
    on.hold(sql, *DELETIONS, offline=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT l.id, t.w FROM l, LATERAL (SELECT w FROM r WHERE r.k = l.k) t",
        "SELECT l.id, t.w FROM l LEFT JOIN LATERAL (SELECT w FROM r WHERE r.k = l.k) t ON t.w > 1",
        "SELECT l.id, t.* FROM l, LATERAL (SELECT count(*) AS c, max(w) AS m FROM r"
        " WHERE r.w > l.g) t",
        "SELECT l.id, t.c FROM l LEFT JOIN LATERAL (SELECT count(*) AS c FROM r WHERE r.k = l.k"
        " HAVING count(*) > 1) t",
        "SELECT l.id, t.*, u.z FROM l, LATERAL (SELECT DISTINCT w FROM r WHERE r.w >= l.g) t,"
        " LATERAL (SELECT z FROM o WHERE o.z = t.w) u",
        "SELECT l.id, t.v FROM l, LATERAL (SELECT w AS v FROM r WHERE r.k = l.k"
        " UNION ALL SELECT z FROM o WHERE o.k = l.k) t",
    ],
)
def test_lateral(on: Oracles, sql: str) -> None:
    on.hold(sql, *DELETIONS, offline=False)


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.m, a.d FROM d a WHERE NOT EXISTS (SELECT 1 FROM d b WHERE b.k = a.k"
        " AND b.m > a.m)",
        "SELECT a.m FROM d a WHERE EXISTS (SELECT 1 FROM (SELECT k, max(d) AS d FROM d GROUP BY k)"
        " b WHERE b.k = a.k AND b.d > a.m)",
        "SELECT k, count(*) AS m FROM d WHERE EXISTS (SELECT 1 FROM l WHERE l.g >= d.m) GROUP BY k",
    ],
)
def test_columns_called_like_what_is_around(on: Oracles, sql: str) -> None:
    on.hold(sql, {"d": [2]}, {"d": [1, 5]}, {"l": [2], "d": [3]}, offline=False)


@pytest.mark.slow
def test_maps_of_the_outer_query(on: Oracles) -> None:
    """Spark cannot compare maps: what a subquery needs of one has to be a column around it."""
    sql = "SELECT id FROM (SELECT id, map(id, k) AS m FROM l) t WHERE EXISTS (SELECT 1 FROM r{})"
    with pytest.raises(UnsupportedError, match=r"refers to a map .* at 1:60"):
        on.ls.sql(sql.format(" WHERE r.w > size(t.m)"))
    on.hold(sql.format("").replace("map(id, k) AS m", "size(map(id, k)) AS m"), {"l": [1]})


@pytest.mark.engines("spark")
def test_rows_of_a_lateral_subquery_are_factors(on: Oracles) -> None:
    q = on.hold("SELECT id, rid FROM l, LATERAL (SELECT rid FROM r WHERE r.k = l.k)", {"r": [3]})
    pairs = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (3, 5)]
    assert annotated(q) == {(pair, token("l", pair[0]) * token("r", pair[1])): 1 for pair in pairs}


@pytest.mark.engines("spark")
def test_more_than_one_row_is_an_error(on: Oracles) -> None:
    """Spark's own, as long as there are several rows; without them there is an answer."""
    sql = "SELECT id, (SELECT w FROM r WHERE r.k = l.k) AS w FROM l"
    with pytest.raises(PySparkException, match="SCALAR_SUBQUERY_TOO_MANY_ROWS"):
        on.ls.sql(sql).plan.annotated.collect()


def test_a_subquery_for_each_map_is_refused_before_it_runs(on: Oracles) -> None:
    """It is computed once for all outer values; Spark compares no maps."""
    rows = "(SELECT map(id, k) AS m FROM l) t"
    for sql in (
        f"SELECT * FROM {rows}, LATERAL (SELECT t.m[1] - r.w AS d FROM r)",
        f"SELECT * FROM {rows}, LATERAL (SELECT rid FROM r WHERE w = t.m[1] ORDER BY rid LIMIT 1)",
        f"SELECT cardinality(m) IN (SELECT rid FROM r WHERE w <= t.m[1]) FROM {rows}",
    ):
        with pytest.raises(UnsupportedError, match="refers to a map of the query around it"):
            on.ls.sql(sql)
