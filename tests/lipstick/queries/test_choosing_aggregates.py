"""Aggregates that choose among the rows of a group, put them in an order, or approximate them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from tests.oracle.rows import assert_same_bag, from_spark
from tests.oracle.small import Oracles, oracles, small
from tests.versions import of_newer_spark

pytestmark = pytest.mark.classic

ROWS = small(
    "t",
    "id int, g string, v int, d double",
    [
        (1, "a", 3, 1.5),
        (2, "a", 4, float("nan")),
        (3, "a", -1, -0.0),
        (4, "b", None, 0.0),
        (5, None, 2, None),
        (6, None, 9, float("inf")),
        (7, "a", 3, 1.5),
    ],
)
EMPTY = small("e", "id int, v int", [])


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """A relation with NULLs in keys and values."""
    with oracles(spark, ROWS, EMPTY) as both:
        yield both


@pytest.mark.many
@pytest.mark.parametrize(
    "calls",
    [
        "max_by(v, id) AS a, min_by(d, id) AS b, max_by(id, d) FILTER (WHERE id < 7) AS c,"
        " max_by(v, id, 2) AS e, first(g) AS f, mode(v, true) AS m,"
        " mode() WITHIN GROUP (ORDER BY v DESC) AS n",
        "percentile_cont(0.25) WITHIN GROUP (ORDER BY v DESC) AS p,"
        " percentile_disc(array(0.3, 0.6)) WITHIN GROUP (ORDER BY v DESC) AS q,"
        " percentile_cont(0.5) WITHIN GROUP (ORDER BY d) FILTER (WHERE v > 2) AS r,"
        " approx_percentile(v, 0.5) AS s, percentile_approx(d, 0.3, 100) AS t",
        "listagg(v, '+') WITHIN GROUP (ORDER BY id DESC) AS l, string_agg(DISTINCT v, ',') WITHIN"
        " GROUP (ORDER BY v) AS m, listagg(v) WITHIN GROUP (ORDER BY d DESC NULLS LAST, id) FILTER"
        " (WHERE v > 2) AS n, listagg(CAST(g AS binary)) WITHIN GROUP"
        " (ORDER BY id) AS o",
        "hll_sketch_estimate(hll_sketch_agg(v)) AS h, hex(count_min_sketch(v, 0.5D, 0.5D, 1)) AS c,"
        " theta_sketch_estimate(theta_sketch_agg(v)) AS t, vector_sum(array(float(id))) FILTER"
        " (WHERE v > 2) AS v, sort_array(collect_union(array(v, id)) FILTER (WHERE v > 2)) AS u,"
        " schema_of_variant_agg(to_variant_object(array(v))) FILTER (WHERE id < 4) AS s,"
        " tuple_sketch_estimate_integer(tuple_sketch_agg_integer(v, id)) AS e",
    ],
)
def test_of_one_answer(on: Oracles, calls: str) -> None:
    """Of groups, of grouping sets and of all rows: computed anew from the members that are left."""
    sql = f"SELECT g, {calls} FROM t GROUP BY GROUPING SETS ((g), ())"
    with of_newer_spark():
        on.plain.answer(sql)
    on.hold(sql, {"t": [2, 6]}, {"t": [1, 3, 5, 7]}, grouping=True, offline=False)


def test_of_different_values(on: Oracles) -> None:
    """Beside different values of others, which Spark computes in no order, and without any row."""
    calls = "count(DISTINCT d) AS c, sum(DISTINCT v) AS s"
    sql = f"SELECT g, listagg(DISTINCT v, ',') AS l, {calls}, listagg(DISTINCT g) AS m FROM t"
    rows = on.ls.tracked["t"].source.frame
    listed = "array_join(array_sort(collect_set(CAST({} AS STRING))), '{}')"
    same = f"nullif({listed.format('v', ',')}, '') AS l", f"nullif({listed.format('g', '')}, '')"
    with of_newer_spark():
        on.plain.answer(f"{sql} GROUP BY g")
    for condition in ("id < 0", "id IN (2, 6)", "g = 'a'", "id < 100"):
        left = rows.where(f"({condition}) IS NOT TRUE").groupBy("g")
        plain = left.agg(*map(F.expr, (same[0], *calls.split(", "), same[1]))).collect()
        found = on.ls.sql(f"{sql} GROUP BY g").what_if(delete={"t": condition}).df.collect()
        assert sorted(map(repr, map(tuple, found))) == sorted(map(repr, map(tuple, plain)))


@pytest.mark.engines("spark")
def test_of_no_rows(on: Oracles) -> None:
    sql = (
        "SELECT max_by(v, id) AS a, first(v) AS f, mode(v, true) AS m, listagg(v, ',') AS l,"
        " percentile_cont(0.5) WITHIN GROUP (ORDER BY v) AS p, approx_percentile(v, 0.5) AS q"
    )
    q = on.ls.sql(f"{sql} FROM e")
    assert_same_bag(on.plain.answer(f"{sql} FROM e"), from_spark(q.capture.df), "of no rows")
    everything = {"t": [1, 2, 3, 4, 5, 6, 7]}
    on.hold(f"{sql} FROM t WHERE id <> 7", everything, grouping=True, offline=False)


@pytest.mark.slow
def test_compared_and_read_by_another_query(on: Oracles) -> None:
    """HAVING may become true by a deletion; a chosen value is read anew each time."""
    sql = (
        "SELECT t.id, s.m FROM t JOIN (SELECT g, max_by(v, id) AS m, any_value(g) AS h FROM t"
        " GROUP BY g HAVING max_by(v, id) < 5) s ON t.g <=> s.h AND t.v >= s.m"
    )
    on.hold(sql, {"t": [6]}, {"t": [7]}, offline=False)


@pytest.mark.engines("spark")
def test_over_windows(on: Oracles) -> None:
    sql = (
        "SELECT id, max_by(v, id) OVER (PARTITION BY g ORDER BY d) AS a, mode(v, true) OVER"
        " (PARTITION BY g) AS m, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) OVER (PARTITION BY"
        " g) AS p, listagg(v, ',') WITHIN GROUP (ORDER BY id) OVER (PARTITION BY g) AS l,"
        " listagg(v, ',') OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM t"
    )
    on.hold(sql, {"t": [2]}, {"t": [3, 6]}, offline=False)


def test_what_ties_is_decided_by_keys(on: Oracles) -> None:
    """In the answer, in a capture and in what a deletion leaves; by one of Spark's answers."""
    q = on.ls.sql(
        "SELECT first(id) AS f, last(v) IGNORE NULLS AS l, max_by(id, g) AS m, mode(g) AS o,"
        " listagg(id, ',') WITHIN GROUP (ORDER BY g) AS a, listagg(v, ',') AS b FROM t"
        " WHERE id <> 4 AND id < 7"
    )
    expected = (1, 9, 3, "a", "5,6,1,2,3", "3,4,-1,2,9")
    assert [tuple(row) for row in q.df.collect()] == [expected]
    assert [tuple(row) for row in q.capture.df.collect()] == [expected]
    (left,) = q.what_if({"t": [1, 3, 6]}).df.collect()
    assert tuple(left) == (2, 2, 2, "a", "5,2", "4,2")


FRAMES: dict[str, tuple[Callable[[DataFrame], DataFrame], str]] = {
    "chosen": (
        lambda t: t.groupBy("g").agg(
            F.max_by("v", "id").alias("a"),
            F.min_by("id", "d").alias("b"),
            F.first("v").alias("f"),
            F.last("v", ignorenulls=True).alias("l"),
            F.any_value("d").alias("y"),
            F.mode("v").alias("m"),
            F.mode("v", deterministic=True).alias("n"),
        ),
        "SELECT g, max_by(v, id) AS a, min_by(id, d) AS b, first(v) AS f, last(v, true) AS l,"
        " any_value(d) AS y, mode(v) AS m, mode(v, true) AS n FROM t GROUP BY g",
    ),
    "listed": (
        lambda t: t.groupBy("g").agg(
            F.listagg("v", F.lit(",")).alias("a"),
            F.listagg_distinct("v", F.lit("-")).alias("b"),
            F.string_agg("v").alias("c"),
        ),
        "SELECT g, listagg(v, ',') AS a, listagg(DISTINCT v, '-') AS b, listagg(v) AS c FROM t"
        " GROUP BY g",
    ),
    "percentiles": (
        lambda t: t.groupBy("g").agg(
            F.percentile("v", 0.25).alias("a"),
            F.percentile_approx("v", 0.5).alias("b"),
            F.median("d").alias("c"),
            F.expr("percentile_cont(0.5) WITHIN GROUP (ORDER BY v DESC)").alias("p"),
            F.expr("percentile_disc(0.5) WITHIN GROUP (ORDER BY v)").alias("q"),
            F.expr("listagg(v, ',') WITHIN GROUP (ORDER BY d DESC)").alias("l"),
        ),
        "SELECT g, percentile(v, 0.25) AS a, percentile_approx(v, 0.5) AS b, median(d) AS c,"
        " percentile_cont(0.5) WITHIN GROUP (ORDER BY v DESC) AS p, percentile_disc(0.5) WITHIN"
        " GROUP (ORDER BY v) AS q, listagg(v, ',') WITHIN GROUP (ORDER BY d DESC) AS l FROM t"
        " GROUP BY g",
    ),
    "over windows": (
        lambda t: t.select(
            "id",
            F.max_by("v", "d").over(Window.partitionBy("g")).alias("a"),
            F.mode("v").over(Window.partitionBy("g")).alias("m"),
        ),
        "SELECT id, max_by(v, d) OVER (PARTITION BY g) AS a, mode(v) OVER (PARTITION BY g) AS m"
        " FROM t",
    ),
}


@pytest.mark.many
@pytest.mark.parametrize("case", FRAMES)
def test_of_data_frames(on: Oracles, case: str) -> None:
    """The same answer and annotations as of the query in SQL."""
    build, sql = FRAMES[case]
    with of_newer_spark():
        on.plain.answer(sql)
    on.hold_frame(build(on.ls.tracked["t"].source.frame), sql, chosen=True)
