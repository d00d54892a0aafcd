"""Streaming queries by the oracles: what batches emitted, and the stream without some events."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lipstick.errors import CapabilityError
from tests.lipstick.streams.queries.running import Feed, bag, standing
from tests.lipstick.streams.queries.shapes import GONE, SHAPES, Shape

pytestmark = pytest.mark.classic


@pytest.mark.many
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_results_are_what_the_stream_emits(
    spark: SparkSession, tmp_path: Path, shape: Shape
) -> None:
    """The rows of a batch, all rows, and the rows of a run over files without some events.

    Batches are those that emitted something, and the last.
    """
    feed = Feed(spark, tmp_path / "feed", {}, shape.delay, shape.distinct)
    run, emitted = feed.run(shape)
    if shape.by_batch:
        asked = {
            number: rows for number, rows in emitted.items() if rows or number + 1 == len(emitted)
        }
        for number, rows in asked.items():
            assert bag(run.emitted(number).df.collect()) == bag(rows), number
    results = run.results()
    assert bag(results.capture.df.collect()) == standing(shape, emitted)
    if shape.spark_alone:
        with pytest.raises(CapabilityError, match="are evaluated by Spark alone"):
            results.polynomials()
    else:
        results.polynomials()  # each is held against the worlds (LIPSTICK_CHECK)

    choice = SHAPES.index(shape) % len(GONE["readings"])
    gone = {name: chosen[choice] for name, chosen in GONE.items() if name in shape.sql}
    delete = {
        name: f"{'id' if name == 'readings' else 'aid'} IN ({', '.join(map(str, keys))})"
        for name, keys in gone.items()
    }
    answer = bag(results.what_if(delete).df.collect())
    feed.session.close()
    again = Feed(spark, tmp_path / "again", gone, shape.delay, shape.distinct)
    _, left = again.run(shape)
    again.session.close()
    assert answer == standing(shape, left)
