"""Conditions as factors of annotations: on the cluster, in memory, and against what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick import Session, semirings
from lipstick.errors import CapabilityError
from semiring.semirings import Counting
from semiring.token import Token

ROWS = [
    (1, "a", 10, Decimal("1.50"), 0.5),
    (2, "a", 1, Decimal("2.25"), 1.5),
    (3, "b", 1, Decimal("0.10"), 2.0),
    (4, "b", 3, None, None),
    (5, None, 2, Decimal("7.00"), 0.25),
]
S_ROWS = [(1, "a", 1), (2, "b", 3), (3, "c", 1)]


@pytest.fixture(scope="module")
def ls(spark: SparkSession) -> Iterator[Session]:
    with lipstick.session(spark) as session:
        schema = "id int, k string, x int, m decimal(6,2), d double"
        session.track("r", spark.createDataFrame(ROWS, schema), key="id")
        session.track("s", spark.createDataFrame(S_ROWS, "id int, k string, y int"), key="id")
        yield session


QUERIES = [
    "SELECT k, sum(m) AS t FROM r GROUP BY k HAVING sum(m) / count(*) > 0.2",
    "SELECT DISTINCT round(sum(m) / sum(x), 1) AS q FROM r GROUP BY k",
    "SELECT id FROM r WHERE x * 1.5 > (SELECT avg(m) FROM r) OR k IN (SELECT k FROM s)",
    "SELECT id, p FROM (SELECT id, m, lag(m) OVER (ORDER BY id) AS p FROM r) WHERE p < m",
    "SELECT k, avg(m) AS a FROM r GROUP BY k ORDER BY a DESC, k LIMIT 2",
    "SELECT r.id, g.k FROM r JOIN (SELECT k, avg(d) AS a FROM r GROUP BY k) g ON r.d > g.a * 0.9",
    "SELECT r.id, g.n FROM r LEFT JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) g"
    " ON r.k = g.k WHERE g.n = 1 OR g.n IS NULL",
    "SELECT n, count(*) AS c FROM (SELECT k, count(*) AS n FROM r GROUP BY k) GROUP BY n",
    "SELECT s.n, s.top, count(*) AS c FROM (SELECT named_struct('n', count(*), 'top', max(x)) AS s"
    " FROM r GROUP BY k) GROUP BY s",
]
GONE = [{"r": [1]}, {"r": [2, 5]}, {"s": [1]}, {"r": [3, 4], "s": [2]}]


@pytest.mark.many
@pytest.mark.parametrize("sql", QUERIES)
def test_what_is_evaluated_is_what_is_left(ls: Session, sql: str) -> None:
    """Tokens valued 0 are tuples that are not there, on the cluster and without it."""
    q = ls.sql(sql)
    annotations = q.polynomials(limit=None)
    offline = lipstick.open(q.capture.directory)
    read = {record.name for record in q.capture.manifest.relations.values()}
    for gone in GONE:
        zeros = {name: dict.fromkeys(keys, 0) for name, keys in gone.items() if name in read}
        absent = {Token(name, (key,)) for name, keys in gone.items() for key in keys}
        counts = [
            annotation.evaluate(Counting(), lambda token, absent=absent: int(token not in absent))
            for _, annotation in annotations
        ]
        expected = [
            (*row.values(), count) for (row, _), count in zip(annotations, counts, strict=True)
        ]
        assert _sorted(q.algebra.evaluate(semirings.Counting(), zeros).collect()) == _sorted(
            expected
        )
        table = offline.algebra.evaluate(semirings.Counting(), zeros)
        assert _sorted(row.values() for row in table.to_pylist()) == _sorted(expected)
        flags = {name: dict.fromkeys(keys, False) for name, keys in zeros.items()}
        held = q.algebra.evaluate(semirings.Boolean(), flags).collect()
        assert _sorted(held) == _sorted((*row[:-1], row[-1] > 0) for row in expected)


def _sorted(rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Rows as tuples, in an order of their own."""
    return sorted(map(tuple, rows), key=lambda row: [(v is not None, str(v)) for v in row])


@pytest.mark.engines("spark")
def test_rows_that_could_be(ls: Session) -> None:
    """They are listed with their chances, and evaluated, as frames and without Spark."""
    q = ls.sql("SELECT k, count(*) AS n FROM r GROUP BY k HAVING count(*) < 2")
    rows = q.probability(0.5, potential=True)
    assert _sorted((row["k"], str(row["n"]), chance.value) for row, chance in rows) == [
        (None, "1", 0.5),
        ("a", "r:1⊗1 + r:2⊗1", 0.5),
        ("b", "r:3⊗1 + r:4⊗1", 0.5),
    ]
    frame = q.algebra.evaluate(semirings.Boolean(), {"r": {1: False}}, potential=True)
    expected: list[tuple[Any, ...]] = [(None, 1, True), ("a", 1, True), ("b", 2, False)]
    assert _sorted(frame.collect()) == expected
    offline = lipstick.open(q.capture.directory)
    table = offline.algebra.evaluate(semirings.Boolean(), {"r": {1: False}}, potential=True)
    assert _sorted(row.values() for row in table.to_pylist()) == expected
    assert len(q.polynomials(limit=2, potential=True)) == 2


def test_rows_that_could_be_among_many(ls: Session) -> None:
    """Equal keys find each other, without a comparison of each row with each."""
    for name, first in (("first", 0), ("second", 1)):
        keys = pa.table({"id": range(2_000), "k": [(n * 7 + first) % 3_000 for n in range(2_000)]})
        ls.track(name, keys, key="id")
    q = ls.sql("SELECT k FROM first INTERSECT SELECT k FROM second WHERE id % 2 = 0")
    rows = q.polynomials(None, potential=True)
    assert {row["k"]: str(k) for row, k in rows}[7] == "δ(first:1)·δ(second:858)"
    assert len(rows) == len(q.polynomials(None))


def test_other_values_row_by_row(ls: Session) -> None:
    """Where conditions are on tuples valued 0 and 1, rows have their values in any semiring."""
    q = ls.sql("SELECT id FROM r WHERE x > (SELECT max(y) FROM s)")
    costs = q.algebra.evaluate(semirings.Tropical(), {"r": {1: 4.0}})
    assert [tuple(row) for row in costs.collect()] == [(1, 4.0)]
    with pytest.raises(CapabilityError, match="neither 0 nor 1"):
        q.algebra.evaluate(semirings.Tropical(), {"s": {1: 4.0}}).collect()
    with pytest.raises(CapabilityError, match="in semiring Why"):
        q.algebra.evaluate(semirings.Why()).collect()
