"""Texts of a fixed length, which Spark pads where it compares them, though not everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import NeedsSparkError
from rewriter.errors import UnsupportedError
from tests.oracle.rows import assert_same_bag, from_arrow, from_spark

CARS = {1: "ab", 2: "cd", 3: "ab"}
OTHERS = {1: "ab", 2: "ce", 3: "zz"}


@pytest.fixture(scope="module")
def ls(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[lipstick.Session]:
    """A session that tracks tables of texts of five and of three characters."""
    home: Path = tmp_path_factory.mktemp("padded")
    tables = {"cars": ("char(5)", CARS), "others": ("char(3)", OTHERS)}
    for name, (kind, rows) in tables.items():
        spark.sql(f"CREATE TABLE {name} (id int, c {kind}) USING parquet LOCATION '{home / name}'")
        values = ", ".join(f"({key}, '{text}')" for key, text in rows.items())
        spark.sql(f"INSERT INTO {name} VALUES {values}")
    with lipstick.session(spark) as session:
        for name in tables:
            session.track(name, key="id")
        yield session
    for name in tables:
        spark.sql(f"DROP TABLE {name}")


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT cars.id, others.id AS other FROM cars JOIN others ON cars.c = others.c",
        "SELECT c, length(c) AS n, count(*) AS k FROM cars GROUP BY c HAVING c = 'ab'",
        "SELECT a.id, b.id AS other FROM cars a LEFT JOIN cars b ON a.c = b.c AND a.id < b.id",
        pytest.param(
            "SELECT c FROM cars WHERE c IN (SELECT c FROM cars WHERE id > 1)"
            " UNION SELECT c FROM cars",
            marks=pytest.mark.slow,
        ),
        "SELECT * FROM (SELECT id, c FROM cars) PIVOT (count(id) FOR c IN ('ab', 'cd   '))",
        "SELECT id FROM cars WHERE CAST(c AS STRING) IN (SELECT rpad(c, 5, ' ') FROM others)",
        "SELECT id FROM cars WHERE c = (SELECT c FROM cars WHERE id = 2)",
    ],
)
def test_padded(ls: lipstick.Session, spark: SparkSession, sql: str) -> None:
    """Of one length, or where Spark pads them alike, they are compared as Spark does."""
    q = ls.sql(sql)
    assert_same_bag(from_spark(spark.sql(sql)), from_spark(q.df), sql)
    offline = lipstick.open(q.capture.directory)
    assert_same_bag(from_spark(spark.sql(sql)), from_arrow(offline.what_if({}).df), sql)
    left = spark.sql(f"WITH cars AS (SELECT * FROM default.cars WHERE id = 2) {sql}")
    gone = {"cars": [1, 3]}
    assert_same_bag(from_spark(left), from_spark(q.what_if(gone).df), sql)
    assert_same_bag(from_spark(left), from_arrow(offline.what_if(gone).df), sql)


@pytest.mark.engines("spark")
def test_padded_above_groups(ls: lipstick.Session, spark: SparkSession) -> None:
    """What aggregated rows are compared with is padded by Spark, and without it by nobody."""
    sql = (
        "WITH g AS (SELECT c, count(*) AS n FROM cars GROUP BY c)"
        " SELECT a.c, b.c AS d FROM g a, g b WHERE a.c = 'cd' AND b.c <> 'ab'"
    )
    q = ls.sql(sql)
    assert len(from_spark(q.df)) == 1
    assert_same_bag(from_spark(spark.sql(sql)), from_spark(q.df), sql)
    left = spark.sql(f"WITH cars AS (SELECT * FROM default.cars WHERE id < 2), {sql[5:]}")
    assert_same_bag(from_spark(left), from_spark(q.what_if({"cars": [2, 3]}).df), sql)
    with pytest.raises(NeedsSparkError, match="compares CHAR with a text of another length"):
        lipstick.open(q.capture.directory).what_if({"cars": [2, 3]})


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("SELECT id FROM cars WHERE c IN (SELECT c FROM others)", r"compares char\(3\) with"),
        (
            "SELECT id FROM cars WHERE EXISTS (SELECT 1 FROM others WHERE cars.c = others.c)",
            r"compares char\(3\) with char\(5\), which Spark pads",
        ),
        ("SELECT 1 FROM cars LEFT JOIN others ON cars.c = others.c", r"compares char\(3\) with"),
        ("SELECT c FROM cars EXCEPT SELECT c FROM others", "EXCEPT of CHAR with a text of another"),
        ("SELECT c FROM cars UNION ALL SELECT 'ab'", "UNION of CHAR with a text of another length"),
    ],
)
def test_of_other_lengths(ls: lipstick.Session, sql: str, problem: str) -> None:
    """Where Spark pads in some of these and not in others, there is no rule."""
    with pytest.raises(UnsupportedError, match=problem):
        ls.sql(sql)


@pytest.mark.engines("spark")
def test_relation_marked_by_hand(spark: SparkSession) -> None:
    """What a tracked frame is made of, metadata of CHAR among it, is its own."""
    mark = {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}
    rows = spark.createDataFrame([(1, "ab "), (2, "cd ")], "id int, c string")
    marked = rows.withMetadata("c", mark)
    with lipstick.session(spark) as ls:
        ls.track("marked", marked, key="id")
        selected = marked.where("c = 'ab'").select("id")
        assert_same_bag(from_spark(selected), from_spark(ls.annotate(selected).df), "marked")
        with pytest.raises(UnsupportedError, match="the metadata of column d make it"):
            ls.annotate(marked.selectExpr("id AS d").withMetadata("d", mark))
