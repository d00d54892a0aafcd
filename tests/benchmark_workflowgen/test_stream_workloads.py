"""The queries of four benchmarks of streams, three ways each, over few events."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmark_workflowgen.streams.workloads import WORKLOADS, Sizes, compared

EVENTS = {"taxi rides": 10_000}
"""Of 2,000 rides no four within half an hour are of one route."""


@pytest.mark.slow
@pytest.mark.classic
@pytest.mark.parametrize("name", WORKLOADS)
def test_all_ways_agree_on_rows_and_members(spark: SparkSession, name: str, tmp_path: Path) -> None:
    rows = list(compared(spark, name, tmp_path, Sizes(EVENTS.get(name, 2_000), 3, 1, 5)))
    assert [row["query"] for row in rows] == list(WORKLOADS[name][0].queries)
    for row in rows:
        assert row["rows"] > 0, row
        assert row["same rows"], row
        assert row["same members"], row
