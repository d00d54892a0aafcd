"""Joins of streams whose rows are given up by the batch that reads them: the watermark jumps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.lipstick.systems.streaming.running import Feed, bag, standing
from tests.lipstick.systems.streaming.shapes import Rows, Shape

pytestmark = pytest.mark.classic

# The third batch drops late rows by the watermark after the first, and gives up state by that after
# the second: readings 3, 5 and alerts 3, 6 are between.
DATA: Mapping[str, Sequence[Rows]] = {
    "readings": [
        [(1, 0, "a", 1.0), (11, 95, "late", 1.0)],
        [(2, 100, "b", 1.0)],
        [(3, 50, "c", 1.0), (5, 60, "d", 2.0), (7, 92, "e", 2.0), (8, 99, "g", 1.0)],
        [(4, 101, "f", 1.0)],
        [(9, 200, "z", 1.0)],
        [(10, 300, "y", 1.0)],
    ],
    "alerts": [
        [(1, 0, "a", 1)],
        [(2, 100, "b", 1)],
        [(3, 52, "c", 1), (6, 70, "k", 1), (8, 99, "g", 1), (11, 96, "late", 1)],
        [(4, 103, "f", 1)],
        [(9, 201, "z", 1)],
        [(10, 300, "x", 1)],
    ],
}
NEAR = "r.sensor = a.sensor AND a.at BETWEEN r.ts AND r.ts + INTERVAL 5 MINUTES"


@pytest.mark.slow
@pytest.mark.parametrize("waiting", [True, False], ids=["waiting", "one by one"])
@pytest.mark.parametrize("kind", ["INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI"])
def test_every_batch_is_told(
    spark: SparkSession, tmp_path: Path, kind: str, *, waiting: bool
) -> None:
    """And all rows, also where the stream is run again without the event that moves watermarks."""
    shown = "r.id" if kind == "LEFT SEMI" else "r.id, a.aid"
    sql = f"SELECT {shown} FROM readings r {kind} JOIN alerts a ON {NEAR} AND r.sensor <> 'b'"
    shape = Shape(kind, sql, waiting=waiting)
    feed = Feed(spark, tmp_path / "feed", data=DATA)
    run, emitted = feed.run(shape)
    for number, rows in emitted.items():
        assert bag(run.emitted(number).df.collect()) == bag(rows), number
    results = run.results()
    assert bag(results.df.collect()) == standing(shape, emitted)
    results.polynomials()  # each is held against the worlds (LIPSTICK_CHECK)
    answer = bag(results.what_if({"readings": "id = 2", "alerts": "aid = 2"}).df.collect())
    feed.session.close()
    gone = {"readings": [2], "alerts": [2]}
    again = Feed(spark, tmp_path / "again", gone, data=DATA)
    _, left = again.run(shape)
    again.session.close()
    assert answer == standing(shape, left)
