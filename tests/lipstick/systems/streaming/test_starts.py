"""What is written down of each start, and what of a checkpoint is refused by it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import lipstick
from lipstick.errors import SourceChangedError
from lipstick.systems.errors import StreamError
from lipstick.systems.streaming.errors import UnrecordedRunWarning
from lipstick.systems.streaming.runs import StreamRun
from lipstick.systems.streaming.starts import Change, History, Start, read_starts, record
from tests.lipstick.systems.streaming.running import Feed, bag, standing, write_batch
from tests.lipstick.systems.streaming.shapes import Rows, Shape


def start(batch: int, *, planned: bool = False, state: str = "a/") -> Start:
    settings = {"spark.sql.ansi.enabled": "true"}
    return Start(batch, planned, "plan", "SELECT 1", {"e": "x"}, "append", settings, {"d": state})


def test_each_batch_has_the_start_that_computed_it(tmp_path: Path) -> None:
    """A batch that a run had planned before it ended may be of either run."""
    entries = [start(0), Change(0, "d", "b/", 1, 3), start(5, planned=True, state="c/"), start(7)]
    for entry in entries:
        record(tmp_path, entry)
    history = read_starts(tmp_path)
    assert [history.start_of(n) for n in (0, 4, 5, 6, 9)] == [
        entries[0], entries[0], entries[2], entries[2], entries[3],
    ]  # fmt: skip
    assert [history.disputed(n) for n in (0, 4, 5, 6, 7)] == [None, None, entries[0], None, None]
    states = [sorted(history.states_of("d", n)) for n in range(8)]
    assert states == [
        ["a/"], ["a/"], ["a/", "b/"], ["b/"], ["b/"], ["b/", "c/"], ["c/"], ["a/"],
    ]  # fmt: skip
    assert History().start_of(3) is None
    assert not history.states_of("other", 3)


@pytest.fixture
def feed(spark: SparkSession, tmp_path: Path) -> Iterator[Feed]:
    made = Feed(spark, tmp_path / "feed")
    yield made
    made.session.close()


def run(feed: Feed, sql: str, batch: int, mode: str = "append") -> tuple[StreamRun, list[Any]]:
    """Run a query over one more file; return the run, and what was emitted."""
    emitted: list[Any] = []
    stream: Any = feed.session.sql(sql)
    writer = stream.writeStream.outputMode(mode)
    write_batch(feed.folder, batch)
    started: StreamRun = (
        writer.option("checkpointLocation", str(feed.folder / "checkpoint"))
        .foreachBatch(lambda rows, _: emitted.extend(rows.collect()))
        .trigger(availableNow=True)
        .start()
    )
    started.awaitTermination()
    started.stop()
    return started, emitted


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_other_texts_settings_and_files_are_refused_by_name(
    spark: SparkSession, feed: Feed, tmp_path: Path
) -> None:
    """And of the batches of one text, under its settings, questions are answered."""
    old, new = "SELECT id, hour(ts) AS h FROM readings", "SELECT id, 0 AS h FROM readings"
    _, first = run(feed, old, 0)
    last, second = run(feed, new, 1)
    with pytest.raises(StreamError, match=r"Micro-batch 0 was computed by another text") as error:
        last.results()
    assert old in str(error.value)
    assert bag(last.emitted(1).df.collect()) == bag(second)
    stream: Any = feed.session.sql(old)
    before = stream.recorded((feed.folder / "checkpoint").as_uri())
    held = before.results(0)
    assert bag(held.df.collect()) == bag(first)

    other: Any = feed.session.sql("SELECT count(*) AS n FROM readings")
    with pytest.raises(StreamError, match="was written by another query"):
        other.recorded(feed.folder / "checkpoint", "complete")
    with pytest.raises(StreamError, match="was started in output mode append, not update"):
        stream.recorded(feed.folder / "checkpoint", "update")

    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        with pytest.raises(StreamError, match=f"timeZone was {zone}, and this session has Asia"):
            held.df  # noqa: B018
        with pytest.raises(StreamError, match="when the query was read, and is Asia/Tokyo"):
            stream.writeStream.option("checkpointLocation", str(tmp_path / "x")).start()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)

    file = feed.folder / "readings" / "0.parquet"
    status = file.stat()
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(SourceChangedError, match="changed since the stream 'readings' read it"):
        held.df  # noqa: B018
    with pytest.raises(SourceChangedError, match="changed since the stream 'readings' read it"):
        held.polynomials()
    shutil.rmtree(feed.folder / "checkpoint" / "commits")
    with pytest.raises(StreamError, match="does not have the commit of batch 0"):
        before.results()


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_relations_that_changed_between_batches_are_refused_by_name(
    spark: SparkSession, feed: Feed
) -> None:
    """And may be made anew with the same rows."""
    sql = "SELECT r.id, s.place FROM readings r JOIN sensors s ON r.sensor = s.sensor"
    _, first = run(feed, sql, 0)

    def tracked(place: str) -> None:
        feed.session.untrack("sensors")
        rows = [("b", place), ("a", "roof")]
        frame = spark.createDataFrame(rows, "sensor STRING, place STRING")
        feed.session.track("sensors", frame.selectExpr("*", "5.0D AS top"), key="sensor")

    tracked("yard")
    last, second = run(feed, sql, 1)
    assert bag(last.emitted(1).df.collect()) == bag(second)
    assert ("b", "yard") not in first
    with pytest.raises(StreamError, match="Micro-batch 0 was computed with other rows of 'senso"):
        last.results()
    held = last.emitted(1)
    tracked("cellar")
    stream: Any = feed.session.sql(sql)
    with pytest.raises(StreamError, match="with other rows of 'sensors'"):
        stream.recorded(feed.folder / "checkpoint").results()
    tracked("yard")
    stream = feed.session.sql(sql)
    again = stream.recorded(feed.folder / "checkpoint").emitted(1)
    assert bag(again.df.collect()) == bag(held.df.collect())


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_a_query_that_spark_started_alone_is_named(feed: Feed) -> None:
    """Operators with state say whether it can be the query that is asked."""
    write_batch(feed.folder, 0)
    folder = feed.folder / "plain"
    rows = feed.spark.sql("SELECT id, v FROM readings WHERE v > 2")
    query = rows.writeStream.option("checkpointLocation", str(folder)).format("noop").start()
    query.processAllAvailable()
    query.stop()
    stream: Any = feed.session.sql("SELECT id, v FROM readings WHERE v > 2")
    with pytest.warns(UnrecordedRunWarning, match="the text, settings and relations"):
        recorded = stream.recorded(folder)
    assert recorded.results().df.count() == 1
    grouped: Any = feed.session.sql("SELECT sensor, count(*) AS n FROM readings GROUP BY sensor")
    with pytest.raises(StreamError, match="keeps state of nothing, and this query of grouping"):
        grouped.recorded(folder, "update")


APART: dict[str, list[Rows]] = {
    # The first run has alerts alone at the end, the second a reading that moves both watermarks.
    "readings": [
        [(1, 200, "x", 1.0), (10, 105, "p", 1.0)],
        [(2, 160, "y", 1.0), (3, 110, "z", 1.0)],
    ],
    "alerts": [[(4, 100, "q", 1)], [(5, 150, "r", 1)]],
}


@pytest.mark.slow
@pytest.mark.classic
@pytest.mark.engines("memory")
def test_a_restart_forgets_the_watermark_of_each_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Without reading 2 the second run knows times up to 110 alone, and gives up nothing."""
    near = "r.sensor = a.sensor AND a.at BETWEEN r.ts AND r.ts + INTERVAL 10 MINUTES"
    shape = Shape("", f"SELECT r.id, a.aid FROM readings r LEFT JOIN alerts a ON {near}")
    feed = Feed(spark, tmp_path / "feed", delay="0 seconds", data=APART)
    started, emitted = feed.run(shape, restarts=[1])
    results = started.results()
    assert bag(results.df.collect()) == standing(shape, emitted)
    same = results.what_if({"readings": "id = 3"})  # it moves none
    assert same.method == "annotations"
    answer = results.what_if({"readings": "id = 2"})
    assert answer.method == "rerun"
    rows = bag(answer.df.collect())
    lines = (feed.folder / "run" / "_lipstick" / "offsets.jsonl").read_text().splitlines()
    (feed.folder / "run" / "_lipstick" / "starts.jsonl").write_text("")
    unlabelled = [json.dumps({k: v for k, v in json.loads(x).items() if k != "run"}) for x in lines]
    (feed.folder / "run" / "_lipstick" / "offsets.jsonl").write_text("\n".join(unlabelled) + "\n")
    with pytest.raises(StreamError, match="Whether the query was started again before the micro-"):
        started.results().what_if({"readings": "id = 2"})
    feed.session.close()
    again = Feed(spark, tmp_path / "again", {"readings": [2]}, "0 seconds", data=APART)
    _, left = again.run(shape, restarts=[1])
    again.session.close()
    assert rows == standing(shape, left)


@pytest.mark.classic
@pytest.mark.engines("memory")
def test_archived_files_and_checkpoints_by_name(spark: SparkSession, tmp_path: Path) -> None:
    """Files that Spark moved are read where they are, with the columns of their folders."""
    root = "spark.sql.streaming.checkpointLocation"
    options = {"cleanSource": "archive", "sourceArchiveDir": str(tmp_path / "moved é")}
    folder, hidden = tmp_path / "in put", tmp_path / "hidden.parquet"
    folder.mkdir()
    stream = spark.readStream.schema("id BIGINT, day INT").options(**options, maxFilesPerTrigger=1)
    session = lipstick.session(spark, store=tmp_path / "store")
    session.track("days", stream.parquet(str(folder)))
    query: Any = session.sql("SELECT id, day FROM days")
    writer = query.writeStream.format("noop").queryName("kept days")
    with pytest.raises(StreamError, match="has no checkpoint"):
        writer.start()
    spark.conf.set(root, str(tmp_path / "checkpoints"))
    try:
        started = writer.start()
        for day in range(4):
            pq.write_table(pa.table({"id": [10 * day]}), hidden)
            (folder / f"day={day}").mkdir()
            hidden.rename(folder / f"day={day}" / "a b.parquet")
            started.processAllAvailable()
        started.stop()
    finally:
        spark.conf.unset(root)
    assert started.checkpoint == tmp_path / "checkpoints" / "kept days"
    gone = [day for day in range(4) if not (folder / f"day={day}" / "a b.parquet").exists()]
    assert gone, "Spark archived nothing"
    results = query.recorded(started.checkpoint).results()
    assert bag(results.df.collect()) == bag([(10 * day, day) for day in range(4)])
    assert len(results.polynomials()) == 4
    session.close()
