"""What generators make of arrays that a deletion may change, in memory and by Spark."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import NeedsSparkError
from rewriter.interpret import Vector, from_arrow, interpret
from rewriter.scalars.text import scalar
from tests.oracle.elements import ELEMENTS
from tests.oracle.small import Oracles, oracles, small

R = small(
    "r",
    "id int, k string, x int",
    [(1, "a", 10), (2, "a", 1), (3, "b", 1), (4, "b", 3), (5, None, 2), (6, "a", None)],
)
S = small("s", "id int, k string, y int", [(1, "a", 1), (2, "b", 3), (3, "c", 2), (4, None, 10)])

SPARK_S: dict[str, str] = {
    "stack": (
        "SELECT k, n, v FROM (SELECT k, stack(2, 's', sum(x), 'c', count(*)) AS (n, v) FROM r"
        " GROUP BY k) WHERE v > 1"
    ),
    "stack, grouped": (
        "SELECT n, sum(v) AS t FROM (SELECT k, sum(x) AS s, count(*) AS c FROM r GROUP BY k)"
        " LATERAL VIEW stack(2, 's', s, 'c', c) AS n, v GROUP BY n"
    ),
    "in the select list": "SELECT k, posexplode(sort_array(collect_set(x))) FROM r GROUP BY k",
    "struct elements": (
        "SELECT k, e.a FROM (SELECT k, array_sort(collect_list(struct(x AS a, id AS b))) AS l"
        " FROM r GROUP BY k) LATERAL VIEW OUTER explode(l) AS e"
    ),
    "looked into": (
        "SELECT k, p, v FROM (SELECT k, collect_list(x) AS l FROM r GROUP BY k)"
        " LATERAL VIEW posexplode(l) AS p, v"
    ),
    "a list of a window": (
        "SELECT id, v FROM (SELECT id, collect_list(x) OVER (PARTITION BY k ORDER BY id) AS l"
        " FROM r) LATERAL VIEW explode(l) AS v"
    ),
}
"""Queries that DuckDB does not know, or answers otherwise."""

ROWS = pa.table(
    {
        "x": pa.array([3, None, 1], pa.int32()),
        "s": pa.array(["b", "a", None]),
        "t": pa.array([0, None, -1_500_001], pa.timestamp("us", "UTC")),
        "l": pa.array([[2, None, 1, 2], [], None], pa.list_(pa.int32())),
        "d": pa.array([[1.5, float("nan"), -0.0], [None, 0.0], [2.0]], pa.list_(pa.float64())),
    }
)
SCALARS = (
    "array(x, 7)",
    "array(x, 7L)",
    "array(l, array(x))",
    "array_compact(l)",
    "array_contains(l, 2)",
    "array_contains(l, x)",
    "array_distinct(l)",
    "array_max(d)",
    "array_min(l)",
    "array_sort(l)",
    "get(l, x)",
    "greatest(x, 2)",
    "least(x, NULL, 2)",
    "map('p', x, 's', 2)",
    "map_from_entries(array(named_struct('k', 1, 'v', x), named_struct('k', 2, 'v', 5)))",
    "map_keys(map(x IS NULL, s))",
    "map_values(map(s IS NULL, x))",
    "sequence(2, x)",
    "size(array(x, 1))",
    "slice(l, 2, 2)",
    "sort_array(l)",
    "sort_array(l, false)",
    "sort_array(d)",
    "x > 2 IS TRUE",
    "NOT (x > 2) IS FALSE",
    "transform(l, e -> e + x)",
    "transform(l, (e, i) -> i)",
    "filter(l, e -> e > 1)",
    "aggregate(l, 0, (a, e) -> a + coalesce(e, 0))",
    "aggregate(l, struct(0 AS n), (a, e) -> struct(a.n + 1 AS n), a -> a.n)",
    "CASE WHEN x > 2 THEN array(x) ELSE array(2L) END",
    "unix_micros(t + make_interval(0, 0, 0, 0, 0, 0, 90))",
    "t - INTERVAL '1' MILLISECOND",
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """A session that tracks two relations."""
    with oracles(spark, R, S) as both:
        yield both


@pytest.mark.many(12)
@pytest.mark.parametrize("name", [*SPARK_S, *ELEMENTS])
def test_spark_and_memory_answer_alike(on: Oracles, name: str) -> None:
    """Both engines, by the query over what is left; each deletion changes some answer."""
    sql = {**ELEMENTS, **SPARK_S}[name]
    deletions: list[dict[str, list[int]]] = [{"r": [1, 4]}, {"r": [1, 2, 3]}, {"r": [2, 4, 5]}]
    if " s" in sql:
        deletions += [{"s": [1, 2]}]
    on.hold(sql, *deletions, grouping=True)


def test_scalars_are_those_of_spark(spark: SparkSession) -> None:
    """Functions of arrays and maps, and those of functions: value by value, and their types."""
    spark.createDataFrame(ROWS).createOrReplaceTempView("rows_of_arrays")
    texts = [f"{text} AS c{number}" for number, text in enumerate(SCALARS)]
    expected = spark.sql(f"SELECT {', '.join(texts)} FROM rows_of_arrays").toArrow()

    def column(_: str, name: str) -> Vector:
        return from_arrow(ROWS.column(name))

    for number, text in enumerate(SCALARS):
        vector = interpret(scalar(text)).evaluate(column)
        values = vector.to_arrow(ROWS.num_rows)
        assert repr(values.to_pylist()) == repr(expected.column(number).to_pylist()), text
    spark.catalog.dropTempView("rows_of_arrays")


def test_what_spark_alone_knows_is_named(on: Oracles) -> None:
    """How long NULL is; which of several values a generator that is not an array makes."""
    q = on.ls.sql(
        "SELECT k, c FROM (SELECT k, max(k) AS m FROM r GROUP BY k)"
        " LATERAL VIEW json_tuple(concat('{\"a\":\"', m, '\"}'), 'a') AS c"
    )
    offline = lipstick.open(q.capture.directory)
    with pytest.raises(NeedsSparkError, match="Spark alone calls JSON_TUPLE"):
        offline.what_if({"r": [1]})
