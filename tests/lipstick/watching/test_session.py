"""Watched sessions: answers about what they wrote, held against pipelines that are run again."""

from __future__ import annotations

import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark import RDD
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.session import _monkey_patch_RDD

import lipstick
from lipstick.errors import LipstickError, SourceError
from lipstick.sessions import Session
from lipstick.watching.session import SessionWatch as Watch
from rewriter.errors import UnsupportedError

pytestmark = pytest.mark.spark

ORDERS = [(n, n % 7, float(n % 5) if n % 11 else None, f"d{n % 3}") for n in range(60)]
PEOPLE = [(n, f"r{n % 2}" if n else None) for n in range(7)]


@pytest.fixture(autouse=True)
def newest(spark: SparkSession, request: pytest.FixtureRequest) -> None:
    """Make the session the newest, as a user's is: frames of an RDD are then of this session."""
    if not request.config.getoption("--spark-connect"):
        _monkey_patch_RDD(spark)


@pytest.fixture(scope="module")
def watched(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A watch over a session that has run the pipeline, and the folder of it."""
    folder = tmp_path_factory.mktemp("watched")
    _inputs(spark, folder, ORDERS, PEOPLE)
    with lipstick.watch(spark) as watch:
        _pipeline(spark, folder)
        yield watch, folder
    spark.sql("DROP TABLE IF EXISTS watched_daily")


def _inputs(spark: SparkSession, folder: Path, orders: Any, people: Any) -> None:
    made = spark.createDataFrame(orders, "id int, person int, amount double, day string")
    made.coalesce(1).write.parquet(f"{folder}/orders.parquet")
    rows = spark.createDataFrame(people, "person int, region string")
    rows.coalesce(1).write.json(f"{folder}/people", ignoreNullFields=False)


def _pipeline(spark: SparkSession, folder: Path) -> None:
    """Run what a data engineer has: files, a table by SQL, an append, partitions."""
    orders = spark.read.parquet(f"{folder}/orders.parquet")
    orders.where("amount > 1 OR amount IS NULL").write.parquet(f"{folder}/clean")
    late = orders.where("amount = 1").withColumn("day", F.lit("d9"))
    late.write.mode("append").parquet(f"{folder}/clean")
    spark.sql("DROP TABLE IF EXISTS watched_daily")
    spark.sql(
        "CREATE TABLE watched_daily USING parquet AS SELECT person, day, sum(amount) AS total, "
        f"count(*) AS n FROM parquet.`{folder}/clean` GROUP BY person, day"
    )
    people = spark.read.schema("person int, region string").json(f"{folder}/people")
    regional = (
        spark.table("watched_daily")
        .join(people, "person", "left")
        .groupBy("region", "day")
        .agg(F.sum("total").alias("total"), F.max("n").alias("most"))
    )
    regional.write.mode("overwrite").partitionBy("day").parquet(f"{folder}/regional")


def _rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    columns = sorted(frame.columns)
    return sorted((tuple(r) for r in frame.select(*columns).collect()), key=repr)


@pytest.mark.classic
def test_deletions_are_the_pipeline_run_again(
    watched: tuple[Watch, Path], spark: SparkSession, tmp_path: Path
) -> None:
    watch, folder = watched
    q = watch.query(f"{folder}/regional")
    assert _rows(q.df) == _rows(spark.read.parquet(f"{folder}/regional"))
    assert set(q.plan.relations) == {"orders", "people"} == set(watch.sources)
    gone = set(random.Random(7).sample(range(60), 25))
    again = tmp_path / "again"
    _inputs(spark, again, [row for row in ORDERS if row[0] not in gone], PEOPLE[1:])
    _pipeline(spark, again)
    deleted = {"orders": f"id IN ({', '.join(map(str, gone))})", "people": "person < 1"}
    expected = _rows(spark.read.parquet(f"{again}/regional"))
    assert _rows(q.what_if(delete=deleted).df) == expected


@pytest.mark.classic
def test_lineage_ends_at_the_files_that_nobody_wrote(watched: tuple[Watch, Path]) -> None:
    watch, folder = watched
    q = watch.query(watch.spark.read.parquet(f"{folder}/regional").where("region IS NULL"))
    behind = q.lineage(where="day = 'd9'")
    ids = {row["id"] for row in behind["orders"].collect()}
    assert ids == {n for n, person, amount, _ in ORDERS if amount == 1 and person == 0}


def _observed(spark: SparkSession) -> dict[str, Any]:
    """Return what can be seen of a session and of PySpark, but for what listens to the session."""
    catalog, context = spark.catalog, spark.sparkContext
    jvm_sessions = context._jvm.org.apache.spark.sql.classic.SparkSession
    shared = spark._jsparkSession.sharedState()
    active = (
        SparkSession.getActiveSession(),
        SparkSession.active(),
        jvm_sessions.getActiveSession().get().sessionUUID(),
    )
    frame = context.parallelize([(1, "a")]).toDF(["id", "c"])
    patched = {
        f"{kind.__name__}.{name}": value
        for kind in (SparkSession, DataFrame, type(frame), RDD, Column)
        for name, value in vars(kind).items()
        if not name.startswith("__")
    }
    loggers = [
        (logger.level, logger.disabled, list(logger.filters), list(logger.handlers))
        for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
        for logger in [PySparkLogger.getLogger(name)]
    ]
    return {
        "made by an RDD": frame.sparkSession is spark,
        "active": active,
        "built": SparkSession.builder.getOrCreate(),
        "default": jvm_sessions.getDefaultSession().get().sessionUUID(),
        "PySpark": patched,
        "settings": dict(spark.conf.getAll),
        "views": sorted(row["viewName"] for row in spark.sql("SHOW VIEWS").collect()),
        "global views": sorted(
            row["viewName"] for row in spark.sql("SHOW VIEWS IN global_temp").collect()
        ),
        "functions": sorted(row[0] for row in spark.sql("SHOW USER FUNCTIONS").collect()),
        "tables": sorted(row["tableName"] for row in spark.sql("SHOW TABLES").collect()),
        "place": (catalog.currentCatalog(), catalog.currentDatabase()),
        "variable": spark.sql("SELECT watched_variable").head(),
        "cached": shared.cacheManager().isEmpty(),
        "persistent": context._jsc.getPersistentRDDs().size(),
        "jobs are of": [
            context.getLocalProperty(f"spark.{name}")
            for name in ("jobGroup.id", "job.description", "sql.execution.id", "scheduler.pool")
        ],
        "workers": (context.pythonExec, context.environment),
        "process": (sys.getrecursionlimit(), dict(os.environ), Path.cwd(), list(sys.path)),
        "loggers": loggers,
        "warnings": list(warnings.filters),
    }


def _listening(spark: SparkSession) -> int:
    return int(spark._jsparkSession.listenerManager().listListeners().__len__())


@pytest.fixture
def own_names(spark: SparkSession) -> Iterator[SparkSession]:
    """Return a session with views and a variable of its own, named as questions name sources."""
    spark.range(3).createOrReplaceTempView("orders")
    spark.range(4).createOrReplaceTempView("rows")
    spark.sql("DECLARE OR REPLACE VARIABLE watched_variable INT DEFAULT 7")
    yield spark
    for name in ("orders", "rows"):
        spark.catalog.dropTempView(name)
    spark.sql("DROP TEMPORARY VARIABLE watched_variable")


@pytest.mark.classic
def test_a_watched_session_has_no_trace_of_the_watch(
    watched: tuple[Watch, Path], own_names: SparkSession, tmp_path: Path
) -> None:
    spark, folder = own_names, watched[1]
    before, listening = _observed(spark), _listening(spark)
    with lipstick.watch(spark) as watch:
        assert _observed(spark) == before
        orders = spark.read.parquet(f"{folder}/orders.parquet")
        orders.groupBy("day").agg(F.sum("amount").alias("total")).write.parquet(f"{tmp_path}/days")
        made = spark.sparkContext.parallelize([("d1", 1), ("d2", 2)]).toDF(["day", "rank"])
        spark.read.parquet(f"{tmp_path}/days").join(made, "day").write.parquet(f"{tmp_path}/all")
        assert _observed(spark) == before
        q = watch.query(f"{tmp_path}/all")
        assert _observed(spark) == before
        made.groupBy("day").count().show()
        spark.read.parquet(f"{tmp_path}/days").toPandas()
        shown = watch.last
        assert _observed(spark) == before
        (source,) = set(q.plan.relations) - {"orders"}
        asked = orders.where(F.expr("assert_true(id < 100) IS NULL"))

        def ask_refused() -> None:
            watch.query(asked).df.count()

        questions: list[Callable[[], Any]] = [
            q.df.collect,
            q.what_if(delete={"orders": "id < 9", source: "rank = 1"}).df.collect,
            q.polynomials,
            q.lineage(where="day = 'd2'")["orders"].collect,
            partial(q.why, "total", {"day": "d2"}, too="high"),
            partial(q.why_not, day="d7"),
            partial(q.save, tmp_path / "capture"),
            partial(watch.query, f"{tmp_path}/days"),
            ask_refused,
            partial(shown.why, "total", {"day": "d2"}),
            partial(shown.why_not, day="d7"),
        ]
        for ask in questions:
            with suppress(LipstickError, PySparkException):
                ask()
            assert _observed(spark) == before
    assert _observed(spark) == before
    assert _listening(spark) == listening


MADE = "its rows were made in Python or stand in a query"
MADE_IN_PYTHON: dict[str, Callable[[SparkSession], DataFrame]] = {
    "a list": lambda s: s.createDataFrame([(1, "a", 5), (2, "b", 7)], "id int, c string, v int"),
    "names": lambda s: s.createDataFrame([(1, "a", 5), (2, "b", 7)], ["id", "c", "v"]),
    "rows": lambda s: s.createDataFrame([Row(id=1, v=5), Row(id=2, v=7)]),
    "dictionaries": lambda s: s.createDataFrame([{"id": 1, "v": 5}, {"id": 2, "v": 7}]),
    "pandas": lambda s: s.createDataFrame(pd.DataFrame({"id": [1, 2], "v": [5.0, None]})),
    "arrow": lambda s: s.createDataFrame(pa.table({"id": [1, 2], "v": [5, 7]})),
    "an RDD": lambda s: s.sparkContext.parallelize([(1, 5), (2, 7)]).toDF(["id", "v"]),
    "maps": lambda s: s.createDataFrame([(1, {"a": 5}), (2, {})], "id int, v map<string, int>"),
    "there and back": lambda s: s.createDataFrame(s.range(1, 3).toPandas()),
    "twice": lambda s: s.createDataFrame([(1, 5), (2, 7)], "id int, v int").join(
        s.createDataFrame([(1, "x"), (2, "y")], "id int, w string"), "id"
    ),
}


@pytest.mark.classic
def test_data_made_in_python_are_followed(watched: tuple[Watch, Path], tmp_path: Path) -> None:
    spark = watched[0].spark
    with lipstick.watch(spark) as watch:
        for name, make in MADE_IN_PYTHON.items():
            make(spark).where("id > 0").write.parquet(f"{tmp_path}/{name}")
        for name in MADE_IN_PYTHON:
            q = watch.query(f"{tmp_path}/{name}")
            assert {watch.sources[source] for source in q.plan.relations} == {MADE}
            whole = _rows(spark.read.parquet(f"{tmp_path}/{name}"))
            assert (name, _rows(q.df)) == (name, whole)
            gone = q.what_if(delete=dict.fromkeys(q.plan.relations, "id = 1")).df
            assert (name, _rows(gone)) == (name, whole[1:])


@pytest.mark.classic
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("overwritten", "the query of write"),
        ("types", "it is read with other columns than were written"),
        ("rand", "calls rand: Spark may have other values when it runs again"),
    ],
)
def test_a_table_that_its_query_does_not_make_is_a_source(
    watched: tuple[Watch, Path], tmp_path: Path, change: str, reason: str
) -> None:
    spark = watched[0].spark
    before, target = f"{tmp_path}/before", f"{tmp_path}/{change}"
    spark.range(9).selectExpr("id", "id % 2 AS k").write.parquet(before)
    made = spark.read.parquet(before)
    with lipstick.watch(spark) as watch:
        if change == "overwritten":
            made.write.parquet(target)
            spark.range(8).selectExpr("id", "id AS k").write.mode("overwrite").parquet(before)
        elif change == "types":
            made.selectExpr("id", "CAST(k AS STRING) AS k").write.partitionBy("k").parquet(target)
        else:
            made.select("id", F.rand().alias("k")).write.parquet(target)
        q = watch.query(spark.read.parquet(target))
        (source,) = q.plan.relations
        assert reason in watch.sources[source]


@pytest.mark.classic
def test_a_table_that_reads_itself(watched: tuple[Watch, Path], tmp_path: Path) -> None:
    spark, target = watched[0].spark, f"{tmp_path}/grows"
    spark.range(3).write.option("header", True).csv(f"{tmp_path}/seeds")
    with lipstick.watch(spark) as watch:
        seeds = spark.read.csv(f"{tmp_path}/seeds", schema="id int", header=True)
        seeds.write.csv(target, header=True)
        before = spark.read.csv(target, schema="id int", header=True)
        before.selectExpr("id + 10 AS id").write.mode("append").csv(target, header=True)
        q = watch.query(target)
        assert set(q.plan.relations) == {"seeds"}
        assert [row["id"] for row in q.lineage(where="id = 11")["seeds"].collect()] == [1]
        assert _rows(q.df) == [(0,), (1,), (10,), (11,), (12,), (2,)]


@pytest.mark.classic
def test_what_was_not_written_is_refused(watched: tuple[Watch, Path], tmp_path: Path) -> None:
    watch, _ = watched
    with pytest.raises(SourceError, match="no path that was written while"):
        watch.query(f"{tmp_path}/nothing")
    other = Watch(watch.spark)
    other.close()
    watch.spark.range(1).write.parquet(f"{tmp_path}/later")
    other._listener.catch_up()
    assert not other._writes
    with pytest.raises(LipstickError, match=r"lipstick\.watch\(spark\), before"):
        other.query("watched_daily")


@pytest.mark.connect
def test_files_have_one_name_however_their_path_is_spelt(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.range(6).selectExpr("id", "id % 2 AS k").write.parquet(f"{tmp_path}/spelt")
    with lipstick.watch(spark) as watch:
        orders, again, once_more = (
            spark.read.parquet(f"{tmp_path}/{text}") for text in ("spelt", "./spelt/", "spelt")
        )
        sizes = again.groupBy("k").agg(F.count("*").alias("n"))
        q = watch.query(orders.join(sizes, "k").join(once_more.select("id"), "id"))
        assert list(q.plan.relations) == ["rows_1"]
        assert watch.query(again.where("k = 1")).lineage()["rows_1"].count() == 3


@pytest.mark.connect
def test_writes_over_spark_connect_are_refused(spark: SparkSession) -> None:
    with (
        lipstick.watch(spark) as watch,
        pytest.raises(LipstickError, match="The writes of a session of Spark Connect are not"),
    ):
        _ = watch.writes


@pytest.mark.classic
def test_queries_that_are_refused_together_are_annotated_one_after_the_other(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql, texts = Session.sql, list[str]()

    def refused_at_first(session: Session, query: str) -> Any:
        texts.append(query)
        if len(texts) == 1:
            raise UnsupportedError("these views are refused together", "Ask about one.", query)
        return sql(session, query)

    spark.range(5).write.parquet(f"{tmp_path}/numbers")
    with lipstick.watch(spark) as watch:
        assert watch.writes == ()  # what was written before is not told late
        large = spark.read.parquet(f"{tmp_path}/numbers").where("id > 1")
        large.write.parquet(f"{tmp_path}/large")
        twice = spark.read.parquet(f"{tmp_path}/large").selectExpr("id * 2 AS twice")
        twice.write.parquet(f"{tmp_path}/twice")
        monkeypatch.setattr(Session, "sql", refused_at_first)
        assert set(watch.query(f"{tmp_path}/twice").plan.relations) == {"numbers"}
    assert len(texts) == 1 + 2 + 1
