"""Queries over a few rows are computed in this process, as Spark computes them, or by Spark."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lipstick.capture.local_capture import _Collector
from lipstick.workflow import Module, Relation, Specification, StateQuery, Workflow, open_run
from lipstick.workflow.errors import WorkflowError
from tests.oracle.rows import assert_same_bag, from_arrow

pytestmark = [pytest.mark.spark, pytest.mark.classic]

A = Relation(
    "id int, k double, x int, m decimal(8,2), s string, d date, t timestamp, b boolean, c string"
)
B = Relation("id int, k double, y bigint, s string")
DAY = dt.date(1999, 12, 31)
HOUR = dt.datetime(2000, 1, 1, 12, tzinfo=dt.UTC)
ROWS: dict[str, list[tuple[Any, ...]]] = {
    "A": [
        (1, 1.5, 7, Decimal("1.10"), "a", DAY, HOUR, True, "x"),
        (2, math.nan, -7, Decimal("-3.05"), "b", None, None, False, "X"),
        (3, None, None, None, None, DAY, HOUR, None, None),
        (4, -0.0, 0, Decimal("0.00"), "a", dt.date(2000, 2, 29), HOUR, True, "é"),
        (5, 1.5, 2147483647, Decimal("999999.99"), "é", DAY, None, True, ""),
        (5, 1.5, 2147483647, Decimal("999999.99"), "é", DAY, None, True, ""),
    ],
    "B": [
        (1, 1.5, 7, "a"),
        (2, math.nan, -8, None),
        (3, None, 0, "é"),
        (4, 0.0, 2147483648, "a"),
        (4, 1.5, None, "c"),
    ],
    "Nothing": [],
}
HERE = {
    "Joined": "SELECT A.id, B.id AS other, A.x + B.y AS v FROM A JOIN B ON A.k = B.k",
    "Widened": "SELECT A.id, B.id AS other FROM A JOIN B ON A.x = B.y",
    "Compared": "SELECT A.id, B.id AS other FROM A JOIN B ON A.x < B.y AND A.s <> B.s",
    "Filtered": "SELECT * FROM A WHERE x % 3 = 1 OR s IS NULL OR (b AND x DIV 2 = 0)",
    "Grouped": "SELECT k, count(*) AS n, count(x) AS c, min(s) AS lo, max(d) AS hi, "
    "sum(CAST(x AS bigint)) AS total, sum(m) AS money, max(k) AS big FROM A GROUP BY k",
    "Averaged": "SELECT s, avg(x) AS mean, avg(m) AS cost, count(DISTINCT x) AS n "
    "FROM A GROUP BY s",
    "Kept": "SELECT s, count(*) AS n, sum(m) + 1 AS more FROM A GROUP BY s HAVING count(*) > 1",
    "United": "SELECT id, x AS v FROM A UNION ALL SELECT id, y FROM B UNION ALL SELECT 7, m FROM A",
    "Outer": "SELECT A.id, g.n FROM A LEFT JOIN Grouped g ON A.k = g.k",
    "Unmatched": "SELECT id FROM A WHERE NOT EXISTS (SELECT 1 FROM B WHERE B.k = A.k)",
    "Known": "SELECT id FROM A WHERE s IN (SELECT s FROM B)",
    "Total": "SELECT count(*) AS n, max(x) AS m, sum(m) AS money FROM A WHERE id > 1000",
    "Above": "SELECT id FROM A WHERE x > (SELECT avg(y) FROM B WHERE y < 10)",
    "Top": "SELECT id, x FROM A ORDER BY x DESC, id LIMIT 3",
    "Distinct": "SELECT DISTINCT k, s FROM A",
    "None": "SELECT n.id, A.s FROM Nothing n RIGHT JOIN A ON n.id = A.id",
    "Zero": "SELECT count(*) AS n FROM Nothing",
    "Windowed": "SELECT id, row_number() OVER (PARTITION BY s ORDER BY x, id) AS r FROM A",
    "Sets": "SELECT s, b, count(*) AS n, sum(m) AS money FROM A GROUP BY CUBE (s, b)",
    "Inner": "SELECT A.id, g.n FROM A JOIN (SELECT s, count(*) AS n FROM B GROUP BY s) g "
    "ON A.s = g.s",
}
"""What is computed without Spark."""
ASKED = {
    "Floats": "SELECT s, sum(k) AS f FROM A GROUP BY s",
    "Running": "SELECT id, sum(k) OVER (PARTITION BY s ORDER BY id) AS f FROM A",
    "Text": "SELECT id, soundex(s) AS sound, upper(s) AS u, x AS y FROM A",
    "Collected": "SELECT s, array_sort(collect_list(id)) AS ids FROM A GROUP BY s",
    "OfText": "SELECT y, count(*) AS n FROM Text GROUP BY y",
}
"""What Spark runs, at least in part; the last one's relation comes from there."""
WITHOUT_ANY = {"OfText"}


def _workflow(queries: dict[str, str], outputs: dict[str, Relation]) -> Workflow:
    inputs = {"A": A, "B": B, "Nothing": Relation("id int")}
    module = Module("m", Specification("m", inputs, outputs, queries))
    return Workflow("one", {"m": module}, [], "m", "m")


@pytest.mark.engines("spark")
def test_answers_are_those_of_spark(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all that is computed here, and all that is left to Spark, which is known."""
    queries = {**HERE, **ASKED}
    for name, rows in {"A": A, "B": B, "Nothing": Relation("id int")}.items():
        spark.createDataFrame([], rows.ddl).createOrReplaceTempView(name)
    outputs = {}
    for name, sql in queries.items():
        frame = spark.sql(sql)
        frame.createOrReplaceTempView(name)
        columns = [f"`{field.name}` {field.dataType.simpleString()}" for field in frame.schema]
        outputs[name] = Relation(", ".join(columns))
    queries_asked: list[str] = []
    ask = _Collector._collected

    def noted(self: _Collector, sql: str) -> pa.Table:
        queries_asked.append(self.engine.manifest.query)
        return ask(self, sql)

    monkeypatch.setattr(_Collector, "_collected", noted)
    workflow = _workflow(queries, outputs)
    for tracked in (False, True):
        store = tmp_path / str(tracked)
        workflow.run(spark, [ROWS], store=store, tracked=tracked)
    plain, tracked_run = (open_run(tmp_path / str(tracked)) for tracked in (False, True))
    for name, sql in queries.items():
        expected, actual = (
            from_arrow(cast(pa.Table, run.output(0, "m", name))) for run in (plain, tracked_run)
        )
        assert_same_bag(expected, actual, f"{name}: {sql}")
    assert set(queries_asked) == {sql for name, sql in ASKED.items() if name not in WITHOUT_ANY}
    for name in (*queries, "A", "B", "Nothing"):
        spark.catalog.dropTempView(name)


def test_what_fails_fails_as_in_spark(spark: SparkSession, tmp_path: Path) -> None:
    workflow = _workflow(
        {"Out": "SELECT id, 1 / x AS v FROM A"}, {"Out": Relation("id int, v double")}
    )
    with pytest.raises(Exception, match=r"DIVIDE_BY_ZERO"):
        workflow.run(spark, [ROWS], store=tmp_path / "run")


@pytest.mark.parametrize("grouped", ["w", "lower(CAST(w AS STRING))"])
def test_text_with_a_collation_is_compared_by_spark(
    spark: SparkSession, tmp_path: Path, grouped: str
) -> None:
    """Which members are in a group by such texts is not known here; that is said."""
    words = Relation("w string collate UTF8_LCASE")
    queries = {"Out": f"SELECT count(*) AS n FROM Words GROUP BY {grouped}"}
    specification = Specification("m", {"Words": words}, {"Out": Relation("n bigint")}, queries)
    workflow = Workflow("one", {"m": Module("m", specification)}, [], "m", "m")
    given = [{"Words": [("a",), ("A",), ("b",)]}]
    if grouped == "w":
        with pytest.raises(WorkflowError, match="have a collation, by which Spark compares them"):
            workflow.run(spark, given, store=tmp_path / "run")
    else:
        run = workflow.run(spark, given, store=tmp_path / "run")
        assert sorted(row["n"] for row in run.output(0).collect()) == [1, 2]


@pytest.mark.engines("spark")
def test_deletions_and_the_moment_read_the_same_relations(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Statements that Spark runs as they are written see what queries computed here see."""
    numbers = Relation("n int", key="n")
    specification = Specification(
        "m",
        {"In": numbers},
        {"Out": numbers, "Today": Relation("n int, d date")},
        {"Out": "SELECT n FROM Seen", "Today": "SELECT n, current_date() AS d FROM Seen"},
        state={"Seen": numbers},
        query_state=StateQuery(
            delete={"Seen": "n IN (SELECT n - 1 FROM In)"}, insert={"Seen": "SELECT n FROM In"}
        ),
    )
    workflow = Workflow("one", {"m": Module("m", specification)}, [], "m", "m")
    run = workflow.run(spark, [{"In": [(1,)]}, {"In": [(2,), (7,)]}], store=tmp_path / "run")
    assert sorted(row["n"] for row in run.output(1, "m", "Out").collect()) == [2, 7]
    assert len(run.output(1, "m", "Today").collect()) == 2
