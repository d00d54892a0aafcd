"""A table whose process died before the version of its provenance was there."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.tables.commit import finished
from lipstick.tables.derivation import read_latest
from lipstick.tracking.source import read_source

CARS = [("C1", "Accord", 24), ("C2", "Civic", 20), ("C3", "Civic", 22)]


def _session(spark: SparkSession, store: Path) -> lipstick.Session:
    ls = lipstick.session(spark, store=store)
    cars = spark.createDataFrame(CARS, "CarId string, Model string, Price int")
    ls.track("Cars", cars, key=["CarId"])
    return ls


def _undone(directory: Path, version: int) -> None:
    """Leave a version as it is while its table is written."""
    path = directory / f"v{version:06}.json"
    for copy in directory.glob(f"parts/*/{path.name}"):
        copy.unlink()
    path.rename(directory / f"announced-{version:06}.json")


@pytest.mark.engines("spark")
def test_a_write_is_finished_by_who_meets_it_next(spark: SparkSession, tmp_path: Path) -> None:
    """If the table has the rows that were announced; else it is as unknown as it was."""
    table, kept = str(tmp_path / "w.parquet"), tmp_path / "w.parquet.provenance"
    with _session(spark, tmp_path / "store") as ls:
        ls.sql("SELECT CarId, Price FROM Cars WHERE Price < 22").write.parquet(table, name="w")
    _undone(kept, 1)
    with _session(spark, tmp_path / "store") as ls:
        ls.track("w", table, derived=True)
        (row,) = ls.sql("SELECT CarId FROM w").polynomials(expand=True)
        assert str(row[1]) == "Cars:C2"
    _undone(kept, 1)
    with _session(spark, tmp_path / "store") as ls:
        more = ls.sql("SELECT CarId, Price FROM Cars WHERE Price = 22")
        more.write.mode("append").parquet(table, name="w")
        q = ls.sql("SELECT CarId FROM w")
        assert {str(annotation) for _, annotation in q.polynomials(expand=True)} == {
            "Cars:C2",
            "Cars:C3",
        }
    assert read_latest(kept).version == 2
    assert not list(kept.glob("announced-*"))

    _undone(kept, 2)
    last = finished(spark, kept, read_source(spark, table, "parquet"))
    assert last is not None
    assert (last.version, [len(part.files) for part in last.parts]) == (2, [1, 1])
    _undone(kept, 2)
    spark.createDataFrame([("C9", 1)], "CarId string, Price int").write.mode("append").parquet(
        table
    )
    other = read_source(spark, table, "parquet")
    last = finished(spark, kept, other)
    assert last is not None
    assert last.version == 1
    assert last.fingerprint != other.fingerprint
