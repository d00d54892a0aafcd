"""Results of libraries of checks, tied to the queries that they ran, by a library of ten lines."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick import LibraryVerdict
from lipstick.errors import CaptureError
from lipstick.watching.checks import verdicts_of

pytestmark = [pytest.mark.spark, pytest.mark.engines("memory")]


def validated(frame: DataFrame) -> list[LibraryVerdict]:
    """Check a frame as libraries do: counts of failures in one query, a value, a first failure."""
    failing = {"c": "c IS NULL", "k": "k > 5", "x": "x < 0"}
    sums = [F.expr(f"sum(CASE WHEN {test} THEN 1 ELSE 0 END)") for test in failing.values()]
    (counts,) = frame.agg(*sums).collect()
    mean = frame.agg(F.avg("x").alias("m")).toPandas()["m"][0]
    found = frame.filter("k > 5").limit(1).count()
    pair = [frame.filter(test).limit(1).count() for test in ("NOT x < 3", "NOT x < 4")]
    return [
        *(
            LibraryVerdict(f"{c} holds", n == 0, n, columns=(c,))
            for c, n in zip("ckx", counts, strict=True)
        ),
        LibraryVerdict("mean of x", mean < 5, value=float(mean), columns=("x",)),
        LibraryVerdict("any k", not found, found, columns=("k",), words=("Filter",), one=True),
        *(
            LibraryVerdict(
                f"x below {n}", not found, found, None, ("x",), ("NOT",), None, True, True
            )
            for n, found in zip((3, 4), pair, strict=True)
        ),
        LibraryVerdict("all rows", frame.count() < 10, value=40),
        LibraryVerdict("not found", False, 17),
        LibraryVerdict("no number", False),
        LibraryVerdict("by its text", False, 5, text="SUM(CASE WHEN k > 5 THEN 1 ELSE 0 END)"),
        LibraryVerdict("other columns", False, 10, columns=("k",)),
    ]


@pytest.fixture
def frame(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """Return forty rows in a file: ten without c, five whose k is 6."""
    rows = [(n, "a" if n % 4 else None, n % 7, float(n)) for n in range(40)]
    made = spark.createDataFrame(rows, "id int, c string, k int, x double")
    made.coalesce(1).write.parquet(f"{tmp_path}/rows")
    return spark.read.parquet(f"{tmp_path}/rows")


@pytest.mark.classic
def test_each_result_is_tied_to_its_query(spark: SparkSession, frame: DataFrame) -> None:
    with lipstick.watch(spark) as watch:
        with watch.checks() as run:
            report = validated(frame)
        frame.count()
        assert [each.call for each in run.queries] == [
            "collect()",
            "toPandas()",
            *["count()"] * 4,
        ]
        assert sys.getprofile() is None
        results = {each.name: each for each in run.results(report)}
        reasons = {name: each.reason for name, each in results.items() if each.query is None}
        assert reasons == {
            "not found": "no query has returned its number",
            "no number": "the library reports no number for it",
            "other columns": "the queries that returned its number read others",
        }
        nulls, small, any_k = results["c holds"], results["k holds"], results["any k"]
        assert (nulls.passed, results["x holds"].passed, results["mean of x"].passed) == (
            False,
            True,
            False,
        )
        assert {row["id"] for row in nulls.quarantine().to_pylist()} == set(range(0, 40, 4))
        assert small.why().causes is not None
        assert {row["k"] for row in any_k.quarantine().to_pylist()} == {6}
        assert results["by its text"].column == small.column
        top = results["mean of x"].top(1).to_pylist()
        assert top[0]["id"] in (0, 39)
        assert results["all rows"].query is run.queries[5]
        for name, query in (("x below 3", run.queries[3]), ("x below 4", run.queries[4])):
            assert results[name].query is query
        assert len(results["x below 4"].quarantine()) == 36
        with pytest.raises(CaptureError, match="not found is tied to no query: no query has"):
            results["not found"].why()
        assert "c holds fails" in repr(nulls)
        numbers = {each.name.split()[0] for each in run.results()}
        assert numbers == {"collect()", "toPandas()", "count()"}


def test_reports_of_libraries_are_read() -> None:
    config = SimpleNamespace(type="expect_x", kwargs={"column": "c"})
    old = SimpleNamespace(expectation_type="expect_y", kwargs={"column_list": ["a", "b"]})
    kind: Any = type("Suite", (SimpleNamespace,), {"__module__": "great_expectations.core"})
    report = kind(
        results=[
            SimpleNamespace(
                expectation_config=config,
                result={"unexpected_count": 3},
                success=False,
                exception_info={},
            ),
            SimpleNamespace(
                expectation_config=old,
                result={"observed_value": 2.5},
                success=True,
                exception_info={"raised_exception": True},
            ),
        ]
    )
    assert verdicts_of(report) == [
        LibraryVerdict("expect_x(c)", False, 3, columns=("c",)),
        LibraryVerdict("expect_y(a, b)", None, value=2.5, columns=("a", "b")),
    ]
    errors = {"DATA": {"CHECKS": [{"column": "k", "check": "less_than(6)"}]}}
    frame = SimpleNamespace(pandera=SimpleNamespace(errors=errors))
    assert verdicts_of(frame) == [
        LibraryVerdict(
            "k: less_than(6)", False, 1, columns=("k",), words=("NOT",), ordered=True, one=True
        )
    ]
    with pytest.raises(CaptureError, match="A report of builtins is not known"):
        verdicts_of({})
