"""Window functions: over rows and groups, filtered and joined outside, with rows that tie."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import NeedsSparkError
from tests.oracle.rows import assert_same_bag, from_spark
from tests.oracle.small import Oracles, annotated, oracles, small, token
from tests.versions import of_newer_spark

pytestmark = pytest.mark.classic

NAN = float("nan")
ROWS = small(
    "a",
    "id int, k int, x int, d double",
    [
        (1, 1, 5, 0.0),
        (2, 1, 5, -0.0),
        (3, 1, None, NAN),
        (4, 2, 1, 1.5),
        (5, 2, 3, NAN),
        (6, None, 2, None),
        (7, None, 2, 0.5),
    ],
)
OTHERS = small("b", "bid int, k int, y int", [(1, 1, 1), (2, 1, 9), (3, 2, 4), (4, 5, None)])
EMPTY = small("e", "eid int, k int, u int", [])


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Relations with ties, NULLs, NaN and both zeros, and one without any row."""
    with oracles(spark, ROWS, OTHERS, EMPTY) as both:
        yield both


def test_every_function(on: Oracles) -> None:
    """All that needs no value of another row than those of its window, over every frame."""
    with of_newer_spark():
        on.ls.spark.sql("SELECT count(*) FILTER (WHERE id > 1) OVER () FROM range(1)")
    on.hold(
        "SELECT id, row_number() OVER w AS rn, ntile(2) OVER w AS nt, lag(x) OVER w AS l,"
        " lead(x, 2, -1) IGNORE NULLS OVER w AS le, first_value(x) OVER w AS f,"
        " last(x, true) OVER w AS la, nth_value(x, 2) OVER w AS n2,"
        " rank() OVER (ORDER BY d DESC) AS r, dense_rank() OVER (PARTITION BY k ORDER BY d) AS dr,"
        " percent_rank() OVER (ORDER BY k) AS p, cume_dist() OVER (PARTITION BY d ORDER BY x) AS c,"
        " sum(x) OVER (PARTITION BY k) AS s, count(*) FILTER (WHERE x > 2) OVER (ORDER BY k) AS n,"
        " avg(x) OVER (ORDER BY id ROWS 1 PRECEDING) AS a, x - max(x) OVER () AS d,"
        " min(x) OVER (ORDER BY id RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS m"
        " FROM a WINDOW w AS (PARTITION BY k ORDER BY id)",
        {"a": [2]},
        {"a": [1, 4, 7]},
        {"a": [1, 2, 3, 4, 5, 6, 7]},
    )


def test_over_groups_filtered_outside(on: Oracles) -> None:
    """As in TPC-DS 47 and 67: ranks and averages of groups, compared with the groups' values."""
    on.hold(
        "SELECT k, x, n, m, r FROM (SELECT k, x, count(*) AS n, avg(sum(id)) OVER (PARTITION BY k)"
        " AS m, sum(id) AS s, rank() OVER (PARTITION BY k ORDER BY sum(id) DESC) AS r"
        " FROM a GROUP BY k, x HAVING count(*) < 3) t WHERE r <= 1 AND s >= m ORDER BY r, k, x",
        {"a": [1]},
        {"a": [2, 3, 5]},
        {"a": [4, 5, 6, 7]},
    )


@pytest.mark.engines("spark")
def test_over_rows_that_appear(on: Oracles) -> None:
    """Over a left join with NOT EXISTS: rows that a deletion makes appear are counted."""
    on.hold(
        "SELECT * FROM (SELECT a.id, b.bid, row_number() OVER (PARTITION BY a.k ORDER BY a.id,"
        " b.bid) AS n FROM a LEFT JOIN b ON a.k = b.k AND b.y > 1 WHERE NOT EXISTS"
        " (SELECT 1 FROM b AS c WHERE c.k = a.k AND c.y > a.x)) t WHERE n < 3",
        {"b": [2]},
        {"b": [2, 3], "a": [1]},
    )


@pytest.mark.slow
def test_joined_united_and_qualified(on: Oracles) -> None:
    """Of one relation twice, in a union, over nothing, and by QUALIFY."""
    with of_newer_spark():
        on.ls.spark.sql("SELECT id FROM range(1) QUALIFY count(*) OVER () = 1")
    on.hold(
        "WITH n AS (SELECT id, k, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM a)"
        " SELECT p.id, q.id AS other FROM n AS p JOIN n AS q ON p.k = q.k AND p.n = q.n - 1"
        " UNION ALL SELECT eid, sum(u) OVER () FROM e"
        " UNION ALL SELECT DISTINCT k, count(*) OVER (PARTITION BY k) FROM b"
        " UNION ALL (SELECT id, x FROM a QUALIFY rank() OVER (PARTITION BY k ORDER BY x) = 1)",
        {"a": [2]},
        {"a": [1, 6], "b": [1]},
        offline=False,
    )


@pytest.mark.engines("spark")
def test_ties_are_decided_once(on: Oracles) -> None:
    """Where Spark may choose, the answer, the capture and every what-if choose alike."""
    with of_newer_spark():
        on.ls.spark.sql("SELECT count(*) FILTER (WHERE id > 1) OVER () FROM range(1)")
    q = on.ls.sql(
        "SELECT id, row_number() OVER w AS rn, lag(id) OVER w AS l, first_value(id) OVER w AS f,"
        " last_value(id) OVER w AS la, nth_value(id, 2) IGNORE NULLS OVER w AS n2,"
        " collect_list(id) OVER w AS c, first(id) FILTER (WHERE x > 1) OVER w AS ff,"
        " sum(id) OVER (ORDER BY k ROWS 1 PRECEDING) AS s, any_value(id) OVER (PARTITION BY k) AS v"
        " FROM a WINDOW w AS (ORDER BY k)"
    )
    assert_same_bag(from_spark(q.df), from_spark(q.capture.df), "the capture")
    rows = {row.id: row for row in q.df.collect()}
    assert [rows[n].rn for n in (6, 7, 1, 2, 3, 4, 5)] == [1, 2, 3, 4, 5, 6, 7]
    assert rows[6].la == 7
    assert rows[1].c == [6, 7, 1, 2, 3]
    assert {rows[n].v for n in (4, 5)} == {4}
    delete = {"a": [1, 7]}
    answers = q.what_if(delete), q.what_if(delete, method="rerun")
    assert [w.method for w in answers] == ["annotations", "rerun"]
    assert_same_bag(from_spark(answers[1].df), from_spark(answers[0].df), "what-if")


@pytest.mark.slow
def test_what_values_come_from(on: Oracles) -> None:
    """Tensors of frames, conditions as factors, and lineage through the rows that decide."""
    q = on.hold(
        "SELECT id, s FROM (SELECT id, x, sum(x) OVER (PARTITION BY k ORDER BY id) AS s,"
        " row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM a) t WHERE n >= 2 AND x < s",
        {"a": [1]},
        {"a": [4]},
    )
    sums = on.ls.sql("SELECT id, sum(x) OVER (PARTITION BY k ORDER BY id) AS s FROM a")
    tensors = {
        row["id"]: str(annotation) for row, annotation in sums.algebra.tensors("s", limit=None)
    }
    assert tensors[1] == "a:1⊗5"
    assert tensors[2] == "a:1⊗5 + a:2⊗5"
    assert annotated(sums)[(2, 10), token("a", 2)] == 1
    conditions = {row["id"]: str(annotation) for row, annotation in q.polynomials(limit=None)}
    counted, summed = "[COUNT(a:4⊗1 + a:5⊗1) >= 2]", "[SUM(a:4⊗1 + a:5⊗3) > 3]"
    assert counted in conditions[5]
    assert summed in conditions[5]
    rows = {row.id for row in q.lineage("id = 5")["a"].collect()}
    offline = lipstick.open(q.capture.directory).lineage()["a"]
    assert rows == {4, 5}
    assert set(offline["id"].to_pylist()) == {1, 2, 4, 5, 6, 7}


@pytest.mark.engines("spark")
def test_what_only_spark_computes(on: Oracles) -> None:
    """Without Spark an expression that cannot be computed is said by name, and the rest answers."""
    sql = "SELECT id, stddev(x) OVER (PARTITION BY k) AS s FROM a"
    q = on.hold(sql, {"a": [1]}, offline=False)
    capture = lipstick.open(q.capture.directory)
    assert capture.df.num_rows == 7
    with pytest.raises(NeedsSparkError, match=r"STDDEV.* OVER"):
        _ = capture.what_if({"a": [1]}).df


@pytest.mark.engines("spark")
def test_rows_that_nothing_tells_apart(on: Oracles, spark: SparkSession) -> None:
    """Rows of a relation without provenance are sorted by what is read of them."""
    rows = spark.createDataFrame([(1, 2), (1, 2), (1, 3)], "k int, v int")
    with lipstick.session(spark) as session:
        session.track("u", rows, provenance=False)
        q = session.sql(
            "SELECT k, row_number() OVER (ORDER BY k) AS n, lag(v) OVER (ORDER BY k) AS l FROM u"
        )
        assert sorted(map(tuple, q.df.collect()), key=repr) == [(1, 1, None), (1, 2, 2), (1, 3, 2)]
        assert_same_bag(from_spark(q.df), from_spark(q.capture.df), "the capture")


def test_ties_in_the_order_of_a_derived_table(on: Oracles) -> None:
    """Rows that tie in the order of a window are in that of their derived table, as in Spark."""
    on.hold(
        "SELECT id, last(x) OVER (PARTITION BY k ORDER BY x NULLS FIRST ROWS CURRENT ROW) AS l,"
        " row_number() OVER (PARTITION BY k ORDER BY x NULLS FIRST) AS n"
        " FROM (SELECT id, k, x FROM a ORDER BY id DESC) AS t",
        {"a": [2]},
        {"a": [5, 7]},
    )
    on.hold(
        "SELECT id, row_number() OVER (PARTITION BY k ORDER BY k + x) AS n FROM"
        " (SELECT * FROM a ORDER BY x NULLS LAST, id DESC LIMIT 5) AS t",
        {"a": [4]},
    )
    on.hold(
        "SELECT k, n, lag(k) OVER (ORDER BY n) AS g FROM (SELECT k, count(x) AS n FROM a"
        " GROUP BY k ORDER BY k DESC) AS t",
        {"a": [6, 7]},
    )
