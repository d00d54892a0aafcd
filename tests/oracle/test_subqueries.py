"""Subqueries as values of a row, LATERAL and LIMIT: captures answer deletions without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from lipstick.errors import NeedsSparkError
from tests.oracle.captured import check_captured
from tests.oracle.database import Database, Deletion, Relation
from tests.oracle.duck import Duck, loosened
from tests.oracle.rows import Bag, assert_same_bag, from_arrow
from tests.oracle.written import written

Rows = Sequence[tuple[int | None, ...]]


def relation(name: str, value: str, rows: Rows) -> Relation:
    """Return a relation of a key, a column to join by, and a value."""
    columns = ("id", "k", value)
    arrays = [pa.array(values, pa.int32()) for values in zip(*rows, strict=True)] or [
        pa.array([], pa.int32()) for _ in columns
    ]
    schema = ", ".join(f"{column} int" for column in columns)
    return Relation(name, ("id",), schema, pa.Table.from_arrays(arrays, names=list(columns)))


DATABASE = Database(
    {
        "a": relation(
            "a", "x", [(0, 3, 1), (1, None, 2), (2, 2, 5), (3, 3, None), (4, 1, 1), (5, 4, 2)]
        ),
        "b": relation("b", "y", [(0, 3, 2), (1, 1, 5), (2, None, 1), (3, 3, None), (4, 2, 2)]),
        "c": relation("c", "z", [(0, 1, 2), (1, 4, 5), (2, 3, 2)]),
        "e": relation("e", "w", []),
    }
)
DELETIONS = [
    Deletion("chosen", {name: frozenset((key,) for key in keys) for name, keys in chosen.items()})
    for chosen in (
        {},
        {"b": [2]},
        {"b": [2, 3]},
        {"b": [0, 2, 3], "c": [2]},
        {"a": [0, 4], "b": [1]},
        {"a": [1, 2, 3], "c": [0, 1]},
        {"b": [0, 1, 2, 3, 4]},
        {"c": [0, 1, 2]},
        {"a": [0, 1, 2, 3, 4, 5]},
    )
]
GROUPS = "(SELECT k, sum(x) AS s FROM a GROUP BY k) g"


def hold(sql: str, directory: Path, plain: str | None = None) -> None:
    """Hold deletions, by the tail's SQL and in memory, against the query on what is left."""
    assert check_captured(sql, DATABASE, DELETIONS, plain) > 1
    duck = Duck(DATABASE)
    capture = written(sql, DATABASE, directory)
    for deletion in DELETIONS:
        expected = loosened(duck.answer(plain or sql, deletion))
        deleted = {
            name: pa.table({"id": pa.array([key for (key,) in keys], pa.int32())})
            for name, keys in deletion.keys.items()
        }
        try:
            actual = loosened(from_arrow(capture.what_if(deleted).df))
        except NeedsSparkError:
            continue
        expected = Bag(actual.columns, actual.types, expected.rows)
        assert_same_bag(expected, actual, f"in memory, {deletion}\n{sql}")


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM a WHERE k NOT IN (SELECT k FROM b) OR x = 1",
        "SELECT * FROM a WHERE NOT (k IN (SELECT k FROM b) AND x = 1)",
        "SELECT * FROM a WHERE k IN (SELECT k FROM b) OR k NOT IN (SELECT k FROM e)",
        "SELECT * FROM a WHERE k NOT IN (SELECT k FROM b WHERE y = 2)",
        "SELECT id FROM a WHERE (k IN (SELECT k FROM b)) = false OR x = 1",
        "SELECT * FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.k = a.k) OR x = 1",
        "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.y > a.x)"
        " OR EXISTS (SELECT 1 FROM c WHERE c.z > a.x AND c.k = a.k)",
        "SELECT id, EXISTS (SELECT 1 FROM b WHERE b.k = a.k) AS v,"
        " CASE WHEN EXISTS (SELECT 1 FROM c WHERE c.z > a.x) THEN x ELSE 0 END AS w FROM a",
        "SELECT sum(CASE WHEN EXISTS (SELECT 1 FROM b WHERE b.k = a.k) THEN x ELSE 100 END) AS s,"
        " count(*) FILTER (WHERE EXISTS (SELECT 1 FROM c WHERE c.k = a.k)) AS n FROM a",
        "SELECT EXISTS (SELECT 1 FROM b WHERE b.k = a.k) AS v, count(*) AS n FROM a"
        " GROUP BY EXISTS (SELECT 1 FROM b WHERE b.k = a.k)",
        "SELECT k, count(*) AS n FROM a GROUP BY k"
        " HAVING EXISTS (SELECT 1 FROM b WHERE b.k = a.k) OR count(*) > 1",
        "SELECT k, sum(x) AS s FROM a GROUP BY k"
        " HAVING EXISTS (SELECT 1 FROM b WHERE b.y > min(a.x)) AND sum(x) NOT IN"
        " (SELECT z FROM c WHERE c.z <= max(a.x))",
        "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k = b.k AND b.k IN (SELECT k FROM c)",
        "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k"
        " AND (EXISTS (SELECT 1 FROM c WHERE c.k = b.k AND c.z > a.x) OR a.x = 1)",
        f"SELECT g.k, g.s FROM {GROUPS} WHERE g.s NOT IN (SELECT d.m FROM"
        " (SELECT k, max(y) AS m FROM b GROUP BY k) d) OR g.k = 2",
    ],
)
def test_membership_anywhere(sql: str, tmp_path: Path) -> None:
    hold(sql, tmp_path)


@pytest.mark.parametrize(
    ("left", "member", "rest", "more"),
    [
        ("a", "SELECT k FROM b WHERE b.y > a.x", "", " OR a.x = 1"),
        ("a", "SELECT k FROM b WHERE b.y = a.x", "", ""),
        (GROUPS, "SELECT y AS k FROM b WHERE b.y < g.s OR b.k = g.k", "g.s", " OR g.k = 2"),
        (
            GROUPS,
            "SELECT d.m AS k FROM (SELECT k AS j, max(y) AS m FROM b GROUP BY k) d"
            " WHERE d.j >= g.k",
            "g.s",
            " OR g.s = 2",
        ),
    ],
)
def test_correlated_not_in(left: str, member: str, rest: str, more: str, tmp_path: Path) -> None:
    """DuckDB has it wrong where NULLs are compared: it is asked with NOT EXISTS."""
    outer = rest or "a.k"
    hold(
        f"SELECT * FROM {left} WHERE {outer} NOT IN ({member}){more}",
        tmp_path,
        f"SELECT * FROM {left} WHERE NOT EXISTS (SELECT 1 FROM ({member}) AS t"
        f" WHERE t.k = {outer} OR t.k IS NULL OR {outer} IS NULL){more}",
    )


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, (SELECT count(*) FROM b WHERE b.y > a.x) AS v FROM a",
        "SELECT id, (SELECT max(y) + a.x FROM b WHERE b.k = a.k) AS v FROM a",
        "SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) < a.x) AS v FROM a",
        "SELECT id, (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) < 2) AS v FROM a",
        "SELECT id, (SELECT y FROM b WHERE b.id = a.id) AS v FROM a",
        "SELECT id, (SELECT max(y) FROM b WHERE b.k = a.k GROUP BY b.k) AS v FROM a",
        "SELECT id, (SELECT y FROM b WHERE b.k = a.k ORDER BY y DESC NULLS LAST LIMIT 1) AS v"
        " FROM a",
        "SELECT id, (SELECT count(*) FROM b WHERE b.y > a.x AND NOT EXISTS"
        " (SELECT 1 FROM c WHERE c.k = b.k)) AS v FROM a",
        "SELECT id FROM a WHERE x < (SELECT count(*) FROM b WHERE b.k = a.k OR b.y = a.x)",
        "SELECT id FROM a WHERE EXISTS (SELECT count(*) FROM b WHERE b.k = a.k"
        " HAVING count(*) < 2)",
        "SELECT id FROM a WHERE EXISTS (SELECT b.k FROM b WHERE b.y > a.x GROUP BY b.k"
        " HAVING count(*) < 2)",
        "SELECT id FROM a WHERE EXISTS (SELECT k FROM b WHERE b.k = a.k"
        " EXCEPT SELECT k FROM c WHERE c.z > a.x)",
        f"SELECT g.k, (SELECT count(*) FROM b WHERE b.y >= g.s) AS v FROM {GROUPS}",
        f"SELECT g.k, (SELECT count(*) FROM (SELECT k, count(*) AS n FROM b GROUP BY k) d"
        f" WHERE d.n >= g.s) AS v FROM {GROUPS}",
        "SELECT k, count(*) AS n FROM a GROUP BY k"
        " HAVING count(*) > (SELECT count(*) FROM b WHERE b.k >= a.k)",
        "SELECT k, count(*) AS n FROM a GROUP BY k"
        " HAVING count(*) > (SELECT count(*) FROM b WHERE b.y = max(a.x))",
    ],
)
def test_correlated_by_any_predicate(sql: str, tmp_path: Path) -> None:
    hold(sql, tmp_path)


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.id, t.y FROM a, LATERAL (SELECT y FROM b WHERE b.k = a.k) t",
        "SELECT a.id, t.y FROM a LEFT JOIN LATERAL (SELECT y FROM b WHERE b.k = a.k) t ON t.y > 2",
        "SELECT a.id, t.* FROM a, LATERAL (SELECT count(*) AS n, max(y) AS m FROM b"
        " WHERE b.y > a.x) t",
        "SELECT a.id, t.* FROM a LEFT JOIN LATERAL (SELECT count(*) AS n FROM b WHERE b.k = a.k"
        " HAVING count(*) > 1) t ON true",
        "SELECT a.id, t.* FROM a, LATERAL (SELECT b.k, count(*) AS n FROM b WHERE b.y > a.x"
        " GROUP BY b.k) t",
        "SELECT a.id, t.* FROM a, LATERAL (SELECT y FROM b WHERE b.k = a.k"
        " UNION ALL SELECT z FROM c WHERE c.k = a.k) t",
        "SELECT a.id, t.* FROM a, LATERAL (SELECT b.id AS i FROM b WHERE b.y > a.x"
        " ORDER BY b.id DESC LIMIT 2) t",
        "SELECT a.id, t.* FROM a, LATERAL (SELECT b.id AS i,"
        " row_number() OVER (ORDER BY b.id) AS n FROM b WHERE b.y > a.x) t",
        f"SELECT g.k, t.* FROM {GROUPS}, LATERAL (SELECT max(y) AS m FROM b WHERE b.y >= g.s) t",
    ],
)
def test_lateral(sql: str, tmp_path: Path) -> None:
    hold(sql, tmp_path)


@pytest.mark.many
@pytest.mark.parametrize(
    ("sql", "settled"),
    [
        ("SELECT k FROM a LIMIT 3", "SELECT k FROM a ORDER BY id LIMIT 3"),
        (
            "SELECT k, sum(x) AS s FROM a GROUP BY k LIMIT 2 OFFSET 1",
            "SELECT k, sum(x) AS s FROM a GROUP BY k ORDER BY k NULLS FIRST LIMIT 2 OFFSET 1",
        ),
        (
            "SELECT t.k, c.z FROM (SELECT k FROM a LIMIT 3) t JOIN c ON t.k = c.k",
            "SELECT t.k, c.z FROM (SELECT k FROM a ORDER BY id LIMIT 3) t JOIN c ON t.k = c.k",
        ),
        (
            "SELECT id FROM a WHERE k IN (SELECT k FROM b LIMIT 2)",
            "SELECT id FROM a WHERE k IN (SELECT k FROM b ORDER BY id LIMIT 2)",
        ),
        (
            "SELECT id FROM a WHERE id IN (SELECT b.id FROM b WHERE b.y > a.x LIMIT 1) OR x = 5",
            "SELECT id FROM a WHERE id IN (SELECT b.id FROM b WHERE b.y > a.x ORDER BY b.id"
            " LIMIT 1) OR x = 5",
        ),
        (
            "SELECT * FROM (SELECT count(*) AS n FROM a) t, (SELECT max(y) AS m FROM b) u LIMIT 9",
            "SELECT * FROM (SELECT count(*) AS n FROM a) t, (SELECT max(y) AS m FROM b) u",
        ),
    ],
)
def test_limit_without_order(sql: str, settled: str, tmp_path: Path) -> None:
    """The answer is one of those that the query may have: that of an order by the rows' keys."""
    hold(sql, tmp_path, settled)
