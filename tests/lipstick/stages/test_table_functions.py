"""Table functions of whole relations as black boxes over their partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.udtf import SkipRestOfInputTableException, UserDefinedTableFunction

import lipstick
from lipstick import Session
from lipstick.errors import NeedsSparkError, TrackingError
from rewriter.errors import UnsupportedError
from tests.oracle.small import Oracles, annotated, oracles, small, token

BIDS = small(
    "bids",
    "id int, car string, amount int",
    [
        (1, "a", 3),
        (2, "a", 3),
        (3, "a", 9),
        (4, "b", None),
        (5, None, 2),
        (6, None, 9),
        (7, "c", 4),
    ],
)
CARS = small("cars", "car string, price int", [("a", 5), ("b", 7), ("c", 1), ("d", 2)])
EMPTY = small("e", "id int, car string, amount int", [])


def _best() -> UserDefinedTableFunction:
    """A row for each bid above those before, and one for the group: how many there were.

    Of groups of several rows with an even total nothing, so that deletions make rows appear.
    """

    class Best:
        def __init__(self) -> None:
            self.car, self.count, self.total, self.best = None, 0, 0, None
            self.rows: list[tuple[Any, ...]] = []

        def eval(self, bid: Row, step: int = 0) -> Iterator[tuple[Any, ...]]:
            self.car = bid.car
            self.count += 1
            self.total += bid["amount"] or 0
            if self.best is None or (bid.amount or 0) > self.best + step:
                self.best = bid.amount or 0
                self.rows.append((self.car, "bid", self.best))
            return iter(())

        def terminate(self) -> Iterator[tuple[Any, ...]]:
            if self.count == 1 or self.total % 2:
                yield from self.rows
                yield self.car, "count", self.count

    return F.udtf(Best, returnType="car string, what string, n int").asDeterministic()


def _until() -> UserDefinedTableFunction:
    """The rows up to the first of at least a limit."""

    class Until:
        def eval(self, bid: Row, least: int) -> Iterator[tuple[Any, ...]]:
            if (bid.amount or 0) >= least:
                raise SkipRestOfInputTableException
            yield bid.id, bid.amount

    return F.udtf(Until, returnType="id int, amount int").asDeterministic()


def _register(ls: Session, plain: SparkSession) -> None:
    for name, function in (("best", _best), ("until", _until)):
        plain.udtf.register(name, function())
        ls.register(name, function())


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Bids for cars with NULLs, and functions that both sessions know."""
    with oracles(spark, BIDS, CARS, EMPTY) as both:
        _register(both.ls, both.plain.spark)
        yield both
        for name in ("best", "best_of_rows", "until", "until_of_rows"):
            spark.sql(f"DROP TEMPORARY FUNCTION {name}")


@pytest.mark.many
@pytest.mark.classic
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM best(TABLE(bids) PARTITION BY car ORDER BY id)",
        pytest.param(
            "SELECT what, n FROM best(TABLE(SELECT id, car, amount FROM bids WHERE id > 1)"
            " WITH SINGLE PARTITION ORDER BY (amount DESC NULLS LAST, id)) b WHERE n > 1",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "SELECT c.car, b.what, b.n FROM cars c JOIN best(bid => TABLE(bids) PARTITION BY (car,"
            " id % 2) ORDER BY id, step => 2) b ON c.car = b.car AND c.price < b.n + 4",
            marks=pytest.mark.slow,
        ),
        "SELECT b.what, sum(b.n) AS n FROM best(TABLE(bids) PARTITION BY car ORDER BY (id), 1) b"
        " GROUP BY b.what",
        pytest.param(
            "SELECT c.car, c.price FROM cars c WHERE NOT EXISTS (SELECT 1 FROM best(TABLE(bids)"
            " PARTITION BY car ORDER BY id) b WHERE b.car = c.car AND b.what = 'count')",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "SELECT a.id, b.n FROM until(TABLE(bids) WITH SINGLE PARTITION ORDER BY (id), 9) a"
            " LEFT JOIN best(TABLE(SELECT car, max(amount) AS amount FROM bids GROUP BY car)"
            " PARTITION BY car) b ON a.amount = b.n",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_function_of_partitions(on: Oracles, sql: str) -> None:
    """Alone, of a query, joined, grouped, asked for membership, of aggregated values, two."""
    on.hold(
        sql,
        {"bids": [3]},
        {"bids": [1]},
        {"bids": [5, 6]},
        {"bids": [1, 2, 3, 4, 5, 6, 7], "cars": ["a"]},
        offline=False,
        grouping="GROUP BY" in sql,
    )


@pytest.mark.engines("spark")
def test_row_depends_on_its_partition(on: Oracles) -> None:
    q = on.ls.sql("SELECT what, n FROM best(TABLE(bids) PARTITION BY car ORDER BY id)")
    assert q.plan.annotation_type == "best_of_rows(Ref(b1))"
    of_a = (token("bids", 1) + token("bids", 2) + token("bids", 3)).delta()
    rows = {row for row in annotated(q) if of_a in row}
    assert rows == {(("bid", 3), of_a), (("bid", 9), of_a), (("count", 3), of_a)}


@pytest.mark.slow
def test_relation_without_rows_has_no_partition(on: Oracles) -> None:
    for clause in ("PARTITION BY car", "WITH SINGLE PARTITION"):
        assert not annotated(on.ls.sql(f"SELECT * FROM best(TABLE(e) {clause})"))


def test_function_of_partitions_needs_spark(on: Oracles) -> None:
    q = on.ls.sql("SELECT * FROM best(TABLE(bids) PARTITION BY car ORDER BY id)")
    capture = lipstick.open(q.capture.directory)
    with pytest.raises(NeedsSparkError):
        capture.what_if(delete={"bids": [1]})


def test_partitions_that_are_no_groups_are_refused(on: Oracles) -> None:
    """To the function every NaN is another partition."""
    sql = "SELECT * FROM best(TABLE(bids) PARTITION BY CAST(amount AS DOUBLE))"
    with pytest.raises(UnsupportedError, match="PARTITION BY of the type double"):
        on.ls.sql(sql)


def test_name_of_a_function_of_spark_is_refused(on: Oracles) -> None:
    with pytest.raises(TrackingError, match="'First' is a function of Spark's"):
        on.ls.register("First", _until())


def test_function_that_only_spark_knows_is_refused(on: Oracles) -> None:
    on.ls.spark.udtf.register("unheard", _until())
    with pytest.raises(UnsupportedError, match=r"Register a udtf of rows.*ls\.register"):
        on.ls.sql("SELECT * FROM unheard(TABLE(bids) PARTITION BY (car), 1)")
