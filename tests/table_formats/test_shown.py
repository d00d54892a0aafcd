"""Results that were shown of Delta and Iceberg tables, asked over the versions that they read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.errors import SourceChangedError


def _sum(lake: SparkSession, name: str) -> DataFrame:
    return lake.table(name).agg(F.sum("v").alias("n"))


@pytest.mark.parametrize("format", ["delta", "iceberg"])
def test_a_result_is_asked_over_the_version_that_it_read(
    lake: SparkSession, fresh: Callable[[str], str], format: str
) -> None:
    name = fresh(format)
    lake.sql(f"CREATE TABLE {name} (id INT, v INT) USING {format}")
    lake.sql(f"INSERT INTO {name} VALUES (1, 10), (2, 20)")
    with lipstick.watch(lake) as watch:
        _sum(lake, name).show()
        stale = lake.table(name).select("v")
        lake.sql(f"DELETE FROM {name} WHERE id = 1")
        _sum(lake, name).collect()
        stale.collect()
        first, second, third = watch.shown
        assert [row["n"] for row in first.query.df.collect()] == [30]
        assert [row["n"] for row in second.query.df.collect()] == [20]
        (relation,) = first.query.plan.relations
        gone = first.what_if(delete={relation: "v = 10"}).df.collect()
        assert [row["n"] for row in gone] == [20]
        with suppress(SourceChangedError):  # unless it is not known which version was shown
            rows = sorted(row["v"] for row in third.query.df.collect())
            assert rows == sorted(row["v"] for row in stale.collect())
