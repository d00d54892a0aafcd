"""Aggregates of values near the bounds of their types: what a capture adds must not fail."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from pyspark.sql import SparkSession

from lipstick import semirings
from tests.oracle.small import Oracles, oracles, small

pytestmark = pytest.mark.classic

_L, _I, _S, _D = 2**63 - 1, 2**31 - 1, 2**15 - 1, Decimal(9 * 10**27)
ROWS = small(
    "h",
    "id int, k int, l bigint, i int, s smallint, f double, d decimal(28)",
    [
        (1, 1, _L, _I, _S, 1.5e308, _D),
        (2, 1, _L - 1, _I - 1, _S, 1.5e308, _D),
        (3, 2, -_L, -_I, -_S, -1.5e308, -_D),
        (4, 2, None, None, None, None, None),
        (5, 1, _L - 7, 3, 1, 1e300, _D),
    ],
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, ROWS) as both:
        yield both


@pytest.mark.parametrize("keys", ["", "k, "])
def test_aggregates(on: Oracles, keys: str) -> None:
    """Answers, deletions and annotations exist wherever the query has a value."""
    grouping = " GROUP BY k" if keys else ""
    q = on.hold(
        f"SELECT {keys}avg(l) AS a, avg(i) AS b, avg(s) AS c, avg(d) AS e, max(l) AS m,"
        " min(l) AS n, sum(i) AS t, sum(s) AS u, sum(d) AS v, count(l) AS w, avg(DISTINCT l) AS x,"
        f" sum(l) FILTER (WHERE id IN (3, 5)) AS y FROM h{grouping}",
        {"h": [1]},
        {"h": [3, 5]},
        {"h": [2, 4]},
    )
    capture = q.capture
    assert capture.algebra.evaluate(semirings.Counting()) is not None
    assert "h:2⊗9223372036854775806" in str(capture.algebra.tensors("a"))
    many = q.what_if_many([{"h": [1]}, {"h": [5]}])
    assert many is not None


def test_what_only_spark_computes(on: Oracles) -> None:
    """Moments, tolerant sums and floats that overflow to infinity."""
    on.hold(
        "SELECT k, try_sum(l) AS a, try_avg(l) AS b, stddev(l) AS c, var_pop(i) AS e, sum(f) AS s,"
        " covar_samp(l, i) AS x, regr_slope(f, i) AS y, percentile(l, 0.5) AS p FROM h GROUP BY k",
        {"h": [1]},
        {"h": [4, 5]},
        offline=False,
    )


def test_conditions_and_windows(on: Oracles) -> None:
    """HAVING over averages and windows of large values."""
    on.hold("SELECT k, count(l) AS n FROM h GROUP BY k HAVING avg(l) > 7", {"h": [1, 2, 5]})
    on.hold("SELECT id, avg(l) OVER (PARTITION BY k) AS a FROM h", {"h": [2]})
    on.hold("SELECT k FROM h GROUP BY k HAVING sum(i) > 5 AND max(l) > 1", {"h": [1, 2]})
