"""Streams of events reduced by Spark: the options of ``reduce`` and ``serve``, and what they do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lipstick.cli.errors import Failure
from lipstick.cli.output import counted

if TYPE_CHECKING:
    from lipstick.systems.events.stream.settings import BatchProgress

C = TypeVar("C", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Options of a job of Spark; see `lipstick.systems.events.stream.batches.StreamSettings`."""

    master: str
    shards: int
    partitioning: str
    log: bool
    keep: float | None
    files_per_batch: int | None


def spark_options(command: C) -> C:
    """The options of a job of Spark, as the parameter `spark`; None without ``--spark``."""
    for option in reversed(
        (
            click.option(
                "--spark",
                "master",
                metavar="MASTER",
                help="Reduce with a streaming job of this Spark master.",
            ),
            click.option(
                "--shards",
                type=click.IntRange(min=1),
                default=2,
                show_default=True,
                help="With --spark: the number of tasks of a batch.",
            ),
            click.option(
                "--partitioning",
                type=click.Choice(["execution", "function", "worker", "source"]),
                default="execution",
                show_default=True,
                help="With --spark: the partitioning of the local reducers.",
            ),
            click.option(
                "--log/--no-log",
                default=True,
                help="With --spark: keep the messages from which late ones are repaired.",
            ),
            click.option(
                "--keep-log",
                "keep",
                type=click.FloatRange(min=0),
                metavar="SECONDS",
                help="With --spark: forget messages that are older than the watermark by this.",
            ),
            click.option("--files-per-batch", type=click.IntRange(min=1)),
        )
    ):
        command = option(command)
    return command


source_option = click.option(
    "--format",
    "source",
    type=click.Choice(["messages", "prov", "openlineage"]),
    default="messages",
    show_default=True,
    help="The format of the events.",
)


def format_options(command: C) -> C:
    """Add the options for the format of events, as the parameters `source` and `topic`."""
    command = click.option(
        "--topic",
        default="events",
        show_default=True,
        help="The topic of PROV and OpenLineage events.",
    )(command)
    return source_option(command)


def chosen(given: dict[str, Any]) -> SparkOptions | None:
    """Take the options of Spark out of all that were given."""
    names = ("master", "shards", "partitioning", "log", "keep", "files_per_batch")
    options = {name: given.pop(name) for name in names}
    return SparkOptions(**options) if options["master"] is not None else None


def _tell(done: BatchProgress) -> None:
    lag = "" if done.lag is None else f", lag {done.lag:.1f} s"
    tell_topics(done.topics, f"batch {done.batch}{lag}")


def reduce_folder(
    folder: Path,
    store: Path,
    options: SparkOptions,
    *,
    interval: float | None = None,
    close: bool = True,
    **settings: Any,
) -> tuple[dict[str, Any], int]:
    """Reduce a folder by a streaming job; return each topic's progress, and the lines refused.

    Parameters
    ----------
    interval
        Seconds between batches, until interrupted; None: what is there.
    close
        Whether nothing more is to come then.
    settings
        Of `StreamSettings`.
    """
    from pyspark.sql import SparkSession

    from lipstick.systems.events.stream.openlineage_runs import unfinished
    from lipstick.systems.events.stream.settings import StreamSettings
    from lipstick.systems.events.stream.spark import StreamReduction, job_builder
    from lipstick.systems.events.stream.streaming_frames import files_of

    if not folder.is_dir():
        raise Failure(f"There is no folder {folder}: with --spark, a folder of events is reduced.")
    was_there = SparkSession.getActiveSession() is not None
    spark = job_builder("lipstick events", options.master).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    given = StreamSettings(
        shards=options.shards,
        partitioning=options.partitioning,
        log=options.log,
        keep=None if options.keep is None else round(options.keep * 1e6),
        **settings,
    )
    try:
        with StreamReduction(store, given) as reduction:
            frame = files_of(spark, folder, files_per_batch=options.files_per_batch)
            query = reduction.start(frame, interval=interval, tell=_tell)
            try:
                reduction.wait(query)
            except KeyboardInterrupt:
                query.stop()
                click.echo("stopped", err=True)
            if close:
                reduction.close()
                running = unfinished(reduction.batches.plan(reduction.batches.batch))
                if running:
                    click.echo(f"runs that no event ends: {', '.join(running)}", err=True)
            return reduction.batches.progress, reduction.batches.dead
    finally:
        if not was_there:
            spark.stop()


def tell_topics(topics: dict[str, Any], what: str) -> None:
    """A line of progress for every topic."""
    for name, progress in topics.items():
        report = progress.report
        ratio = f"{report.received / report.kept:.2f}" if report.kept else "-"
        click.echo(
            f"{name}: {report.received:,} edges in, {report.kept:,} kept, ratio {ratio}, "
            f"state {counted(report.open_edges, 'edge')}; {what}"
        )
