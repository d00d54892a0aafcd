"""Grouping sets, VALUES and bag differences without Spark, held against DuckDB."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.oracle.database import NOTHING, Database, Deletion
from tests.oracle.small import small
from tests.oracle.written import check_written, written

A = small(
    "a",
    "id int, k int, x int",
    [(1, 1, 5), (2, 1, None), (3, None, 2), (4, 2, 2), (5, 1, 5), (6, None, None), (7, 3, 1)],
)
B = small("b", "id int, k int, y double", [(1, 1, 0.5), (2, None, 1.0), (3, 2, -0.0), (4, 1, 0.0)])

EXACT = {
    "rollup_over_a_join": "SELECT a.k, b.y, sum(x) AS s, count(*) AS n FROM a JOIN b ON a.k = b.k"
    " GROUP BY ROLLUP (a.k, b.y) HAVING sum(x) > 3 AND a.k IS NOT NULL",
    "distinct_and_extremes": "SELECT k, x, count(DISTINCT x) AS d, min(x), max(id) FROM a"
    " GROUP BY GROUPING SETS ((k, x), k, (), (k))",
    "multiplied": "SELECT k, x, avg(id), grouping(x) AS g FROM a GROUP BY k, CUBE (x)",
    "floats": "SELECT b.k, sum(y) AS s FROM b GROUP BY ROLLUP (b.k) ORDER BY s, b.k LIMIT 2",
    "of_aggregates": "SELECT n, count(*) FROM (SELECT k, count(*) AS n FROM a GROUP BY k)"
    " GROUP BY CUBE (n)",
    "over_members_that_come": "SELECT a.k, count(b.id) AS n FROM a LEFT JOIN b ON a.k = b.k"
    " GROUP BY ROLLUP (a.k) HAVING count(*) < 4",
    "values": "SELECT v.q, count(x) AS n FROM (VALUES (1, 'u'), (NULL, 'v'), (1, 'u')) AS v(p, q)"
    " LEFT JOIN a ON a.k = v.p GROUP BY ROLLUP (v.q)",
}
JOINED = (
    "SELECT t.k, t.n, b.id FROM (SELECT k, count(*) AS n FROM a GROUP BY ROLLUP (k)"
    " HAVING count(*) > 1) AS t JOIN b ON t.k IS NOT DISTINCT FROM b.k WHERE t.n < 7"
)
COMBINED = {
    "by_aggregated_values": "WITH c AS (SELECT k, count(*) AS n FROM a GROUP BY k)"
    " SELECT p.k, q.k AS other, p.n FROM c AS p JOIN c AS q ON p.n = q.n ORDER BY p.k, q.k",
    "by_keys_and_more": "WITH c AS (SELECT k, sum(x) AS s, count(*) AS n FROM a GROUP BY k)"
    " SELECT p.k, p.s, d.most FROM c AS p JOIN"
    " (SELECT k, max(y) AS most FROM b GROUP BY k) AS d ON p.k = d.k WHERE p.n > d.most"
    " ORDER BY p.k LIMIT 2",
    "of_three_grouped": "WITH c AS (SELECT k, count(*) AS n FROM a GROUP BY k)"
    " SELECT p.n, count(*) AS m, min(r.k) FROM c AS p, c AS q, c AS r"
    " WHERE p.n = q.n AND q.k = r.k GROUP BY p.n",
}
"""Rows of groupings, joined by conditions on them."""
DIFFERENCES = {
    "except_all": "SELECT k, x FROM a EXCEPT ALL SELECT k, id FROM b",
    "chain": "SELECT k FROM a EXCEPT ALL SELECT k FROM b EXCEPT ALL SELECT x FROM a ORDER BY k",
    "joined": "SELECT t.k, b.id, t.k + b.id AS s FROM"
    " (SELECT k FROM a INTERSECT ALL SELECT k FROM b) AS t JOIN b ON t.k = b.k",
    "of_aggregates": "SELECT n FROM (SELECT k, count(*) AS n FROM a GROUP BY k)"
    " EXCEPT ALL SELECT k FROM b",
}


@pytest.fixture(scope="module")
def database() -> Database:
    """Two relations with NULL keys and values, duplicates, and both zeros."""
    return Database({"a": A, "b": B})


def _deletions(database: Database) -> list[Deletion]:
    rng = random.Random(2)
    drawn = [NOTHING]
    for share in (0.2, 0.4, 0.7, 1.0):
        keys = {
            name: frozenset(key for key in relation.row_keys() if rng.random() < share)
            for name, relation in database.relations.items()
        }
        drawn.append(Deletion("random", keys))
    return drawn


@pytest.mark.parametrize("sql", EXACT.values(), ids=EXACT)
def test_groups_of_sets(database: Database, sql: str, tmp_path: Path) -> None:
    assert check_written(sql, database, _deletions(database), tmp_path, grouping=True) >= 3


def test_tuples_of_sets_are_joined(database: Database, tmp_path: Path) -> None:
    assert check_written(JOINED, database, _deletions(database), tmp_path) >= 3


@pytest.mark.parametrize("sql", DIFFERENCES.values(), ids=DIFFERENCES)
def test_bag_differences(database: Database, sql: str, tmp_path: Path) -> None:
    assert check_written(sql, database, _deletions(database), tmp_path) >= 2


@pytest.mark.parametrize("sql", COMBINED.values(), ids=COMBINED)
def test_grouped_rows_are_joined(database: Database, sql: str, tmp_path: Path) -> None:
    grouping = "GROUP BY p.n" in sql
    assert check_written(sql, database, _deletions(database), tmp_path, grouping=grouping) >= 3


def test_annotations_of_joined_groups(database: Database, tmp_path: Path) -> None:
    pairs = written(COMBINED["by_aggregated_values"], database, tmp_path).annotations()
    shown = {tuple(row.values())[:2]: str(annotation) for row, annotation in pairs}
    assert shown[2, 3] == "δ(a:4)·δ(a:7)·[COUNT(a:4⊗1) = COUNT(a:7⊗1)]"
    assert shown[3, 3] == "δ(a:7)²·[COUNT(a:7⊗1) = COUNT(a:7⊗1)]"
    assert (1, 3) not in shown
