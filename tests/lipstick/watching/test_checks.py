"""Results of libraries of checks, tied to the queries that they ran.

The libraries have the calls and the names that the real ones have, and nothing else; the real ones
are run by ``python -m tests.checks_by_running``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick import LibraryResult, LibraryVerdict
from lipstick.errors import CaptureError
from lipstick.watching.libraries import reports_of

pytestmark = [pytest.mark.spark, pytest.mark.engines("memory")]


GREAT_EXPECTATIONS = """
from types import ModuleType, SimpleNamespace

class Engine:
    def resolve_metric_bundle(self, metric_fn_bundle, frame):
        aggregate = {"metric_ids": [each.metric_configuration.id for each in metric_fn_bundle]}
        return frame.agg(*(each.metric_fn for each in metric_fn_bundle)).collect()[0]

    def _process_direct_and_bundled_metric_computation_configurations(self, direct):
        for metric_computation_configuration in direct:
            metric_computation_configuration.metric_fn()

class Validation(SimpleNamespace):
    pass
"""
SODA = """
class AggregationQuery:
    def __init__(self, spark, metrics):
        self.spark, self.metrics = spark, metrics

    def execute(self):
        stated = ", ".join(each.text for each in self.metrics)
        for metric, value in zip(self.metrics, self.spark.sql(f"SELECT {stated} FROM t").head()):
            metric.value = value

class UserDefinedFailedRowsQuery:
    def __init__(self, spark, metric):
        self.spark, self.metric = spark, metric

    def execute(self):
        self.metric.value = self.spark.sql(self.metric.text).count()

class SampleQuery(UserDefinedFailedRowsQuery):
    pass
"""
PANDERA = """
def run_check(schema, check, frame):
    return check.holds(frame)

def check_nullable(schema, frame):
    return frame.filter(f"{schema.name} IS NULL").limit(1).count() == 0
"""
BUILT_IN = """
def below(column, most):
    return lambda frame: frame.filter(f"NOT {column} < {most}").limit(1).count() == 0
"""


def library(name: str, code: str) -> SimpleNamespace:
    """Return a module of a library that is not here: its calls, without what is around them."""
    found: dict[str, Any] = {"__name__": name}
    exec(code, found)
    return SimpleNamespace(**found)


def metric(name: str, column: str | None, computed: Any, **values: Any) -> SimpleNamespace:
    """Return what the engine of Great Expectations computes a metric by."""
    configuration = SimpleNamespace(
        id=(name, column, repr(values)),
        metric_name=name,
        metric_domain_kwargs={"column": column, "batch_id": "b"},
        metric_value_kwargs=values,
    )
    return SimpleNamespace(metric_configuration=configuration, metric_fn=computed)


def expectation(kind: str, found: dict[str, Any], **kwargs: Any) -> SimpleNamespace:
    """Return a result of Great Expectations that is red."""
    config = SimpleNamespace(type=kind, kwargs=kwargs)
    return SimpleNamespace(
        expectation_config=config, result=found, success=False, exception_info={}
    )


@pytest.fixture
def frame(spark: SparkSession, tmp_path: Path) -> DataFrame:
    """Return forty rows in a file: ten without c, five whose k is 6."""
    rows = [(n, "a" if n % 4 else None, n % 7, float(n)) for n in range(40)]
    made = spark.createDataFrame(rows, "id int, c string, k int, x double")
    made.coalesce(1).write.parquet(f"{tmp_path}/rows")
    return spark.read.parquet(f"{tmp_path}/rows")


def keys(result: LibraryResult) -> set[int]:
    """Return the keys of the rows to set aside."""
    return {row["id"] for row in result.quarantine().to_pylist()}


@pytest.mark.classic
def test_verdicts_that_have_their_queries(spark: SparkSession, frame: DataFrame) -> None:
    with lipstick.watch(spark) as watch:
        with watch.checks() as run:
            found = frame.filter("k > 5").count()
            by_rows = LibraryVerdict("small k", False, found, query=watch.last)
            frame.selectExpr("avg(x) AS m", "max(k) AS k").collect()
            mean = LibraryVerdict("mean", False, value=19.5, query=watch.last, column="m")
            frame.limit(3).collect()
            report = [
                by_rows,
                mean,
                LibraryVerdict("no query", False, found),
                LibraryVerdict("no column", False, value=19.5, query=mean.query),
                LibraryVerdict("no number", False, query=watch.last),
            ]
        frame.count()
        assert [each.call for each in run.queries] == ["count()", "collect()", "collect()"]
        assert sys.getprofile() is None
        small, average, *others = run.results(report)
        assert [each.reason for each in others] == [
            "the verdict has no query",
            "its query has several numbers, and the verdict names no column",
            "its query has no number",
        ]
        assert keys(small) == set(range(6, 40, 7))
        assert average.top(1).to_pylist()[0]["id"] in (0, 39)
        with pytest.raises(CaptureError, match="no query is tied to no query: the verdict has"):
            others[0].why()
        assert "small k fails: count of" in repr(small)
        assert {each.column for each in run.results()} == {"count", "m", "k"}


@pytest.mark.classic
def test_a_metric_is_tied_by_what_it_is(
    spark: SparkSession, frame: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five rows have a k above 5, and five one of 0: their numbers are equal, not their rows."""
    module = library("great_expectations.execution_engine", GREAT_EXPECTATIONS)
    kinds = {
        "between": SimpleNamespace(
            map_metric="values.between", default_kwarg_values={"min_value": None}
        ),
        "unique": SimpleNamespace(map_metric="values.unique"),
        "columns": SimpleNamespace(metric_dependencies=("table.column_count",)),
    }
    registry: Any = ModuleType("great_expectations.expectations.registry")
    registry.get_expectation_impl = kinds.__getitem__
    for name in ("great_expectations", "great_expectations.expectations", registry.__name__):
        monkeypatch.setitem(sys.modules, name, registry)
    counted = "values.between.unexpected_count.aggregate_fn"
    with lipstick.watch(spark) as watch:
        with watch.checks() as run:
            engine = module.Engine()
            bundle = [
                metric(counted, "k", F.expr("count_if(k = 6)"), max_value=5, min_value=None),
                metric(counted, "k", F.expr("count_if(k = 0 AND id > 0)"), min_value=1),
                metric("column.distinct", "k", F.expr("count(DISTINCT k) - 2")),
            ]
            assert list(engine.resolve_metric_bundle(bundle, frame)) == [5, 5, 5]
            twice = frame.filter("k > 5")
            direct = [metric("values.unique.unexpected_count", "k", twice.count)]
            engine._process_direct_and_bundled_metric_computation_configurations(direct)
            report = module.Validation(
                results=[
                    expectation("between", {"unexpected_count": 5}, column="k", max_value=5),
                    expectation("between", {"unexpected_count": 5}, column="k", min_value=1),
                    expectation("between", {"unexpected_count": 4}, column="k", min_value=1),
                    expectation("between", {"unexpected_count": 5}, column="x", min_value=1),
                    expectation("unique", {"unexpected_count": 5}, column="k"),
                    expectation("columns", {"observed_value": 5}),
                    expectation("between", {"observed_value": ["a"]}, column="k", max_value=5),
                    expectation(
                        "between", {"unexpected_count": 5}, column="k", max_value=5, min_value=0
                    ),
                ]
            )
        above, below, other, elsewhere, unique, columns, values, bounded = run.results(report)
        assert keys(above) == set(range(6, 40, 7))
        assert keys(below) == set(range(7, 40, 7))
        assert other.reason == "the library computed it from other numbers"
        reasons = {elsewhere.reason, columns.reason, bounded.reason}
        assert reasons == {"no query of it has returned a number"}
        assert values.reason == "the library reports no number for it"
        assert unique.counts_failures
        assert keys(unique) == set(range(6, 40, 7))


@pytest.mark.classic
def test_a_check_is_tied_to_the_query_that_was_run_for_it(
    spark: SparkSession, frame: DataFrame
) -> None:
    module = library("soda.execution.query.queries", SODA)
    frame.createOrReplaceTempView("t")
    texts = {
        "invalid_count": "count_if(k > 5)",
        "min": "count_if(k = 0 AND id > 0)",
        "own": "SELECT * FROM t WHERE c IS NULL",
        "row_count": "count(*)",
    }
    metrics = {name: SimpleNamespace(name=name, text=text) for name, text in texts.items()}
    invalid, least, own, rows = metrics.values()
    parts = SimpleNamespace(metric_dependencies={"row_count": rows, "invalid_count": invalid})
    percent = SimpleNamespace(name="invalid_percent", derived_formula=parts, value=12.5)

    def check(name: str, metric: Any, value: Any, kind: str = "MetricCheck") -> Any:
        outcome = SimpleNamespace(value="fail")
        made = type(kind, (SimpleNamespace,), {})
        return made(name=name, outcome=outcome, metrics={"m": metric}, check_value=value)

    with lipstick.watch(spark) as watch, watch.checks() as run:
        module.AggregationQuery(spark, [least, invalid, rows]).execute()
        module.UserDefinedFailedRowsQuery(spark, own).execute()
        module.SampleQuery(spark, invalid).execute = None
        checks = [
            check("a name of its own", invalid, 5),
            check("percent", percent, 12.5),
            check("least", least, 5),
            check("rows", own, 10, "UserDefinedFailedRowsCheck"),
            check("not run", SimpleNamespace(name="avg", value=5), 5),
        ]
        scan = type("Scan", (SimpleNamespace,), {"__module__": "soda.scan"})(_checks=checks)
        named, percents, value, failing, missing = run.results(scan)
        assert keys(named) == keys(percents) == set(range(6, 40, 7))
        assert (value.verdict.failures, value.verdict.value, value.column) == (
            None,
            5,
            "count_if(((k = 0) AND (id > 0)))",
        )
        assert failing.counts_failures
        assert keys(failing) == set(range(0, 40, 4))
        assert missing.reason == "no query of it has returned a number"


@pytest.mark.classic
def test_a_failure_is_tied_to_its_check(spark: SparkSession, frame: DataFrame) -> None:
    module = library("pandera.backends.pyspark.column", PANDERA)
    built_in = library("pandera.backends.pyspark.builtin_checks", BUILT_IN)
    schema = SimpleNamespace(name="x")
    checks = [
        SimpleNamespace(error=f"less_than({n})", name="less_than", holds=built_in.below("x", n))
        for n in (3, 4)
    ]
    own = SimpleNamespace(error=None, name="many", holds=lambda data: data.count() > 50)
    errors = [
        {"column": "x", "check": each}
        for each in ("less_than(3)", "less_than(4)", "many", "less_than(5)")
    ]
    report = SimpleNamespace(
        pandera=SimpleNamespace(
            errors={"DATA": {"A": errors, "B": [{"column": "c", "check": "not_nullable"}]}}
        )
    )
    with lipstick.watch(spark) as watch, watch.checks() as run:
        for each in (*checks, own):
            assert not module.run_check(schema, each, frame)
        assert not module.check_nullable(SimpleNamespace(name="c"), frame)
        three, four, many, missing, nulls = run.results(report)
        assert keys(three) == set(range(3, 40))
        assert keys(four) == set(range(4, 40))
        assert (many.column, many.counts_failures) == ("count", False)
        assert missing.reason == "no query of it has returned a number"
        assert keys(nulls) == set(range(0, 40, 4))


@pytest.mark.classic
def test_columns_of_one_name_are_not_told_apart(spark: SparkSession, frame: DataFrame) -> None:
    with lipstick.watch(spark) as watch, watch.checks() as run:
        frame.selectExpr("max(k) AS n", "min(k) AS n").collect()
        assert run.queries[0].returned is None


def test_a_report_of_another_library_is_refused() -> None:
    with pytest.raises(CaptureError, match="A report of builtins is not known"):
        reports_of({})
