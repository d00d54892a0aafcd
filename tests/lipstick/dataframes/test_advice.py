"""Advised queries are run: where the advice promises the same answer, it is that of plain Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa
import pytest
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.oracle.bag import PROVENANCE
from tests.oracle.database import Relation
from tests.oracle.rows import assert_same_bag, assert_same_schema, from_spark
from tests.oracle.small import Oracles, oracles, small
from tests.rewriter.advised import Refused, refused

REGISTERED: Final = re.compile(r"\b(?:words|parts|middle)\(")
"""Functions that only the binder's cases register."""

OTHER_ANSWERS: Final = {
    # Another question: distinct rows, no rollup, an aggregate that is exact.
    "bind/grouping sets in dependent subquery",
    "bind/aggregate histogram numeric",
    "bind/aggregate of order",
    "bind/aggregate that draws",
    "bind/correlation below limit of union",
    "lower/limit of except all",
    "lower/window that lists by range",
    "lower/window over except all",
    "bind/correlated derived pivot",
    "bind/create table",
    "bind/window function",
    # Rows that match nothing are kept, which Spark leaves out where ON is correlated.
    "bind/correlated on of full join",
    # MIN_BY passes over rows whose order is NULL, which came first.
    "lower/aggregate of sorted rows",
    # The same in other columns.
    "bind/pivot count and max",
    "bind/session window aggregated",
    "bind/session window except",
    "bind/session window in sets",
    "bind/session window of several",
}
"""Refusals whose advice leads to another question, or to another form of the answer."""

FAILING: Final = {"bind/window clause in dependent subquery"}
"""Over these rows the subquery has several, in the refused and in the advised query."""

DRAWN: Final = {
    "bind/bare localtimestamp",
    "bind/draw in aggregate",
    "bind/draw in generator",
    "bind/draw in lambda",
    "bind/draw in lateral view",
    "bind/draw in on",
    "bind/draw in values",
    "bind/sample of expression",
    "bind/scalar subquery of two columns dependent",
    "lower/draw of copies",
}
"""Advised queries that answer otherwise each time: they have to run, and to have their columns."""

NESTED: Final = pa.table(
    {
        "st": [{"f": 1, "g h": "p"}, None, {"f": None, "g h": "q"}],
        "a": pa.array([1, 2, 3], pa.int32()),
        "arr": [[{"f": 1, "m": [(1, "u")]}, {"f": 2, "m": None}], [], None],
    },
    pa.schema(
        [
            ("st", pa.struct([("f", pa.int32()), ("g h", pa.string())])),
            ("a", pa.int32()),
            (
                "arr",
                pa.list_(pa.struct([("f", pa.int32()), ("m", pa.map_(pa.int32(), pa.string()))])),
            ),
        ]
    ),
)
PADDED: Final = pa.table({"c": ["a", "b", "cc"], "d": ["a", None, "cc"], "s": ["a", "b", None]})


def _sold(minute: int) -> datetime:
    return datetime(2024, 1, 1, 10, minute, tzinfo=UTC)


RELATIONS: Final = (
    small(
        "cars",
        "car_id int, model string, price int, sold timestamp, dealer int",
        [
            (1, "Civic", 20, _sold(0), 1),
            (2, "Civic", 22, _sold(3), 2),
            (3, "Accord", None, _sold(30), 1),
            (4, None, 24, None, None),
        ],
    ),
    small(
        "dealers",
        "dealer int, city string, rating int",
        [(1, "Civic", 21), (2, "Rome", None), (3, None, 5)],
    ),
    small("t", "a int, b int", [(1, 1), (2, 1), (3, None), (4, 2)]),
    small("l", "x int, k int, j int", [(1, 1, 1), (2, 4, None), (3, None, 2), (5, 3, 2)]),
    small("r", "y int, j int, k int", [(1, 1, 3), (2, None, 1), (4, 2, None)]),
    Relation(
        "nested",
        ("a",),
        "st struct<f: int, `g h`: string>, a int, arr array<struct<f: int, m: map<int, string>>>",
        NESTED,
    ),
    Relation("padded", ("c",), "c char(5), d char(3), s string", PADDED),
)
"""The relations of the cases, in a few rows."""

RUN: Final = [
    refusal
    for refusal in refused()
    if refusal.advised and not REGISTERED.search(refusal.advised) and str(refusal) not in FAILING
]


@pytest.fixture(scope="module")
def held(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, *RELATIONS) as both:
        yield both


def test_exceptions_are_cases() -> None:
    assert {str(refusal) for refusal in RUN} >= OTHER_ANSWERS | DRAWN


@pytest.mark.classic
@pytest.mark.many
@pytest.mark.parametrize("refusal", RUN, ids=str)
def test_what_is_advised_answers(held: Oracles, refusal: Refused) -> None:
    """Its annotated answer is plain Spark's, and that of the refused query where Spark runs it."""
    assert refusal.advised is not None
    actual = from_spark(held.ls.sql(refusal.advised).plan.annotated).without(PROVENANCE)
    expected = held.plain.answer(refusal.advised)
    assert_same_schema(expected, actual, refusal.advised)
    if str(refusal) in DRAWN:
        return
    assert_same_bag(expected, actual, refusal.advised)
    if str(refusal) in OTHER_ANSWERS:
        return
    try:
        meant = held.plain.answer(refusal.query)
    except (PySparkException, Py4JError):
        return  # an error of the query itself, which the advised query mends
    assert_same_schema(meant, actual, refusal.query)
    assert_same_bag(meant, actual, refusal.query)
