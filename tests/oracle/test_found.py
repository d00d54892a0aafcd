"""Queries that generated ones have shown to go wrong, each as small as it can be."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from lipstick.errors import NeedsSparkError
from tests.oracle.captured import check_captured
from tests.oracle.database import Database, Deletion, Relation
from tests.oracle.written import check_written

COLUMNS = ("id", "k", "x")


def _relation(name: str, rows: list[tuple[int | None, ...]]) -> Relation:
    table = pa.table(
        {column: pa.array([row[n] for row in rows], pa.int32()) for n, column in enumerate(COLUMNS)}
    )
    return Relation(name, ("id",), ", ".join(f"{column} int" for column in COLUMNS), table)


DATABASE = Database(
    {
        "a": _relation(
            "a", [(0, 3, 1), (1, None, 2), (2, 2, 5), (3, 3, None), (4, 1, 1), (5, 3, 7)]
        ),
        "b": _relation("b", [(0, 3, 2), (1, 1, 5), (2, None, 1), (3, 3, None)]),
        "c": _relation("c", [(0, 1, 2), (1, 4, 5), (2, 3, 2), (3, 2, 3)]),
    }
)
DELETIONS = [
    Deletion("chosen", {name: frozenset((key,) for key in keys) for name, keys in chosen.items()})
    for chosen in (
        {},
        {"b": [1]},
        {"b": [0, 1, 3]},
        {"b": [0, 1, 2, 3]},
        {"a": [2, 4], "b": [1]},
        {"c": [0, 2]},
        {"a": [5]},
        {"b": [0, 1, 3], "c": [0, 3]},
    )
]

IN_MEMORY = {
    "a LEFT JOIN by items that are made of a group": (
        "WITH g AS (SELECT k, i FROM (SELECT k FROM a GROUP BY k) LATERAL VIEW explode(array(1, 2))"
        " t AS i),"
        " h AS (SELECT k, x AS i, count(*) AS n FROM b GROUP BY k, x)"
        " SELECT g.k, g.i, h.n FROM g LEFT JOIN h ON g.k = h.k AND g.i = h.i"
    ),
    "different values among those with IS NOT NULL": (
        "SELECT count(DISTINCT CASE WHEN b.k IS NOT NULL THEN a.x END) AS n"
        " FROM a LEFT JOIN b ON a.k = b.k"
    ),
    "a kept side with IS NOT NULL, which is read once": (
        "SELECT a.k, count(*) AS n, count(c.x) AS m FROM a"
        " RIGHT JOIN (SELECT k, x FROM b WHERE k IS NOT NULL) b ON a.k = b.k AND b.x IS NOT NULL"
        " LEFT JOIN (SELECT id, x FROM c WHERE x <> id) c ON a.x = c.x GROUP BY a.k"
    ),
    "a group that only a deletion makes, which another block refers to": (
        "WITH g AS ((SELECT k FROM a EXCEPT SELECT k FROM b) EXCEPT SELECT x FROM c WHERE x = 5)"
        " SELECT g.k, c.id FROM g JOIN c ON c.k = g.k"
    ),
    "values of such a group that follow from its keys": (
        "WITH g AS (SELECT k + 1 AS j, k FROM (SELECT k FROM a EXCEPT SELECT k FROM b) GROUP BY k),"
        " h AS (SELECT j FROM g GROUP BY j) SELECT h.j, c.id FROM h JOIN c ON c.k = h.j"
    ),
    "a membership that is not a conjunct, of rows that only a deletion makes": (
        "SELECT h.n FROM (SELECT n, count(*) AS m FROM (SELECT k, count(*) AS n FROM a GROUP BY k)"
        " GROUP BY n) h WHERE h.n NOT IN (SELECT x FROM b) OR h.m = 2"
    ),
    "a window over rows, some of which are not there": (
        "SELECT q.id, q.n FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM a"
        " WHERE k NOT IN (SELECT k FROM b WHERE k IS NOT NULL)"
        " UNION ALL SELECT id, k FROM c) q LEFT ANTI JOIN (SELECT x AS n FROM b) r ON r.n = q.n"
    ),
}
WITH_STATEMENTS = {
    "an array collected, taken apart and numbered by a window": (
        "SELECT q.k, c.id FROM (SELECT d.k, rank() OVER (PARTITION BY d.k ORDER BY e.x) AS n FROM"
        " (SELECT k, collect_list(x) AS xs FROM a GROUP BY k) d LATERAL VIEW explode(d.xs) e AS x)"
        " q RIGHT JOIN c ON c.x = q.n"
    ),
    "what a correlated subquery collects of nothing": (
        "SELECT id, (SELECT size(collect_set(c.x)) FROM c WHERE c.k = a.x) AS n FROM a"
    ),
    "places in an array that was collected": (
        "SELECT d.k, max(e.p) AS p FROM (SELECT k, collect_list(x) AS xs FROM a GROUP BY k) d"
        " LATERAL VIEW posexplode(d.xs) e AS p, x GROUP BY d.k"
    ),
}


def test_arrays_are_compared_by_spark(tmp_path: Path) -> None:
    sql = (
        "SELECT EXISTS (SELECT 1 FROM c WHERE c.x > element_at(q.xs, 1)) AS e"
        " FROM (SELECT array(k, x) AS xs FROM a) q"
    )
    with pytest.raises(NeedsSparkError, match="are not compared without Spark"):
        check_written(sql, DATABASE, DELETIONS, tmp_path)


@pytest.mark.parametrize("case", [*IN_MEMORY, *WITH_STATEMENTS])
def test_statements(case: str) -> None:
    sql = (IN_MEMORY | WITH_STATEMENTS)[case]
    assert check_captured(sql, DATABASE, DELETIONS) > 0


@pytest.mark.parametrize("case", IN_MEMORY)
def test_in_memory(case: str, tmp_path: Path) -> None:
    assert check_written(IN_MEMORY[case], DATABASE, DELETIONS, tmp_path) > 0
