"""Registered functions as black boxes of one row, and aggregates computed anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pandas as pd
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.udtf import UserDefinedTableFunction

from lipstick.errors import InvalidQueryError
from rewriter.errors import UnsupportedError
from tests.oracle.rows import assert_same_bag, from_spark
from tests.oracle.small import Oracles, annotated, oracles, small, token

ROWS = small(
    "t",
    "id int, g string, v int",
    [(1, "a", 3), (2, "a", 3), (3, "a", -1), (4, "b", None), (5, None, 2), (6, None, 9)],
)
TEXTS = small(
    "texts",
    "id int, text string, g int",
    [(1, "a bb a", 1), (2, "bb", 1), (3, None, 2), (4, "", 2), (5, "ccc bb", None)],
)
EMPTY = small("e", "id int, v int", [])


def _shifted() -> Callable[[pd.Series], pd.Series]:
    """Return a function that workers get by value: they cannot import this module."""

    def shifted(values: pd.Series) -> pd.Series:
        return values.astype("float64") + 0.5

    return shifted


def _words() -> UserDefinedTableFunction:
    """The words of a text, with their lengths; of NULL none."""

    class Words:
        def eval(self, text: str | None, least: int) -> Iterator[tuple[str, int]]:
            for word in (text or "").split():
                if len(word) >= least:
                    yield word, len(word)

    return F.udtf(Words, returnType="word string, size int")


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """A relation with NULLs, and functions that both sessions know."""
    with oracles(spark, ROWS, TEXTS, EMPTY) as both:
        twice = F.udf(lambda v: None if v is None else 2 * v, "int")
        shifted = F.pandas_udf(_shifted(), "double")
        pair = F.udf(lambda v, g: [f"{g}", f"{v}"], "array<string>")
        random = F.udf(lambda v: v, "int").asNondeterministic()
        for session in {id(s): s for s in (spark, both.plain.spark)}.values():
            session.udf.register("twice", twice)
            session.udf.register("shifted", shifted)
            session.udf.register("pair", pair)
            session.udf.register("unsteady", random)
            session.udtf.register("words", _words().asDeterministic())
            session.udtf.register("any_words", _words())
        yield both
        for name in ("twice", "shifted", "pair", "unsteady", "words", "any_words"):
            spark.sql(f"DROP TEMPORARY FUNCTION {name}")


@pytest.mark.many
@pytest.mark.parametrize(
    ("sql", "grouping"),
    [
        ("SELECT id, twice(v) AS w FROM t WHERE twice(v) > 4 OR v IS NULL", False),
        ("SELECT id, shifted(v) AS w FROM t", False),
        ("SELECT a.id, b.id AS other FROM t a JOIN t b ON twice(a.v) = b.v + 3", False),
        pytest.param(
            "SELECT twice(v) AS w, count(*) AS n, sum(twice(id)) AS s FROM t GROUP BY 1",
            True,
            marks=pytest.mark.slow,
        ),
        ("SELECT g, twice(CAST(sum(v) AS INT)) AS w FROM t GROUP BY g", True),
        pytest.param(
            "SELECT g FROM t GROUP BY g HAVING twice(max(id)) > 10", True, marks=pytest.mark.slow
        ),
        ("SELECT id, x FROM t LATERAL VIEW explode(pair(v, g)) u AS x", False),
    ],
)
def test_registered_function(on: Oracles, sql: str, grouping: bool) -> None:
    """In every clause, of rows and of aggregated values."""
    on.hold(sql, {"t": [1, 6]}, {"t": [2, 3, 5]}, grouping=grouping, offline=False)


@pytest.mark.engines("spark")
def test_function_of_a_row_has_the_annotation_of_its_row(on: Oracles) -> None:
    q = on.hold("SELECT id, twice(v) AS w FROM t WHERE id < 3", {"t": [1]})
    assert annotated(q) == Counter({((1, 6), token("t", 1)): 1, ((2, 6), token("t", 2)): 1})


@pytest.mark.classic
@pytest.mark.parametrize("items", ["unsteady(v) AS w", "unsteady(v) AS w, rand() AS r"])
def test_function_that_is_not_deterministic_is_refused(on: Oracles, items: str) -> None:
    """A Connect client is not told which are."""
    with pytest.raises(UnsupportedError) as raised:
        on.ls.sql(f"SELECT {items} FROM t")
    message = str(raised.value)
    assert "a registered function (unsteady) is not deterministic" in message
    assert "Store its values in a column of a tracked relation." in message


@pytest.mark.engines("spark")
def test_function_beside_what_chance_decides(on: Oracles) -> None:
    q = on.ls.sql("SELECT twice(v) AS w FROM (SELECT v, rand() AS r FROM t) WHERE r >= 0")
    assert_same_bag(on.plain.answer("SELECT twice(v) AS w FROM t"), from_spark(q.df), "rand()")


@pytest.mark.many
@pytest.mark.classic
@pytest.mark.parametrize(
    ("sql", "grouping"),
    [
        ("SELECT id, word, w.size FROM texts, LATERAL words(text, 1) AS w", False),
        (
            "SELECT x.word, y.id FROM texts, LATERAL words(text, 2) x(word, n)"
            " JOIN t y ON x.n = y.id",
            False,
        ),
        (
            "SELECT w.word, count(*) AS n, sum(w.size + id) AS s FROM texts,"
            " LATERAL words(upper(text), 1) w(word, size) GROUP BY w.word",
            True,
        ),
        (
            "SELECT t.id, d.word FROM t LEFT JOIN (SELECT * FROM texts,"
            " LATERAL words(text, 2)) d ON t.id = d.id",
            False,
        ),
    ],
)
def test_table_function(on: Oracles, sql: str, grouping: bool) -> None:
    """Rows of a row, equal ones too, with its annotation; none of some."""
    on.hold(sql, {"texts": [1]}, {"texts": [2, 5]}, grouping=grouping, offline=False)


@pytest.mark.classic
def test_table_functions_without_rule(on: Oracles) -> None:
    for sql, message in (
        ("SELECT id FROM texts, LATERAL any_words(text, 1) w(a, b)", "is not deterministic"),
        ("SELECT * FROM texts, LATERAL words(TABLE(texts)) w(a, b)", "LATERAL with the table"),
    ):
        with pytest.raises(UnsupportedError, match=message):
            on.ls.sql(sql)


def test_functions_of_the_frame_are_told_from_columns(on: Oracles) -> None:
    """A name that is not registered is no function, as without tracking."""
    with pytest.raises(InvalidQueryError, match="There is no function 'thrice'"):
        on.ls.sql("SELECT thrice(v) FROM t")


@pytest.mark.many
@pytest.mark.classic
@pytest.mark.parametrize(
    "calls",
    [
        "sort_array(collect_list(v)) AS l, size(collect_set(v)) AS s, median(v) AS m,"
        " percentile(v, 0.25) AS p, approx_count_distinct(v) AS a, try_sum(v) AS t,"
        " try_avg(v) AS u",
        "stddev(v) AS d, var_pop(v) AS p, skewness(id) AS k, corr(id, v) AS c, bit_and(v) AS a,"
        " bit_or(v) AS b, bit_xor(v) AS x, count_if(v > 2) AS n",
        "bool_or(v > 2) AS o, any(v > 2) AS y, bool_and(v > 0) AS a, every(v > 2) AS e,"
        " some(v < 0) AS s, hex(bitmap_construct_agg(bitmap_bit_position(v))) AS b,"
        " sort_array(collect_list(v) FILTER (WHERE v > 2)) AS l, median(v) + sum(v) AS m",
    ],
)
def test_recomputed_aggregates(on: Oracles, calls: str) -> None:
    """Per group, from the members that are left."""
    sql = f"SELECT g, {calls} FROM t GROUP BY g"
    on.hold(sql, {"t": [1, 6]}, {"t": [1, 2, 3, 5]}, grouping=True, offline=False)


@pytest.mark.slow
@pytest.mark.classic
def test_recomputed_aggregates_without_group_by(on: Oracles) -> None:
    """Of no row there is a row still."""
    sql = (
        "SELECT median(v) AS m, stddev(v) AS d, bool_or(v > 2) AS o,"
        " size(collect_list(v)) AS n, bit_xor(v) AS x FROM t"
    )
    everything = [1, 2, 3, 4, 5, 6]
    on.hold(sql, {"t": [6]}, {"t": everything}, grouping=True, offline=False)


@pytest.mark.classic
def test_recomputed_aggregate_is_compared(on: Oracles) -> None:
    """HAVING may become true by a deletion: the median of b rises."""
    sql = "SELECT g, median(v) AS m FROM t GROUP BY g HAVING median(v) < 3"
    on.hold(sql, {"t": [1, 2]}, {"t": [5]}, {"t": [3]}, grouping=True, offline=False)


@pytest.mark.slow
@pytest.mark.classic
def test_recomputed_aggregate_feeds_another_query(on: Oracles) -> None:
    """It is read from the evaluated rows of its block each time."""
    sql = (
        "SELECT t.id, d.m FROM t JOIN (SELECT g, median(v) AS m FROM t GROUP BY g) d"
        " ON t.g <=> d.g WHERE t.v >= d.m"
    )
    on.hold(sql, {"t": [1, 2]}, {"t": [6]}, offline=False)
