"""The streaming job and emitting on Spark: edges per second, latency, peak state, overhead."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmark_workflowgen.cluster.standalone import Standalone
from benchmark_workflowgen.harness import in_turns, seconds
from lipstick.systems.events import Emitter, ReducedGraph, hashtags
from lipstick.systems.events.stream.settings import BatchProgress, StreamSettings
from lipstick.systems.events.stream.spark import StreamReduction, job_builder
from lipstick.systems.events.stream.streaming_frames import files_of

STANDALONE = "standalone"
"""In place of a master: one with two workers of a core each, started for the measurement."""


@contextmanager
def started(master: str, folder: Path) -> Iterator[str]:
    """The URL of a master, which is started if need be."""
    if master != STANDALONE:
        yield master
        return
    with Standalone(folder, workers=2) as cluster:
        yield cluster.url


@contextmanager
def session(master: str) -> Iterator[SparkSession]:
    """A session of Spark for a measurement."""
    builder = job_builder("events", master).config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.memory", "2g").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()


def emitted(tweets: int, folder: Path, files: int) -> int:
    """Write the events of a hashtag count into files of about one size; return the number of
    edges.
    """
    from benchmark_workflowgen.events.jobs import batches, edges_of, hashtag_count

    executions = hashtag_count(tweets, 4)
    number = len(edges_of(executions))
    for part, group in enumerate(batches(executions, -(-number // files))):
        with Emitter(folder, "hashtags", worker=f"w{part}") as emitter:
            for each in group:
                emitter.record(
                    each.function,
                    each.name,
                    each.uses,
                    each.generates,
                    readers=each.readers,
                    inputs=each.inputs,
                )
    return number


def reduced(
    spark: SparkSession, source: Path, folder: Path, files_per_batch: int, **settings: Any
) -> dict[str, Any]:
    """Reduce a folder of events by the streaming job; times from its start to its last commit."""
    done: list[BatchProgress] = []
    began = time.perf_counter()
    with StreamReduction(folder / "store", StreamSettings(**settings)) as reduction:
        frame = files_of(spark, source, files_per_batch=files_per_batch)
        reduction.wait(reduction.start(frame, tell=done.append))
        ran = time.perf_counter() - began
        closed = reduction.close()
    took = time.perf_counter() - began
    report = closed.topics["hashtags"].report
    shutil.rmtree(folder)
    return {
        "edges": report.received,
        "batches": len(done),
        "kept": report.kept,
        "seconds": round(took, 2),
        "edges a second": round(report.received / took),
        "closing": round(took - ran, 2),
        "commit": round(statistics.median(each.seconds for each in done), 3),
        "peak bytes": report.peak_bytes,
    }


def commands(source: Path, folder: Path, masters: Sequence[str | None]) -> list[dict[str, Any]]:
    """Return the command as people run it, in a process of its own, with the start of Spark.

    Parameters
    ----------
    masters
        Of Spark; None: without it.
    """
    rows: list[dict[str, Any]] = []
    for number, master in enumerate(masters):
        store = folder / f"command{number}"
        code = "import sys; from lipstick.cli import main; main(sys.argv[1:])"
        given = ["events", "reduce", str(source), "--store", str(store)]
        given += [] if master is None else ["--spark", master]
        command = [sys.executable, "-c", code, *given]
        took = seconds(partial(subprocess.run, command, check=True, capture_output=True))
        topics = ReducedGraph.open(store).topics
        edges = sum(topic["progress"]["report"]["received"] for topic in topics.values())
        row = {"master": master or "one process", "partitioning": "command", "edges": edges}
        rows.append(row | {"seconds": round(took, 2), "edges a second": round(edges / took)})
    return rows


def overhead(spark: SparkSession, tweets: int, folder: Path, rounds: int) -> dict[str, Any]:
    """Return the hashtag count with and without its events, by turns; medians."""
    path = folder / "tweets.parquet"
    pq.write_table(hashtags.tweets(tweets), path, row_group_size=max(1, tweets // 4))

    def run(emits: bool, turn: int) -> None:
        emitter = Emitter(folder / f"events{turn}", "hashtags") if emits else None
        hashtags.count_on_spark(spark, path, emitter).collect()

    times = in_turns({"plain": partial(run, False), "emitting": partial(run, True)}, rounds)
    plain, emitting = (statistics.median(each) for each in times.values())
    return {
        "tweets": tweets,
        "plain seconds": round(plain, 3),
        "emitting seconds": round(emitting, 3),
        "ratio": round(emitting / plain, 3),
    }


def latency(spark: SparkSession, source: Path, folder: Path, interval: float) -> dict[str, Any]:
    """Publish files while the job runs; return the seconds from a file's end to its commit."""
    lags: list[float] = []

    def tell(done: BatchProgress) -> None:
        if done.lag is not None:
            lags.append(done.lag)

    arriving = folder / "arriving"
    arriving.mkdir(parents=True)
    with StreamReduction(folder / "store") as reduction:
        query = reduction.start(files_of(spark, arriving), interval=interval, tell=tell)
        for file in sorted(source.iterdir()):
            (arriving / f".{file.name}").write_bytes(file.read_bytes())
            (arriving / f".{file.name}").rename(arriving / file.name)
            time.sleep(interval)
        query.processAllAvailable()
        query.stop()
    shutil.rmtree(folder)
    return {
        "batches": len(lags),
        "median": round(statistics.median(lags), 2),
        "most": round(max(lags), 2),
    }
