"""WITH RECURSIVE under both oracles: unfolded as deep as it may go after any deletion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lipstick
from rewriter.errors import UnsupportedError
from tests.oracle.small import Oracles, annotated, oracles, small, token
from tests.versions import VERSION

pytestmark = [
    pytest.mark.classic,
    pytest.mark.skipif(VERSION < (4, 1), reason="WITH RECURSIVE came with Spark 4.1"),
]

EDGES = small(
    "e",
    "id int, a int, b int",
    [(1, 1, 2), (2, 2, 3), (3, 1, 3), (4, 3, 4), (5, 3, 4), (6, None, 1), (7, 4, None), (8, 9, 9)],
)
STOPS = small("stops", "id int, n int", [(1, 3), (2, None)])
EMPTY = small("nothing", "id int, a int, b int", [])

REACHED = """
    WITH RECURSIVE r(p, q) AS (
        SELECT a, b FROM e WHERE a = 1 UNION ALL SELECT r.p, e.b FROM r JOIN e ON r.q = e.a
    )
"""


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, EDGES, STOPS, EMPTY) as both:
        yield both


QUERIES = [
    f"{REACHED} SELECT q, count(*) AS n FROM r GROUP BY q HAVING count(*) > 1",
    "WITH RECURSIVE r AS (SELECT b, 0 AS d, CAST(a AS STRING) AS path FROM e WHERE a = 1 "
    "UNION ALL SELECT e.b, d + 1, path || '-' || e.a FROM e, r WHERE r.b = e.a AND d < 2) "
    "SELECT path, d, b FROM r",
    "FROM (WITH RECURSIVE r AS (SELECT b FROM e WHERE a = 2 UNION ALL SELECT e.b FROM r JOIN e "
    "ON r.b = e.a) SELECT b FROM r) |> AGGREGATE max(b) AS m",
]


@pytest.mark.slow
@pytest.mark.parametrize("sql", QUERIES)
def test_recursion(on: Oracles, sql: str) -> None:
    on.hold(sql, {"e": [2]}, {"e": [3, 5, 7]}, {"e": range(1, 9)})


@pytest.mark.slow
def test_a_deletion_may_let_it_go_deeper(on: Oracles) -> None:
    sql = (
        "WITH RECURSIVE r AS (SELECT a, b FROM e WHERE a = 1 UNION ALL SELECT r.a, e.b FROM r "
        "JOIN e ON r.b = e.a WHERE NOT EXISTS (SELECT 1 FROM stops WHERE n = e.a)) SELECT b FROM r"
    )
    on.hold(sql, {"stops": [1], "e": [4]}, {"e": [1]})


def test_annotations_are_sums_over_paths(on: Oracles) -> None:
    rows = annotated(on.ls.sql(f"{REACHED} SELECT q FROM r"))
    e = {number: token("e", number) for number in range(1, 9)}
    assert rows[((3,), e[3])] == rows[((3,), e[1] * e[2])] == 1
    assert rows[((4,), e[1] * e[2] * e[5])] == rows[((4,), e[3] * e[4])] == 1


STAFF = """
    WITH RECURSIVE h(id, top, depth) MAX RECURSION LEVEL 200 AS (
        SELECT id, id, 0 FROM staff WHERE boss IS NULL
        UNION ALL SELECT s.id, h.top, h.depth + 1 FROM staff s JOIN h ON s.boss = h.id
    )
"""


@pytest.mark.engines("spark")
def test_deep_hierarchies(spark: SparkSession) -> None:
    """The text of a query does not grow with its levels; deletions cut what hangs below."""
    rows = [(number, number - 2 if number >= 2 else None) for number in range(90)]
    frame = spark.createDataFrame(rows, "id int, boss int")
    with lipstick.session(spark) as ls:
        ls.track("staff", frame, key="id")
        q = ls.sql(f"{STAFF} SELECT a.id, b.depth FROM h a LEFT JOIN h b ON a.id = b.id + 2")
        assert len(q.plan.root.derived) <= 2
        counted = ls.sql(f"{STAFF} SELECT top, max(depth) AS d FROM h GROUP BY top").capture
        assert sorted(map(tuple, counted.df.collect())) == [(0, 44), (1, 44)]
        left = counted.what_if({"staff": [20, 1]}).df
        assert sorted(map(tuple, left.collect())) == [(0, 9)]
        offline = lipstick.open(counted.directory)
        rows_left: Any = offline.what_if({"staff": [20, 1]}).df
        assert rows_left.to_pylist() == [{"top": 0, "d": 9}]
        with pytest.raises(
            UnsupportedError, match=r"(?s)recursive query cannot be run again.*annotations"
        ):
            _ = q.what_if({"staff": [3]}, method="rerun").df


def test_what_ends_at_once(on: Oracles) -> None:
    sql = (
        "WITH RECURSIVE r AS (SELECT a, b FROM e WHERE a = 9 AND b = 9 UNION ALL "
        "SELECT r.a, n.b FROM r JOIN nothing AS n ON r.b = n.a) SELECT a FROM r"
    )
    assert on.ls.sql(sql).df.count() == 1
    nothing = sql.replace("FROM e WHERE a = 9 AND b = 9", "FROM nothing")
    assert on.ls.sql(nothing).df.count() == 0


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "WITH RECURSIVE r MAX RECURSION LEVEL 5 AS (SELECT a, b FROM e UNION ALL "
            "SELECT r.a, e.b FROM r JOIN e ON r.b = e.a) SELECT * FROM r LIMIT 3",
            r"r does not end within 5 levels.* at 1:16",
        ),
        (
            "WITH RECURSIVE r AS (SELECT 1L AS n UNION ALL SELECT CAST(n + 1 AS INT) FROM r "
            "WHERE n < 3) SELECT a FROM e, r",
            r"of types bigint and int.* at 1:16",
        ),
        (
            "WITH RECURSIVE r AS (SELECT a, b FROM e UNION ALL SELECT a, b FROM r "
            "WHERE rand() < 0.5) SELECT * FROM r",
            r"chance decides something is not supported at 1:16",
        ),
    ],
)
def test_refusals(on: Oracles, sql: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=f"(?s){message}"):
        on.ls.sql(sql)


REACHABLE = """
    WITH RECURSIVE s(id) AS (
        SELECT id FROM a WHERE id = 1
        UNION ALL SELECT d.id FROM a d JOIN s ON d.up = s.id AND d.id > s.id
    ) SELECT * FROM s
"""


@pytest.mark.parametrize("naming", ["key", "places", "values"])
def test_tokens_that_are_never_null_are_of_one_level_alone(
    ls: lipstick.Session, spark: SparkSession, tmp_path: Path, naming: str
) -> None:
    """Rows of the first level have no token of the second, whatever the key's type promises."""
    rows = spark.range(8).selectExpr("id", "id div 2 AS up")
    if naming == "places":
        rows.coalesce(1).write.parquet(str(tmp_path / "a.parquet"))
        ls.track("a", str(tmp_path / "a.parquet"))
    else:
        ls.track("a", rows, key="id" if naming == "key" else "*")
    q = ls.sql(REACHABLE)
    assert sorted(row["id"] for row in q.df.collect()) == list(range(1, 8))
    left = q.what_if(delete={"a": "id = 3"}).df.collect()
    assert sorted(row["id"] for row in left) == [1, 2, 4, 5]
    deepest = [annotation for row, annotation in q.polynomials() if row["id"] == 7]
    assert [len(annotation.tokens) for annotation in deepest] == [3]
