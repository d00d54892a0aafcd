"""Sums of what is no number: Spark converts texts and instants to DOUBLE, and rounds intervals."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import lipstick
from semiring.errors import CapabilityError
from semiring.semirings import Counting

pytestmark = pytest.mark.classic

ROWS = (
    "SELECT id, k, t, CAST(s AS TIMESTAMP) AS s, make_dt_interval(0, 0, 0, id) AS i FROM VALUES"
    " (1, 1, '1.5', '2024-01-01 00:00:01.5'), (2, 1, '2', '2024-01-01'), (3, 1, '2.0', NULL),"
    " (4, 2, NULL, NULL) h(id, k, t, s)"
)


@pytest.fixture(scope="module")
def ls(spark: SparkSession) -> Iterator[lipstick.Session]:
    with lipstick.session(spark) as session:
        session.track("h", spark.sql(ROWS), key="id")
        yield session


@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize(
    "call",
    ["sum(t)", "avg(t)", "sum(DISTINCT t)", "sum(s)", "avg(s)", "avg(i)", "sum(id) + sum(t)"],
)
def test_only_spark_adds_up_what_it_converts(
    ls: lipstick.Session, call: str, grouped: bool
) -> None:
    """A tensor of texts would join them; annotations and deletions are as of any other sum."""
    if grouped:
        q = ls.sql(f"SELECT k, {call} AS n FROM h GROUP BY k")
    else:
        over = ") OVER (PARTITION BY k)"
        q = ls.sql(f"SELECT k, {call.replace(')', over)} AS n FROM h".replace("DISTINCT ", ""))

    def values() -> list[object]:
        return [tensor.evaluate(Counting(), lambda _: 1) for _, tensor in q.algebra.tensors("n")]

    with pytest.raises(CapabilityError, match=r"Only Spark, which computes (SUM|AVG)\("):
        values()
    assert len(q.polynomials()) == q.count()
    answers = [
        sorted(map(repr, q.what_if(delete={"h": [2]}, method=method).df.collect()))
        for method in ("annotations", "rerun")
    ]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("call", ["sum(i)", "sum(id)", "avg(id)", "count(t)", "max(t)", "min(s)"])
def test_other_aggregates_have_their_values(ls: lipstick.Session, call: str) -> None:
    q = ls.sql(f"SELECT k, {call} AS n FROM h GROUP BY k")
    expected = {row["k"]: row["n"] for row in q.collect()}
    for row, tensor in q.algebra.tensors("n"):
        value = tensor.evaluate(Counting(), lambda _: 1)
        if call == "min(s)" and value is not None:
            value = value.astimezone().replace(tzinfo=None)
        assert value == expected[row["k"]]
