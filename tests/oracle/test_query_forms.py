"""Forms of queries under the deletion oracle without Spark: recursion, and pipes as SELECTs."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from tests.oracle.captured import check_captured
from tests.oracle.database import Database, Deletion, Relation

NODES = 4
SEEDS = range(3)


def _relation(name: str, columns: tuple[str, ...], rows: list[tuple[int | None, ...]]) -> Relation:
    table = pa.table(
        {
            column: pa.array([row[number] for row in rows], pa.int32())
            for number, column in enumerate(columns)
        }
    )
    schema = ", ".join(f"{column} int" for column in columns)
    return Relation(name, ("id",), schema, table)


def _database(seed: int) -> Database:
    """Return a graph without cycles, with parallel edges and NULLs, and nodes to stop at."""
    draw = random.Random(seed)
    edges: list[tuple[int | None, ...]] = []
    for number in range(draw.randint(5, 8)):
        first, other = sorted(draw.sample(range(1, NODES + 1), 2))
        edges.append(
            (number, draw.choice([first, first, first, None]), draw.choice([other, other, None]))
        )
    stops = [(number, draw.choice([None, 2, 3, 4])) for number in range(draw.randint(0, 2))]
    return Database(
        {
            "e": _relation("e", ("id", "a", "b"), edges),
            "stops": _relation("stops", ("id", "n"), list(stops)),
        }
    )


def _deletions(seed: int, database: Database) -> list[Deletion]:
    draw = random.Random(seed)
    deletions = []
    for share in (0.0, 0.2, 0.5, 0.8, 1.0):
        keys = {
            name: frozenset(
                (key,) for key in relation.data.column("id").to_pylist() if draw.random() < share
            )
            for name, relation in database.relations.items()
        }
        deletions.append(Deletion(f"{share}", keys))
    return deletions


LEVEL = f"MAX RECURSION LEVEL {NODES}"
PATHS = (
    f"WITH RECURSIVE r(p, q) {LEVEL} AS (SELECT a, b FROM e WHERE a < 3 UNION ALL "
    "SELECT r.p, e.b FROM r JOIN e ON r.q = e.a)"
)

RECURSIVE = {
    "paths": f"{PATHS} SELECT p, q FROM r",
    "counted": f"{PATHS} SELECT q, count(*) AS n FROM r GROUP BY q HAVING count(*) > 1",
    "joined": f"{PATHS} SELECT x.q FROM r AS x JOIN r AS y ON x.q = y.q + 1",
    "missing": f"{PATHS} SELECT id FROM e WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.q = e.b)",
    "stopped": PATHS[:-1]
    + " WHERE NOT EXISTS (SELECT 1 FROM stops WHERE stops.n = e.a)) SELECT q FROM r",
    "distinct": PATHS.replace("SELECT r.p", "SELECT DISTINCT r.p") + " SELECT p, q FROM r",
    "members": PATHS[: PATHS.index(" UNION ALL")] + " UNION ALL SELECT a, b FROM e WHERE a IN "
    "(SELECT q FROM r)) SELECT p, q FROM r",
    "texts": f"WITH RECURSIVE r {LEVEL} AS (SELECT b, 0 AS d, CAST(a AS STRING) AS path FROM e "
    "WHERE a < 3 UNION ALL SELECT e.b, d + 1, path || '-' || CAST(e.a AS STRING) FROM e, r "
    "WHERE r.b = e.a AND d < 2) SELECT path, d, b FROM r",
    "of groups": PATHS.replace("JOIN e ON", "JOIN (SELECT a, max(b) AS b FROM e GROUP BY a) e ON")
    + " SELECT p, q FROM r",
    "of one": f"WITH RECURSIVE n(i) {LEVEL} AS (SELECT 1 AS i UNION ALL SELECT i + 1 AS i FROM n "
    "WHERE i < 4) SELECT i, count(e.id) AS c FROM n LEFT JOIN e ON e.a = i GROUP BY i",
}


@pytest.mark.many
@pytest.mark.parametrize("case", RECURSIVE)
def test_recursion(case: str) -> None:
    sql, changed = RECURSIVE[case], 0
    for seed in SEEDS:
        database = _database(seed)
        plain = sql.replace(f" {LEVEL}", "")
        changed += check_captured(sql, database, _deletions(seed, database), plain)
    assert changed > 3


PIPES = {
    "FROM e |> WHERE a > 1 |> EXTEND a + b AS s |> SET b = s, a = b |> DROP id": (
        "SELECT a + b AS a, a + b AS b, a + b AS s FROM e WHERE a > 1"
    ),
    "FROM e |> AS x |> LEFT JOIN e AS y ON x.b = y.a |> SELECT x.id, y.b |> WHERE b > 3": (
        "SELECT x.id, y.b FROM e AS x LEFT JOIN e AS y ON x.b = y.a WHERE y.b > 3"
    ),
    "FROM e |> AGGREGATE count(*) AS n, max(b) AS m GROUP BY a, b % 2 AS p |> WHERE n > 1": (
        "SELECT a, b % 2 AS p, count(*) AS n, max(b) AS m FROM e GROUP BY a, b % 2 "
        "HAVING count(*) > 1"
    ),
    "FROM e |> ORDER BY b, id |> WHERE a > 1 |> LIMIT 2": (
        "SELECT * FROM e WHERE a > 1 ORDER BY b NULLS FIRST, id LIMIT 2"
    ),
    "SELECT a FROM e UNION ALL SELECT b FROM e |> WHERE a > 2 |> EXCEPT (SELECT n FROM stops)": (
        "SELECT a FROM (SELECT a FROM e UNION ALL SELECT b FROM e) WHERE a > 2 "
        "EXCEPT SELECT n FROM stops"
    ),
}


@pytest.mark.many
@pytest.mark.parametrize("sql", PIPES)
def test_pipes(sql: str) -> None:
    changed = 0
    for seed in SEEDS:
        database = _database(seed)
        changed += check_captured(sql, database, _deletions(seed, database), PIPES[sql])
    assert changed >= 5
