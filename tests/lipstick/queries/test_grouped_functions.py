"""Registered aggregate functions as black boxes of a group, computed anew from its members."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import lipstick
from lipstick.errors import NeedsSparkError
from tests.oracle.small import Oracles, annotated, oracles, small, token
from tests.versions import VERSION, of_newer_spark

ROWS = small(
    "t",
    "id int, g string, v int",
    [(1, "a", 3), (2, "a", 3), (3, "a", -1), (4, "b", None), (5, None, 2), (6, None, 9)],
)
KEYS = small(
    "f",
    "id int, k double, v int",
    [(1, float("nan"), 1), (2, float("nan"), 5), (3, 0.0, 2), (4, -0.0, 4), (5, None, 7)],
)
EMPTY = small("e", "id int, g string, v int", [])


def _spread() -> Callable[[pd.Series], float]:
    """Return a function that workers get by value: they cannot import this module."""

    def spread(values: pd.Series) -> float:
        return float(values.max() - values.min())

    spread.__annotations__ = {"values": pd.Series, "return": float}
    return spread


def _weighted() -> Callable[[pd.Series, pd.Series], float]:
    def weighted(values: pd.Series, weights: pd.Series) -> float:
        return float((values * weights).sum())

    weighted.__annotations__ = {"values": pd.Series, "weights": pd.Series, "return": float}
    return weighted


def _members() -> Callable[[pa.Array], int]:
    def members(values: pa.Array) -> int:
        return len(values)

    members.__annotations__ = {"values": pa.Array, "return": int}
    return members


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Groups with NULLs, and aggregates of pandas and of Arrow that both sessions know."""
    with oracles(spark, ROWS, KEYS, EMPTY) as both:
        registered = {
            "spread": F.pandas_udf(_spread(), "double"),
            "weighted": F.pandas_udf(_weighted(), "double"),
        }
        if VERSION >= (4, 1):
            registered["members"] = F.arrow_udf(_members(), "int")
        for session in {id(s): s for s in (spark, both.plain.spark)}.values():
            for name, function in registered.items():
                session.udf.register(name, function)
        yield both
        for name in registered:
            spark.sql(f"DROP TEMPORARY FUNCTION {name}")


@pytest.mark.many
@pytest.mark.classic
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT g, spread(v) AS s, weighted(v + 1, id) AS w FROM t GROUP BY g",
        "SELECT spread(v) + 1 AS s FROM t WHERE v > 1",
        "SELECT g, spread(v) AS s FROM t GROUP BY g HAVING spread(v) < 5 ORDER BY s",
        "SELECT g, id % 2 AS r, members(v) AS n FROM t GROUP BY CUBE (g, id % 2)",
        "SELECT d.g, sum(d.s) AS s FROM (SELECT g, v, spread(id) AS s FROM t GROUP BY g, v) d"
        " GROUP BY d.g",
        "SELECT id, (SELECT spread(x.id) FROM t x WHERE x.g = t.g) AS s FROM t",
        "SELECT id, (SELECT coalesce(spread(x.id), 0.0D) FROM t x WHERE x.g = t.g) AS s FROM t",
        "SELECT count(*) AS n FROM (SELECT spread(v) AS s FROM t GROUP BY 'all')",
        "SELECT k, members(v) AS n FROM f GROUP BY k",
    ],
)
def test_aggregate_of_a_group(on: Oracles, sql: str) -> None:
    """Alone, of several arguments, of all rows, decided by, read by another query."""
    with of_newer_spark():
        on.plain.answer(sql)
    on.hold(
        sql,
        {"t": [1, 3], "f": [2]},
        {"t": [5, 4], "f": [1, 2]},
        {"t": [1, 2, 3, 4, 5, 6], "f": [5]},
        grouping=True,
        offline=False,
    )


def test_aggregate_over_a_window(on: Oracles) -> None:
    sql = (
        "SELECT id, spread(v) OVER (PARTITION BY g) AS s, weighted(v, id) OVER (PARTITION BY g"
        " ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS w FROM t"
    )
    on.hold(sql, {"t": [1]}, {"t": [2, 6]}, offline=False)


@pytest.mark.engines("spark")
def test_aggregate_of_a_data_frame(on: Oracles) -> None:
    """Though nobody registered it."""
    frame = on.ls.spark.table("t").groupBy("g").agg(F.pandas_udf(_spread(), "double")("v"))
    expected = annotated(on.ls.sql("SELECT g, spread(v) FROM t GROUP BY g"))
    assert annotated(on.ls.annotate(frame)) == expected


@pytest.mark.engines("spark")
def test_aggregate_of_no_rows_has_no_row(on: Oracles) -> None:
    """Otherwise than Spark's own aggregates: its row depends on the members."""
    assert not annotated(on.ls.sql("SELECT spread(v) AS s FROM e"))
    q = on.ls.sql("SELECT spread(v) AS s FROM t WHERE id > 4")
    both = token("t", 5) + token("t", 6)
    assert annotated(q) == {((7.0,), both.delta()): 1}


def test_aggregate_needs_spark(on: Oracles) -> None:
    """Where a group lost a member; the others' values are stored."""
    q = on.ls.sql("SELECT g, spread(v) AS s FROM t GROUP BY g")
    capture = lipstick.open(q.capture.directory)
    with pytest.raises(NeedsSparkError, match="SPREAD"):
        capture.what_if(delete={"t": [1]})
