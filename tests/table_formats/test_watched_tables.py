"""Watched sessions whose jobs read and write tables of Delta and Iceberg."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from tests.watched_jobs.checks import check
from tests.watched_jobs.jobs import JOBS

FIRST = "nothing wrote it while the session was watched"


def _rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, frame.collect()), key=repr)


@pytest.mark.many(4)
@pytest.mark.parametrize("name", [name for name, job in JOBS.items() if job.lake])
def test_a_watched_job_is_followed_to_its_first_files(
    lake: SparkSession, tmp_path: Path, name: str
) -> None:
    report = check(lake, JOBS[name], tmp_path, 200)
    assert report.wrong == []
    assert report.reasons == {}


@pytest.mark.parametrize("format", ["delta", "iceberg"])
@pytest.mark.parametrize("key", [None, ["id"]])
def test_tables_without_row_ids_are_followed(
    lake: SparkSession, fresh: Callable[[str], str], tmp_path: Path, format: str, key: Any
) -> None:
    table = fresh(format)
    lake.sql(f"CREATE TABLE {table} (id INT, amount INT, tags MAP<STRING, INT>) USING {format}")
    lake.sql(f"INSERT INTO {table} VALUES (1, 2, NULL), (2, 3, map('a', 1)), (3, 3, NULL)")
    with lipstick.watch(lake, keys={table: key} if key else None) as watch:
        grouped = lake.table(table).groupBy("amount").agg(F.count("*").alias("n"))
        grouped.write.parquet(f"{tmp_path}/grouped")
        q = watch.query(f"{tmp_path}/grouped")
        (source,) = q.plan.relations
        assert watch.sources == {source: FIRST}
        assert _rows(q.what_if(delete={source: "id = 2"}).df) == [(2, 1), (3, 1)]
        if key:
            assert _rows(q.what_if(delete={source: [2, 3]}).df) == [(2, 1)]


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_a_table_that_was_there_is_followed_through_what_changed_it(
    lake: SparkSession, fresh: Callable[[str], str], tmp_path: Path, format: str
) -> None:
    table, news = fresh(format), fresh(format)
    lake.sql(f"CREATE TABLE {table} (id INT, amount INT) USING {format}")
    lake.sql(f"INSERT INTO {table} VALUES (1, 10), (2, 20), (3, 30)")
    lake.sql(f"CREATE TABLE {news} (id INT, amount INT) USING {format}")
    lake.sql(f"INSERT INTO {news} VALUES (2, 5), (4, 40)")
    with lipstick.watch(lake) as watch:
        lake.sql(f"INSERT INTO {table} SELECT id + 10, amount FROM {news}")
        lake.sql(
            f"MERGE INTO {table} t USING {news} s ON t.id = s.id WHEN MATCHED THEN "
            "UPDATE SET amount = t.amount + s.amount WHEN NOT MATCHED THEN INSERT *"
        )
        lake.sql(f"UPDATE {table} SET amount = 0 WHERE id = 1")
        lake.sql(f"DELETE FROM {table} WHERE id = 3")
        q = watch.query(table)
        assert _rows(q.df) == [(1, 0), (12, 5), (14, 40), (2, 25), (4, 40)]
        assert set(watch.sources.values()) == {FIRST}
        without = q.what_if(delete={news.rpartition(".")[2]: "id = 2"}).df
        assert _rows(without) == [(1, 0), (14, 40), (2, 20), (4, 40)]


def test_what_cannot_be_followed_takes_no_other_table(
    lake: SparkSession, fresh: Callable[[str], str], tmp_path: Path
) -> None:
    good, bad = fresh("delta"), fresh("delta")
    lake.range(9).write.parquet(f"{tmp_path}/first")
    with lipstick.watch(lake) as watch:
        first = lake.read.parquet(f"{tmp_path}/first")
        first.selectExpr("id", "rand() AS r").write.format("delta").saveAsTable(bad)
        first.where("id > 3").write.format("delta").saveAsTable(good)
        both = lake.table(good).join(lake.table(bad), "id").select("id", "r")
        both.write.parquet(f"{tmp_path}/both")
        q = watch.query(f"{tmp_path}/both")
        reasons = {watch.sources[name] for name in q.plan.relations}
        calls = "the query of write 1 calls rand: Spark may have other values when it runs again"
        assert reasons == {FIRST, calls}
        assert set(watch.query(good).plan.relations) == {"first"}


@pytest.mark.many(2)
@pytest.mark.parametrize("saves", [False, True])
@pytest.mark.parametrize(
    "option", [("replaceWhere", "day = 'b'"), ("partitionOverwriteMode", "dynamic")]
)
def test_a_part_of_a_table_of_delta_that_a_writer_replaced_is_followed(
    lake: SparkSession, fresh: Callable[[str], str], option: tuple[str, str], saves: bool
) -> None:
    """A table that is saved takes columns by name, one that is inserted into by place."""
    table, news = fresh("delta"), fresh("delta")
    lake.sql(f"CREATE TABLE {table} (id INT, day STRING) USING delta PARTITIONED BY (day)")
    lake.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b'), (3, 'b')")
    lake.sql(f"CREATE TABLE {news} USING delta AS SELECT 4 AS id, 'b' AS day")
    with lipstick.watch(lake) as watch:
        lake.sql(f"UPDATE {table} SET day = 'a' WHERE id = 3")
        rows = lake.table(news).select(*(("day", "id") if saves else ("id", "day")))
        writer = rows.write.format("delta").mode("overwrite").option(*option)
        if saves:
            writer.saveAsTable(table)
        else:
            writer.insertInto(table)
        q = watch.query(table)
        assert set(watch.sources.values()) == {FIRST}
        assert _rows(q.df) == [(1, "a"), (3, "a"), (4, "b")]
        (own,) = (source for source in q.plan.relations if source.startswith(table))
        assert _rows(q.what_if(delete={own: "id = 1"}).df) == [(3, "a"), (4, "b")]
