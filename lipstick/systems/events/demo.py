"""``lipstick events demo``: hashtags counted, and their provenance reduced beside it."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from typing import Any

import click

from lipstick.cli.errors import Failure
from lipstick.cli.output import counted
from lipstick.systems.events.stream_commands import tell_topics


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--tweets", "number", type=click.IntRange(min=1), default=20_000, show_default=True)
@click.option("--spark", "master", metavar="MASTER", help="Count and reduce with Spark.")
@click.option("--seed", type=int, default=0, show_default=True)
def demo(folder: Path, number: int, master: str | None, seed: int) -> None:
    """Count hashtags over generated tweets, with a reducer of their provenance beside it.

    FOLDER gets the events and the store; one hashtag is traced to its tweets in the end.
    """
    if folder.exists() and any(folder.iterdir()):
        raise Failure(f"{folder} has something in it already: name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "events").mkdir()
    topics = (
        _in_processes(folder, number, seed)
        if master is None
        else _on_spark(folder, number, seed, master)
    )
    tell_topics(topics, "closed")
    _trace(folder)


def _in_processes(folder: Path, number: int, seed: int) -> dict[str, Any]:
    """Count in two processes, and follow their files in this one."""
    from lipstick.systems.events import Follower

    context = multiprocessing.get_context("spawn")
    job = context.Process(target=_count, args=(folder / "events", number, seed))
    job.start()
    with Follower(folder / "events", folder / "store") as follower:
        going = True
        while going:
            going = job.is_alive()
            step = follower.step()
            if step.files:
                tell_topics(step.topics, f"{counted(step.files, 'file')}, lag {step.lag:.1f} s")
            time.sleep(0.1)
        if job.exitcode:
            raise Failure("The job has failed.")
        return follower.close().topics


def _count(folder: Path, number: int, seed: int) -> None:
    """The job: two processes map and combine, this one reduces."""
    from lipstick.systems.events import Emitter, hashtags

    table = hashtags.tweets(number, seed)
    half = len(table) // 2
    parts = [table.slice(0, half), table.slice(half)]
    processes = [
        multiprocessing.get_context("spawn").Process(target=_part, args=(folder, part, str(number)))
        for number, part in enumerate(parts)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    groups: dict[str, list[str]] = {}
    for place, part in enumerate(parts):
        for tag, names in hashtags.combined(part, str(place)).items():
            groups.setdefault(tag, []).extend(names)
    with Emitter(folder, "hashtags") as emitter:
        hashtags.reduce(groups, emitter)


def _part(folder: Path, table: Any, part: str) -> None:
    from lipstick.systems.events import Emitter, hashtags

    with Emitter(folder, "hashtags", roll=1 << 20) as emitter:
        hashtags.count(table, emitter, part)


def _on_spark(folder: Path, number: int, seed: int, master: str) -> dict[str, Any]:
    """Count by a job, while a streaming job of the same session reduces."""
    import pyarrow.parquet as pq
    from pyspark.sql import SparkSession

    from lipstick.engines.spark.local_session import local_builder
    from lipstick.systems.events import Emitter, hashtags
    from lipstick.systems.events.stream.settings import BatchProgress
    from lipstick.systems.events.stream.spark import StreamReduction
    from lipstick.systems.events.stream.streaming_frames import files_of

    def tell(done: BatchProgress) -> None:
        tell_topics(done.topics, f"batch {done.batch}, lag {done.lag or 0:.1f} s")

    table = hashtags.tweets(number, seed)
    path = folder / "tweets.parquet"
    pq.write_table(table, path, row_group_size=max(1, len(table) // 8))
    was_there = SparkSession.getActiveSession() is not None
    spark = local_builder("lipstick events demo", master).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        with StreamReduction(folder / "store") as reduction:
            frame = files_of(spark, folder / "events")
            query = reduction.start(frame, interval=0.5, tell=tell)
            emitter = Emitter(folder / "events", "hashtags")
            rows = hashtags.count_on_spark(spark, path, emitter).collect()
            click.echo(f"{counted(len(rows), 'hashtag')} counted")
            query.processAllAvailable()
            query.stop()
            return reduction.close().topics
    finally:
        if not was_there:
            spark.stop()


def _trace(folder: Path) -> None:
    """Trace the hashtag with the fewest tweets above two."""
    from lipstick.systems.events import ReducedGraph

    store = folder / "store"
    graph = ReducedGraph.open(store)
    tags = sorted(tag for tag in graph.effects if tag.startswith("#"))
    sizes = {tag: len(graph.lineage(tag)) for tag in tags[:50]}
    tag = min(sizes, key=lambda each: (sizes[each] < 3, sizes[each], each))
    names = graph.lineage(tag)
    click.echo(f"\n$ lipstick events trace {store} '{tag}'")
    for tweet in names[:10]:
        click.echo(tweet)
    if len(names) > 10:
        click.echo(f"... {counted(len(names), 'tweet')} in all")
    click.echo(f"\nLook at it in a browser: lipstick explore {store}")
