"""Streaming queries at the doors: what is tracked, started, asked and refused."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession, streaming
from pyspark.sql import functions as F
from pyspark.sql.streaming.state import GroupStateTimeout

from lipstick.errors import (
    InvalidQueryError,
    SourceChangedError,
    SourceError,
    TrackingError,
    UnsupportedError,
)
from lipstick.systems.errors import StreamError
from lipstick.systems.streaming.definition import AnnotatedStream
from lipstick.systems.streaming.runs import StreamRun
from rewriter.errors import UntrackedError
from tests.lipstick.systems.streaming.running import Feed, write_batch
from tests.lipstick.systems.streaming.shapes import READINGS


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    # Characters that Spark escapes in the names of files, and some that it does not.
    given_feed = Feed(spark, tmp_path / "a b+é%20#'&")
    yield given_feed
    given_feed.session.close()


def started(feed: Feed) -> StreamRun:
    """A run of a query without state that has read three files."""
    stream = feed.session.sql("SELECT id, v FROM readings WHERE v > 1")
    assert isinstance(stream, AnnotatedStream)
    for batch in range(3):
        write_batch(feed.folder, batch)
    run = (
        stream.writeStream.option("checkpointLocation", str(feed.folder / "checkpoint"))
        .format("parquet")
        .start(str(feed.folder / "sink"))
    )
    run.processAllAvailable()
    return run


@pytest.mark.classic
def test_a_run_is_asked_while_it_runs_and_from_its_checkpoint(feed: Feed) -> None:
    run = started(feed)
    assert run.isActive
    rows = sorted(map(tuple, run.results().df.collect()))
    assert rows == sorted(map(tuple, feed.spark.read.parquet(str(feed.folder / "sink")).collect()))
    run.stop()
    stream = feed.session.sql("SELECT id, v FROM readings WHERE v > 1")
    assert isinstance(stream, AnnotatedStream)
    later = stream.recorded(feed.folder / "checkpoint")
    assert sorted(map(tuple, later.results().df.collect())) == rows
    [(row, polynomial)] = later.emitted(1).polynomials()[:1]
    assert (row["id"], str(polynomial)) == (5, "readings:1|0")
    with pytest.raises(StreamError, match="no micro-batch 7: 3 were committed"):
        later.results(7)
    with pytest.raises(AttributeError, match="was read from its checkpoint"):
        later.lastProgress  # noqa: B018


@pytest.mark.classic
def test_files_must_be_as_they_were_read(feed: Feed) -> None:
    run = started(feed)
    run.stop()
    file = feed.folder / "readings" / "1.parquet"
    os.utime(file, (1, 1))
    with pytest.raises(SourceChangedError, match="changed since the stream 'readings' read it"):
        run.results()
    file.unlink()
    with pytest.raises(SourceError, match="which the stream 'readings' has read, is gone"):
        run.results()


@pytest.mark.classic
def test_what_cannot_be_started_or_asked(feed: Feed) -> None:
    stream = feed.session.sql("SELECT sensor, count(*) AS n FROM readings GROUP BY sensor")
    assert isinstance(stream, AnnotatedStream)
    with pytest.raises(StreamError, match="has no rows of its own"):
        stream.polynomials()
    with pytest.raises(StreamError, match="has no checkpoint"):
        stream.writeStream.outputMode("update").format("noop").start()
    with pytest.raises(UnsupportedError, match="without an event time in output mode append"):
        stream.writeStream.format("noop").start()
    with pytest.raises(UnsupportedError, match=r"current_timestamp\(\) has a new value in each"):
        feed.session.sql("SELECT id FROM readings WHERE ts < current_timestamp()")
    distinct = feed.session.sql("SELECT sensor, count(DISTINCT id) FROM readings GROUP BY sensor")
    writer = distinct.writeStream.outputMode("update").format("noop")
    with pytest.raises(InvalidQueryError, match="Distinct aggregations are not supp") as refused:
        writer.option("checkpointLocation", str(feed.folder / "distinct")).start()
    assert len(str(refused.value).splitlines()) == 2


def test_what_is_no_stream_of_files(spark: SparkSession, feed: Feed) -> None:
    source = spark.readStream.schema(READINGS).parquet(str(feed.folder / "readings"))
    with pytest.raises(SourceError, match="does more than compute its rows"):
        feed.session.track("counted", source.groupBy("sensor").count())
    with pytest.raises(TrackingError, match="is a stream: materialize"):
        feed.session.track("copied", source, materialize=True)
    text = spark.readStream.schema(READINGS).json(str(feed.folder / "readings"))
    with pytest.raises(SourceError, match="Nothing names the rows"):
        feed.session.track("lines", text)


def test_frames_are_the_queries_that_say_the_same(spark: SparkSession, feed: Feed) -> None:
    readings = spark.table("readings")
    frame = readings.groupBy(F.window("ts", "10 minutes"), "sensor").agg(F.avg("v").alias("mean"))
    stream = feed.session.annotate(frame)
    assert isinstance(stream, AnnotatedStream)
    assert stream.schema.names == ["window", "sensor", "mean"]
    assert stream.df.isStreaming
    distinct = readings.where("v > 1").dropDuplicates(["sensor"]).select("id", "v")
    if not hasattr(spark, "_jsparkSession"):
        with pytest.raises(UnsupportedError, match="dropDuplicates of a stream is not followed"):
            feed.session.annotate(distinct)
        return
    first = feed.session.annotate(distinct)
    assert isinstance(first, AnnotatedStream)
    assert first.schema.names == ["id", "v"]
    plan = first.df._jdf.queryExecution().analyzed().toString()
    assert plan.count("Deduplicate [sensor") == 1


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_what_spark_computes_of_a_micro_batch_alone_is_refused_when_it_is_read(
    spark: SparkSession, feed: Feed
) -> None:
    """Functions of groups, partitions and state; columns of files that are none of their data."""
    rows = spark.table("readings")
    groups = rows.groupBy("sensor")
    columns = "sensor STRING, n BIGINT"
    nothing = GroupStateTimeout.NoTimeout

    def same(rows: Any) -> Any:
        return rows

    def stated(key: Any, rows: Any, state: Any) -> Any:
        return rows

    frames: dict[str, Callable[[], DataFrame]] = {
        "same is called for the rows of one micro-batch": lambda: groups.applyInPandas(
            same, columns
        ),
        "called for the rows of one micro-batch at a time": lambda: rows.mapInArrow(same, READINGS),
        "applyInPandasWithState keeps a state": lambda: groups.applyInPandasWithState(
            stated, columns, "n BIGINT", "append", nothing
        ),
        "reads untracked data: a stream": lambda: (
            spark.readStream.schema(READINGS)
            .parquet(str(feed.folder / "readings"))
            .select("id", "_metadata.file_path")
        ),
    }
    if hasattr(groups, "transformWithState"):

        class Same(streaming.StatefulProcessor):
            def init(self, handle: Any) -> None: ...
            def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Any:  # noqa: N802
                return rows

            def close(self) -> None: ...

        frames["groupBy.*transformWithState keeps a state of its own"] = lambda: (
            groups.transformWithStateInPandas(Same(), columns, "append", "None")
        )
    for problem, frame in frames.items():
        with pytest.raises((UnsupportedError, UntrackedError), match=problem):
            feed.session.annotate(frame())
    source = spark.readStream.schema(READINGS).parquet(str(feed.folder / "readings"))
    with pytest.raises(SourceError, match="'placed' has columns of the hidden column _metadata"):
        feed.session.track("placed", source.select("id", "_metadata.file_name"))


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_which_of_different_duplicates_came_first_must_be_known(feed: Feed) -> None:
    """Below a join only Spark knows the order of the rows of a batch."""
    placed = feed.spark.sql("SELECT r.id, s.place FROM readings r JOIN sensors s USING (sensor)")
    placed.dropDuplicates(["place"]).createOrReplaceTempView("firsts")
    stream = feed.session.sql("SELECT id, place FROM firsts")
    assert isinstance(stream, AnnotatedStream)
    write_batch(feed.folder, 0)
    writer = stream.writeStream.option("checkpointLocation", str(feed.folder / "checkpoint"))
    run = writer.format("noop").start()
    run.processAllAvailable()
    run.stop()
    with pytest.raises(UnsupportedError, match="in an order that only Spark knows"):
        run.results()


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_spark_has_no_anti_join_of_streams(spark: SparkSession, feed: Feed) -> None:
    """As its own refusal says; it has semi joins from the left."""
    sql = "SELECT r.id FROM readings r LEFT ANTI JOIN alerts a ON r.ts = a.at"
    folder = str(feed.folder / "anti")
    with pytest.raises(AnalysisException, match=r"(?i)anti"):
        spark.sql(sql).writeStream.option("checkpointLocation", folder).format("noop").start()
    stream = feed.session.sql(sql)
    assert isinstance(stream, AnnotatedStream)
    with pytest.raises(UnsupportedError, match="an anti join of two streams, which Spark has not"):
        stream.writeStream.option("checkpointLocation", folder).format("noop").start()


@pytest.mark.classic
def test_keys_are_held_against_what_was_read(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path)
    source = spark.readStream.schema(READINGS).parquet(str(tmp_path / "readings"))
    feed.session.track("keyed", source, key="sensor")
    stream = feed.session.sql("SELECT id FROM keyed")
    assert isinstance(stream, AnnotatedStream)
    write_batch(tmp_path, 0)
    writer = stream.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    run = writer.format("noop").start()
    run.processAllAvailable()
    run.stop()
    with pytest.raises(TrackingError, match=r"The key \(sensor\) of 'keyed' is not unique"):
        run.results()
    feed.session.close()


@pytest.mark.classic
@pytest.mark.engines("memory")
@pytest.mark.parametrize(
    "refused",
    [["max_by(v, id % 2)"], pytest.param(["first(v)", "mode(id)"], marks=pytest.mark.slow)],
    ids=str,
)
def test_what_spark_leaves_open_among_rows_that_tie_is_refused(
    feed: Feed, refused: list[str]
) -> None:
    """Where rows tie in what decides, in the answer or in what a deletion leaves."""
    for batch in range(2):
        write_batch(feed.folder, batch)
    # a has values 1.0, 3.5, 4.0 of ids 1, 3, 5; those of b in 2 and 4 are equal.
    runs = {}
    known = (
        "max_by(v, id) AS last, min_by(v, ts) FILTER (WHERE id <> 2) AS earliest,"
        " first(sensor) AS own, mode(v > 3)"
    )
    for call in (known, "max_by(v, greatest(id, 4))", *refused):
        stream = feed.session.sql(f"SELECT sensor, {call} AS one FROM readings GROUP BY sensor")
        assert isinstance(stream, AnnotatedStream)
        writer = stream.writeStream.option("checkpointLocation", str(feed.folder / call[:12]))
        run = writer.outputMode("complete").format("noop").trigger(availableNow=True).start()
        run.awaitTermination()
        run.stop()
        runs[call] = run
        (feed.folder / call[:12]).rename(feed.folder / f"{len(runs)}")
        run.checkpoint = feed.folder / f"{len(runs)}"
    assert runs[known].results().df.count() == 3
    for call in refused:
        with pytest.raises(UnsupportedError, match=r"takes in the group \(\w+\) was open to Spark"):
            runs[call].results()
    least = runs["max_by(v, greatest(id, 4))"].results()
    assert least.what_if({"readings": "id = 3"}).df.count() == 3
    with pytest.raises(
        UnsupportedError, match=r"which of 2 values max_by takes in the group \(a\)"
    ):
        least.what_if({"readings": "id = 5"})
