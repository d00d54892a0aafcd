"""Streaming queries by the oracles: what batches emitted, and the stream without some events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.capture.capture import Capture
from tests.lipstick.systems.streaming.running import Feed, bag, standing
from tests.lipstick.systems.streaming.shapes import GONE, SHAPES, Shape

pytestmark = pytest.mark.classic
EVERY = range(1, 5)
"""The batches of data that a query can be started again before."""


@pytest.mark.many(48)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_results_are_what_the_stream_emits(
    spark: SparkSession, tmp_path: Path, shape: Shape
) -> None:
    """The rows of a batch, all rows, and the rows of a run over files without some events.

    Batches are those that emitted something, and the last.
    """
    feed = Feed(spark, tmp_path / "feed", {}, shape.delay, shape.distinct, within=shape.within)
    run, emitted = feed.run(shape)
    last = len(emitted) - 1
    for number, rows in emitted.items():
        if rows or number == last:
            assert bag(run.emitted(number).df.collect()) == bag(rows), number
    results = run.results()
    assert bag(results.capture.df.collect()) == standing(shape, emitted)
    results.polynomials()  # each is held against the worlds (LIPSTICK_CHECK)
    _answer_alike(results.capture)

    choice = SHAPES.index(shape) % len(GONE["readings"])
    gone = {name: chosen[choice] for name, chosen in GONE.items() if name in shape.text}
    answer = bag(results.what_if(_deleting(gone)).df.collect())
    feed.session.close()
    again = Feed(spark, tmp_path / "again", gone, shape.delay, shape.distinct, within=shape.within)
    _, left = again.run(shape)
    again.session.close()
    assert answer == standing(shape, left)


def _answer_alike(capture: Capture) -> None:
    """Without some of its events the capture has one answer, by Spark and in memory."""
    offline = lipstick.open(capture.directory)
    deleted = {
        name: table.column(0).to_pylist()[: 1 + table.num_rows // 3]
        for name, table in offline.lineage(None).items()
        if table.num_rows
    }
    answers = (offline.what_if(deleted).df, capture.what_if(deleted).df.toArrow())
    alone, by_spark = (bag([tuple(row.values()) for row in a.to_pylist()]) for a in answers)
    assert alone == by_spark


@pytest.mark.many(148)
@pytest.mark.engines("memory")
@pytest.mark.parametrize("label", ["every", "some"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_query_is_started_again_between_any_batches(
    spark: SparkSession, tmp_path: Path, shape: Shape, label: str
) -> None:
    """Results, and the answers of deletions, are those of runs with the same restarts.

    Once before every batch, and once before some of them.
    """
    number = SHAPES.index(shape)
    some = [batch for batch in EVERY if (number >> batch % 3) % 2 == batch % 2] or [2]
    restarts = EVERY if label == "every" else some
    first = Feed(spark, tmp_path / "first", {}, shape.delay, shape.distinct, within=shape.within)
    run, emitted = first.run(shape, restarts=restarts)
    results = run.results()
    assert bag(results.df.collect()) == standing(shape, emitted)
    assert bag(run.emitted(len(emitted) - 1).df.collect()) == bag(emitted[len(emitted) - 1])
    choice = (number + len(restarts)) % len(GONE["readings"])
    gone = {name: chosen[choice] for name, chosen in GONE.items() if name in shape.text}
    answer = bag(results.what_if(_deleting(gone)).df.collect())
    first.session.close()
    again = Feed(spark, tmp_path / "again", gone, shape.delay, shape.distinct, within=shape.within)
    _, left = again.run(shape, restarts=restarts)
    again.session.close()
    assert answer == standing(shape, left)


def _deleting(gone: Mapping[str, Sequence[int]]) -> dict[str, str]:
    return {
        name: f"{'id' if name == 'readings' else 'aid'} IN ({', '.join(map(str, keys))})"
        for name, keys in gone.items()
    }


@pytest.mark.slow
@pytest.mark.engines("memory")
def test_many_scenarios_and_other_values_are_streams_run_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Some of them move watermarks; the changed events are another value and another time."""
    shape = next(shape for shape in SHAPES if shape.name == "tumbling")
    feed = Feed(spark, tmp_path / "feed")
    run, _ = feed.run(shape)
    results = run.results()
    scenarios = {
        str(keys): {"readings": f"id IN ({', '.join(map(str, keys))})"}
        for keys in GONE["readings"][:2]
    }
    many = results.what_if_many(scenarios)
    earlier = "CASE id WHEN 12 THEN ts - INTERVAL 40 MINUTES ELSE ts END"
    update = {"readings": {"ts": earlier, "v": "CASE id WHEN 3 THEN 9.5D ELSE v END"}}
    updated = results.what_if_updated(update)
    both = results.what_if_updated_many({"both": update})
    answers = many.df.to_pylist()
    found = bag(updated.df.collect())
    changes = both.changes.to_pylist()
    feed.session.close()
    for keys in GONE["readings"][:2]:
        again = Feed(spark, tmp_path / f"without-{keys[0]}", {"readings": keys})
        _, left = again.run(shape)
        again.session.close()
        assert sorted((row.n, row.total) for own in left.values() for row in own) == sorted(
            (row["n"], row["total"]) for row in answers if row["scenario"] == str(keys)
        )
    instead = {3: (3, 12, "a", 9.5), 12: (12, 50, "a", 8.0)}
    again = Feed(spark, tmp_path / "instead", instead=instead)
    _, left = again.run(shape)
    again.session.close()
    assert found == standing(shape, left)
    assert {row["_change"] for row in changes} <= {"changed", "deleted", "added"}
    assert any(row["total"] == 9.5 + 6.0 for row in changes)  # of readings 3 and 7
