"""Expressions of new values that the types of their columns cannot hold are refused."""

from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.engines.memory.lossless import DECLARED_TYPE
from lipstick.errors import CaptureError

LOSSY = [
    ("l", "v * 1.9", "1.9"),
    ("l", "'1.9'", "1.9"),
    ("l", "99999999999999999999", "99999999999999999999"),
    ("t", "300", "300"),
    ("d", "d * 1.1", "1.375"),
    ("d", "99999", "99999"),
    ("d", "'1.129'", "1.129"),
    ("f", "1e300D", "1.0E300"),
    ("f", "16777217", "16777217"),
    ("day", "at + INTERVAL 1 HOUR", "2024-01-01 01:00:00"),
    ("day", "'2024-02-03 10:00:00'", "2024-02-03 10:00:00"),
    ("b", "5", "5"),
    ("s", "'abcd'", "abcd"),
]
KEPT = [
    ("l", "v * 2.0", 2),
    ("l", "'12'", 12),
    ("l", "NULL", None),
    ("d", "round(d * 1.1, 2)", Decimal("1.38")),
    ("f", "f * 0.5", 0.75),
    ("b", "0", False),
    ("s", "'abc'", "abc"),
    ("s", "7", "7"),
]


def test_lossy_expressions(ls: lipstick.Session, spark: SparkSession) -> None:
    rows = spark.sql(
        "SELECT 1 id, 1 v, 5L l, 3Y t, CAST(1.25 AS DECIMAL(6, 2)) d, CAST(1.5 AS FLOAT) f,"
        " DATE'2024-01-01' day, TIMESTAMP'2024-01-01' at, true b, 'ab' s"
    )
    ls.track("r", rows.withMetadata("s", {DECLARED_TYPE: "varchar(3)"}), key="id")
    columns = ["l", "t", "d", "f", "day", "b", "s"]
    q = ls.sql(f"SELECT {', '.join(f'max({name}) AS {name}' for name in columns)} FROM r")
    for column, expression, value in LOSSY:
        with pytest.raises(CaptureError) as raised:
            q.what_if_updated({"r": {column: expression}})
        assert f"new value {value} of {column!r} of 'r' does not fit" in str(raised.value)
    for column, expression, new in KEPT:
        [row] = q.what_if_updated({"r": {column: expression}}).df.to_pylist()
        assert row[column] == new
    with pytest.raises(CaptureError, match=r"abcd of 's' .* VARCHAR\(3\)"):
        q.what_if_updated({"r": pa.table({"id": [1], "s": ["abcd"]})})
    halved = lipstick.each("r", update={"t": "t / 2"})
    with pytest.raises(CaptureError, match=r"1\.5 of 't'"):
        q.what_if_updated_many(halved)
