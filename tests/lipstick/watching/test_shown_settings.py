"""Results shown by settings that the session has no more: they are asked about by those of then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.errors import UnsupportedError

pytestmark = pytest.mark.spark

ROWS = [
    (1, "a", "2020-1-1 x", 2147483647, "12"),
    (2, "a", "2020-01-02", 5, "7"),
    (3, "b", "2020-03-04 01:02", 0, "x"),
    (4, "b", "2020-01-05", None, None),
]
COLUMNS = "id int, k string, d string, n int, s string"

# The setting, its value while a query is shown, its value while it is asked about, and the query.
CASES = [
    # read when rows are, and of no trace in a plan
    ("legacy.timeParserPolicy", "LEGACY", "CORRECTED", "id, to_date(d, 'yyyy-MM-dd') AS r"),
    ("legacy.timeParserPolicy", "LEGACY", None, "date_format(DATE '2020-12-31', 'YYYY') AS r, id"),
    ("legacy.castComplexTypesToString.enabled", "true", "false", "CAST(array(n) AS STRING) AS r"),
    ("mapKeyDedupPolicy", "LAST_WIN", None, "map_from_arrays(array(1, 1), array(id, n)) AS r"),
    # of another plan
    ("ansi.enabled", "false", None, "id, CAST(s AS INT) + n AS r, n / n AS q"),
    ("session.timeZone", "America/New_York", "Asia/Tokyo", "timestamp_seconds(id)::STRING AS r"),
    ("decimalOperations.allowPrecisionLoss", "false", None, "n::DECIMAL(30, 15) * 1.001BD AS r"),
]  # fmt: skip
OF_TEXTS = [
    ("groupByOrdinal", "false", None, "k, count(*) AS r FROM {} GROUP BY k"),
    ("parser.escapedStringLiterals", "true", None, r"id, d RLIKE '\d x' AS r FROM {}"),
    ("ansi.doubleQuotedIdentifiers", "true", None, 'id, "k" AS r FROM {}'),
]
"""Settings by which texts are read: a plan is there already."""


@pytest.fixture
def rows(spark: SparkSession, tmp_path: Path) -> Iterator[DataFrame]:
    """Return rows in a file of Parquet, in a view and, without the first one, in another."""
    spark.createDataFrame(ROWS, COLUMNS).coalesce(1).write.parquet(f"{tmp_path}/rows")
    read = spark.read.parquet(f"{tmp_path}/rows")
    read.createOrReplaceTempView("shown_rows")
    read.where("id <> 1").createOrReplaceTempView("shown_left")
    yield read
    for view in ("shown_rows", "shown_left"):
        spark.catalog.dropTempView(view)


def _set(spark: SparkSession, name: str, value: str | None) -> None:
    if value is None:
        spark.conf.unset(f"spark.sql.{name}")
    else:
        spark.conf.set(f"spark.sql.{name}", value)


def _bag(rows: list[Any]) -> Counter[str]:
    return Counter(repr(tuple(row)) for row in rows)


@pytest.mark.engines("memory")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {case[3][:20]}")
def test_a_result_is_asked_about_by_the_settings_it_was_shown_by(
    spark: SparkSession, rows: DataFrame, case: tuple[str, str, str | None, str]
) -> None:
    name, then, later, items = case
    _check(spark, rows, name, then, later, f"{items} FROM {{}}")


@pytest.mark.classic
@pytest.mark.parametrize("case", OF_TEXTS, ids=lambda case: str(case[0]))
def test_settings_by_which_texts_are_read_are_not_asked(
    spark: SparkSession, rows: DataFrame, case: tuple[str, str, str | None, str]
) -> None:
    _check(spark, rows, *case)


def _check(
    spark: SparkSession, rows: DataFrame, name: str, then: str, later: str | None, query: str
) -> None:
    with lipstick.watch(spark) as watch:
        rows.count()
        assert watch.last.query.df.head() == (4,)  # the session is copied before
        try:
            _set(spark, name, then)
            left = spark.sql(f"SELECT {query.format('shown_left')}").collect()
            shown = spark.sql(f"SELECT {query.format('shown_rows')}").collect()
            _set(spark, name, later)
            last = watch.last
            (relation,) = last.query.plan.relations
            assert _bag(last.query.df.collect()) == _bag(shown)
            without = last.what_if(delete={relation: "id = 1"}).df.collect()
            assert _bag(without) == _bag(left)
        finally:
            _set(spark, name, None)


@pytest.mark.engines("memory")
def test_results_by_several_settings_are_compared(spark: SparkSession, rows: DataFrame) -> None:
    """Their relations have one name; each other frame is asked about by the settings of now."""
    moment = "CAST(timestamp_seconds(1577836800) AS DATE)"
    with lipstick.watch(spark) as watch:
        try:
            for zone in ("America/New_York", "Asia/Tokyo"):
                spark.sql(f"SET spark.sql.session.timeZone = {zone}")
                days = rows.groupBy(F.expr(moment).alias("day")).count()
                days.collect()
            first, second = watch.shown
            difference = second.diff(first)
            assert [difference.added, difference.removed, difference.changed] == [1, 1, 0]
            assert first.query.plan.relations.keys() == second.query.plan.relations.keys()
            days = rows.groupBy(F.expr(moment).alias("day")).count()
            assert str(watch.query(days).df.head()["day"]) == "2020-01-01"  # type: ignore[index]
            assert str(first.query.df.head()["day"]) == "2019-12-31"  # type: ignore[index]
            assert watch.sources.keys() == first.query.plan.relations.keys()
        finally:
            spark.sql("RESET spark.sql.session.timeZone")


@pytest.mark.classic
def test_a_frame_that_was_made_by_other_settings_than_it_was_shown_by(
    spark: SparkSession, rows: DataFrame
) -> None:
    """Its query has those of both times; one where no setting says otherwise is asked about."""
    with lipstick.watch(spark) as watch:
        numbers = rows.where("id < 3").select("id", F.col("s").cast("int").alias("n"))
        ids = rows.select("id")
        try:
            spark.conf.set("spark.sql.ansi.enabled", "false")
            numbers.collect()
            ids.collect()
            first, second = watch.shown
            message = r"result 1 was made, and .* shown: spark.sql.ansi.enabled \(.*, then false\)"
            with pytest.raises(UnsupportedError, match=message):
                _ = first.query
            assert second.query.df.count() == 4
        finally:
            spark.conf.unset("spark.sql.ansi.enabled")
