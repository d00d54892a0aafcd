"""Both oracles over the 22 queries of TPC-H at scale 0.01."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick import Session
from tests.oracle.bag import check_bag
from tests.oracle.database import Database
from tests.oracle.deletion import Tally, check_deletion, deletion_sets, lineage_keys
from tests.oracle.plain import PlainSpark
from tests.oracle.suites import TPCH

pytestmark = [pytest.mark.spark, pytest.mark.slow_over_connect]

SCALE = 0.01
CONNECT = (18,)
ORDINARY = frozenset({4})
"""A membership; the others are slow, and the scoreboard has them all."""
DELETIONS = 4
# No comparison on an aggregated value and no LIMIT: deletion only removes and shrinks.
POSITIVE = frozenset({1, 4, 5, 6, 7, 8, 9, 12, 14, 19})
COMPARED = {11: ("partsupp",), 15: ("lineitem",), 17: ("lineitem",), 18: ("lineitem",)}
GROUPING = frozenset(TPCH.numbers) - {15}


@pytest.fixture(scope="module")
def database(tpch: Callable[[float], Path]) -> Database:
    """The eight relations."""
    return TPCH.load(tpch(SCALE))


@pytest.fixture(scope="module")
def plain(spark: SparkSession, database: Database) -> Iterator[PlainSpark]:
    """Spark without lipstick over the eight relations."""
    engine = PlainSpark(spark, database)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def ls(spark: SparkSession, tpch: Callable[[float], Path], database: Database) -> Iterator[Session]:
    """A session that tracks the eight relations by their primary keys."""
    session = lipstick.session(spark)
    for name, relation in database.relations.items():
        path = tpch(SCALE) / f"{name}.parquet"
        session.track(name, spark.read.parquet(str(path)), key=list(relation.key))
    yield session
    session.close()


@pytest.fixture(scope="module")
def tally() -> Tally:
    """What the queries of this run came to so far."""
    return Tally()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every query that has its rules; over Connect, where time is short, one of each shape."""
    if metafunc.function.__name__ == "test_tpch_query_passes_both_oracles":
        over_connect = metafunc.config.getoption("--spark-connect")
        numbers = CONNECT if over_connect else map(_number, TPCH.numbers)
        metafunc.parametrize("number", list(numbers))


def _number(number: int) -> Any:
    return number if number in ORDINARY else pytest.param(number, marks=pytest.mark.slow)


def test_tpch_query_passes_both_oracles(
    ls: Session, plain: PlainSpark, database: Database, tally: Tally, number: int
) -> None:
    sql = TPCH.query(number)
    assert len(plain.answer(sql)) > 0, "an empty answer proves nothing: alter the parameters"
    q = ls.sql(sql)
    check_bag(ls, q, sql, plain, grouping=number in GROUPING)
    exact = True if number in POSITIVE else None
    deletions = deletion_sets(
        random.Random(number),
        database,
        lineage_keys(q, database),
        count=DELETIONS,
        compared=COMPARED.get(number, ()),
        exact=exact,
    )
    offline = lipstick.open(q.capture.directory)
    tally.add(
        check_deletion(ls, q, sql, database, deletions, plain=plain, exact=exact, offline=offline)
    )


def test_deletions_over_tpch_are_telling(tally: Tally) -> None:
    """Runs after the queries: at least half of the non-empty deletions changed an answer."""
    if not tally.asked:
        pytest.skip("no query has run")
    print(tally)
    tally.assert_telling()
