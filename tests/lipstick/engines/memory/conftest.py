"""A relation with every kind of awkward value, tracked."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick import Session
from tests.oracle.database import Database, Relation
from tests.oracle.plain import PlainSpark

SCHEMA = (
    "id int, part string, k string, s string, x int, y bigint, d double, f float, "
    "m decimal(8,2), w decimal(30,6), t date, b boolean"
)
_FIELDS = [
    ("id", pa.int32()),
    ("part", pa.string()),
    ("k", pa.string()),
    ("s", pa.string()),
    ("x", pa.int32()),
    ("y", pa.int64()),
    ("d", pa.float64()),
    ("f", pa.float32()),
    ("m", pa.decimal128(8, 2)),
    ("w", pa.decimal128(30, 6)),
    ("t", pa.date32()),
    ("b", pa.bool_()),
]
_CHOICES = {
    "k": ["a", "b", "c", None, "é"],
    "s": ["a", "b", None],
    "x": [None, *range(1, 10)],
    "y": [None, *range(-4, 4)],
    "d": [None, float("nan"), 0.0, -0.0, 1.5, 2.25, -3.5, float("inf")],
    "f": [None, 0.5, 1.25, 2.0],
    "m": [None, Decimal("1.25"), Decimal("-2.50"), Decimal("10.01")],
    "w": [None, Decimal("12345678901234567890.123456"), Decimal("-5.5")],
    "t": [None, dt.date(2020, 1, 1), dt.date(1969, 5, 5)],
    "b": [None, True, False],
}


def odd_rows(count: int = 60) -> pa.Table:
    """The rows of ``odd``: NULLs, NaN, both zeros, wide decimals, letters beyond ASCII."""
    choice = random.Random(5).choice
    rows = [
        {"id": i, "part": f"p{i % 7}", **{name: choice(of) for name, of in _CHOICES.items()}}
        for i in range(count)
    ]
    return pa.Table.from_pylist(rows, pa.schema(_FIELDS))


@pytest.fixture(scope="session")
def odd() -> Relation:
    """The relation ``odd``."""
    return Relation("odd", ("id", "part"), SCHEMA, odd_rows())


@pytest.fixture(scope="module")
def odd_session(spark: SparkSession, odd: Relation) -> Iterator[Session]:
    """A session that tracks ``odd`` by its composite key."""
    with lipstick.session(spark) as session:
        session.track("odd", odd.frame(spark), key=list(odd.key))
        yield session


@pytest.fixture(scope="module")
def plain(spark: SparkSession, odd: Relation) -> Iterator[PlainSpark]:
    """Spark without lipstick over ``odd``."""
    engine = PlainSpark(spark, Database({"odd": odd}))
    yield engine
    engine.close()
