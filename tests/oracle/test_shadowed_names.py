"""Random queries in which relations, columns, fields and aliases have the same four names."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lipstick.errors import UnsupportedError
from tests.oracle.bag import assert_same_bag
from tests.oracle.database import Deletion, Relation
from tests.oracle.rows import Bag, from_spark
from tests.oracle.small import Oracles, oracles

pytestmark = pytest.mark.classic

NAMES = ("a", "b", "s", "t")
PATHS = ("s.a", "s.b", "t.a", "t.b", "a.a", "a.t", "t.s", "a.s", "s.t", "s.s", "b.a", "b.s")
DELETED = {"t": [1, 4], "s": [2]}
SEEDS = range(120)
_TRIES = 60

T = Relation(
    "t",
    ("a",),
    "a bigint, b bigint, s struct<a: bigint, b: bigint>",
    pa.table(
        {
            "a": range(8),
            "b": [n % 3 for n in range(8)],
            "s": [{"a": n % 2, "b": 9 - n} if n else None for n in range(8)],
        }
    ),
)
S = Relation(
    "s",
    ("s",),
    "s bigint, a struct<a: bigint, t: bigint>, t bigint",
    pa.table(
        {
            "s": range(6),
            "a": [{"a": n % 4, "t": n} for n in range(6)],
            "t": [n % 3 for n in range(6)],
        }
    ),
)


class _Writer:
    """Writes a random query; most are none, and Spark says which."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def query(self) -> str:
        if self._draw.random() < 0.15:
            return f"WITH {self._name()} AS ({self._select(1)}) {self._select()}"
        return self._select()

    def _chance(self, share: float) -> bool:
        return self._draw.random() < share

    def _name(self) -> str:
        return self._draw.choice(NAMES)

    def _path(self) -> str:
        return self._draw.choice(NAMES if self._chance(0.65) else PATHS)

    def _value(self) -> str:
        path, other = self._path(), self._path()
        forms = (path, path, path, f"({path} + 1)", f"coalesce({path}, {other})")
        if self._chance(0.1):
            return f"(SELECT max({path}) FROM {self._rows(1)})"
        return self._draw.choice(forms)

    def _named(self, value: str) -> str:
        return value if self._chance(0.4) else f"{value} AS {self._name()}"

    def _rows(self, depth: int) -> str:
        one, other = self._draw.choice("ts"), self._draw.choice("ts")
        if depth == 0 and self._chance(0.1):
            return f"({self._select(1)}) AS {self._name()}"
        if self._chance(0.2):
            on = f"USING ({self._name()})" if self._chance(0.5) else f"ON {self._path()} = 1"
            return f"{one} {self._name()} JOIN {other} {self._name()} {on}"
        return one if self._chance(0.6) else f"{one} AS {self._name()}"

    def _select(self, depth: int = 0) -> str:
        grouped = self._chance(0.5)
        if grouped:
            keys = [self._value() for _ in range(self._draw.randint(0, 2))]
            calls = [f"{self._draw.choice(('max', 'count'))}({self._path()})" for _ in "ab"]
            items = [self._named(value) for value in (*keys, *calls)]
            self._draw.shuffle(items)
        else:
            keys = []
            items = [self._named(self._value()), self._draw.choice(("*", f"{self._name()}.*"))]
            items = items[: self._draw.randint(1, 2)]
        text = f"SELECT {', '.join(items)} FROM {self._rows(depth)}"
        if self._chance(0.3):
            text += f" WHERE {self._path()} > {self._draw.randint(0, 2)}"
        if keys:
            text += f" GROUP BY {', '.join(k if self._chance(0.8) else self._name() for k in keys)}"
        if grouped and self._chance(0.5):
            text += f" HAVING {self._path()} > 0"
        if depth == 0 and self._chance(0.6):
            text += f" ORDER BY {self._path()} DESC"
        return text


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, T, S) as both:
        yield both


def _written(on: Oracles, seed: int) -> tuple[str, Bag]:
    """Return a query that Spark accepts, and its answer."""
    writer = _Writer(seed)
    for _ in range(_TRIES):
        text = writer.query()
        try:
            return text, on.plain.answer(text)
        except AnalysisException:
            continue
    raise AssertionError(f"none of {_TRIES} queries of seed {seed} is one")


@pytest.mark.many
@pytest.mark.parametrize("seed", SEEDS)
def test_names_mean_what_spark_takes_them_for(on: Oracles, seed: int) -> None:
    """Answers and what-ifs are those of Spark, or the query is refused by name."""
    sql, expected = _written(on, seed)
    try:
        q = on.ls.sql(sql)
    except UnsupportedError:
        return
    assert_same_bag(expected, from_spark(q.df), sql)
    deletion = Deletion("chosen", {n: frozenset((k,) for k in keys) for n, keys in DELETED.items()})
    found = from_spark(q.what_if(delete=DELETED).df)
    assert_same_bag(on.plain.answer(sql, deletion), found, sql)
