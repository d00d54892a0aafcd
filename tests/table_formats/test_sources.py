"""Versions of Delta and Iceberg tables as sources."""

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

import lipstick

FORMATS = ("delta", "iceberg")
Fresh = Callable[[str], str]


@pytest.mark.parametrize("format", FORMATS)
def test_a_tracked_version_stays_whatever_is_committed_later(
    lake: SparkSession, ls: lipstick.Session, fresh: Fresh, format: str
) -> None:
    table = fresh(format)
    lake.sql(f"CREATE TABLE {table} (k INT, v STRING) USING {format}")
    lake.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'a'), (3, 'b')")
    tracked = ls.track("t", table, key="k")
    q = ls.sql("SELECT v, count(*) AS n FROM t GROUP BY v")
    before = q.capture.df.collect()
    lake.sql(f"DELETE FROM {table} WHERE k = 1")
    lake.sql(f"ALTER TABLE {table} ADD COLUMN w INT")
    lake.sql(f"INSERT INTO {table} VALUES (4, 'c', 4)")
    again = ls.sql("SELECT v, count(*) AS n FROM t GROUP BY v")
    for frame in (q, again):
        assert sorted(map(tuple, frame.df.collect())) == [("a", 2), ("b", 1)]
        gone = frame.what_if(delete={"t": [2]})
        assert sorted(map(tuple, gone.df.collect())) == [("a", 1), ("b", 1)]
    assert sorted(before) == sorted(again.capture.df.collect())
    assert f"version {tracked.source.versions[0].version}" in tracked.source.description
    later = ls.track("later", table, key="k")
    assert later.columns == ("k", "v", "w")
    assert ls.sql("SELECT sum(w) AS s FROM later").df.collect()[0].s == 4
