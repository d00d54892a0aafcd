"""``lipstick events``: streams of provenance events reduced into stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lipstick.cli.errors import INCOMPLETE, Failure
from lipstick.cli.opened import store_argument
from lipstick.cli.output import Answer, CommandGroup, answer_options, counted, json_option
from lipstick.systems.events.demo import demo
from lipstick.systems.events.stream_commands import (
    chosen,
    format_options,
    reduce_folder,
    source_option,
    spark_options,
    tell_topics,
)

_STORE = click.option(
    "--store",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The store to write; created if it does not exist.",
)
_LATENESS = click.option(
    "--lateness",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How many seconds older than the latest of its worker a message may be.",
)


@click.group(cls=CommandGroup)
def events() -> None:
    """Reduce streams of provenance events to who came from whom."""


@events.command()
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@_STORE
@format_options
@click.option("--labels", metavar="SEMIRING", help="Label edges in this semiring: Counting.")
@click.option("--hubs/--no-hubs", default=True, help="Keep vertices that save edges.")
@click.option("--batch", type=click.IntRange(min=1), help="Edges to reduce at a time.")
@_LATENESS
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="The number of workers; nothing is closed by time before all have sent a message.",
)
@click.option(
    "--dead",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file for refused lines.  [default: STORE.dead.jsonl]",
)
@spark_options
def reduce(
    paths: tuple[Path, ...],
    store: Path,
    source: str,
    topic: str,
    labels: str | None,
    hubs: bool,
    batch: int | None,
    lateness: float | None,
    workers: int,
    dead: Path | None,
    **given: Any,
) -> None:
    """Reduce the events in files, or folders of them, into a store.

    The files are all there is: what is open at their end is closed. A run that was stopped is
    completed by the same command. With --spark a folder is reduced by a streaming job.
    Exit code 2 if the graph may lack pairs: lines were refused, or edges not as declared.
    """
    from graphquery.reduction.reducer import BATCH
    from lipstick.systems.events.files import reduce_files
    from lipstick.systems.events.run_settings import Settings

    spark = chosen(given)
    if spark is not None:
        if len(paths) != 1 or batch is not None or dead is not None:
            raise click.UsageError("--spark takes one folder, without --batch and --dead.")
        topics, refused = reduce_folder(
            paths[0],
            store,
            spark,
            format=source,
            topic=topic,
            semiring=_semiring(labels),
            hubs=hubs,
            lateness=_micros(lateness),
            workers=workers,
        )
        _conclude(topics, refused, _letters(store))
        return
    settings = Settings(
        format=source,
        topic=topic,
        semiring=_semiring(labels),
        hubs=hubs,
        batch=batch or BATCH,
        lateness=_micros(lateness),
        workers=workers,
    )
    outcome = reduce_files(paths, store, settings, dead=dead)
    if outcome.unfinished:
        click.echo(f"runs that no event ends: {', '.join(outcome.unfinished)}", err=True)
    _conclude(outcome.topics, outcome.dead, dead or _letters(store))


def _conclude(topics: dict[str, Any], refused: int, letters: Path) -> None:
    """Print the progress of every topic; exit with code 2 if pairs may be lacking."""
    exact = True
    for name, progress in topics.items():
        report = progress.report
        click.echo(
            f"{name}: {counted(report.received, 'edge')} in, {report.kept:,} kept, "
            f"{report.dead:,} dead ends; peak state {counted(report.peak_edges, 'edge')}, "
            f"{report.peak_bytes:,} bytes"
        )
        for number, what in (
            (progress.repeated, "came again"),
            (progress.abandoned, "of attempts that do not count"),
            (progress.repaired, "late and repaired"),
            (progress.late - progress.repaired, "late and lost"),
            (progress.waiting, "of attempts without an end"),
        ):
            if number:
                click.echo(f"  {counted(number, 'message')} {what}")
        if not report.exact:
            what = "on cycles, or not as declared" if report.cyclic else "not as declared"
            click.echo(f"  {what}: {', '.join(report.named)}", err=True)
        exact = exact and progress.exact
    _end(exact, refused, letters)


def _end(exact: bool, refused: int, letters: Path) -> None:
    """Print the number of refused lines; exit with code 2 if pairs may be lacking."""
    if refused:
        click.echo(f"{counted(refused, 'refused line')}, in {letters}", err=True)
    if refused or not exact:
        click.echo("not exact: pairs may be lacking", err=True)
        raise SystemExit(INCOMPLETE)


@events.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@_STORE
@click.option("--interval", type=click.FloatRange(min=0), default=1.0, show_default=True)
@_LATENESS
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True)
@format_options
@click.option("--close", is_flag=True, help="Read the files there, close the stream and stop.")
@spark_options
def serve(
    folder: Path,
    store: Path,
    interval: float,
    lateness: float | None,
    workers: int,
    source: str,
    topic: str,
    close: bool,
    **given: Any,
) -> None:
    """Reduce the events that keep arriving in a FOLDER, until interrupted.

    Started again, it goes on where it was; files that were read must stay. With --spark a
    streaming job does it, which reads PROV and OpenLineage, too. Exit code 2 if the graph may
    lack pairs.
    """
    from lipstick.systems.events import Follower, Settings

    spark = chosen(given)
    if spark is not None:
        topics, refused = reduce_folder(
            folder,
            store,
            spark,
            interval=None if close else interval,
            close=close,
            format=source,
            topic=topic,
            lateness=_micros(lateness),
            workers=workers,
        )
        _end(all(each.exact for each in topics.values()), refused, _letters(store))
        return
    if source != "messages":
        raise click.UsageError(f"Without --spark {source} is reduced whole: `events reduce`.")
    settings = Settings(lateness=_micros(lateness), workers=workers)
    with Follower(folder, store, settings) as follower:
        try:
            for step in follower.steps(interval):
                if step.files:
                    tell_topics(step.topics, f"{counted(step.files, 'file')}, lag {step.lag:.1f} s")
                if close:
                    tell_topics(follower.close().topics, "closed")
                    break
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
        topics, refused = follower.topics, follower.refused
    _end(all(each.exact for each in topics.values()), refused, _letters(store))


@events.command()
@store_argument
@answer_options()
def stats(store: Path, answer: Answer) -> None:
    """Show the topics in a STORE, with the counts of their reduction.

    Exit code 2 if a topic is not exact: lines were refused, or edges not as declared.
    """
    from graphquery.store import Store
    from lipstick.systems.events.store import check_reduced

    topics = check_reduced(Store.open(store).snapshot())
    rows: list[dict[str, Any]] = []
    for name, topic in topics.items():
        progress = topic.get("progress", {})
        report = progress.get("report", {})
        received, edges = report.get("received"), topic["edges"]
        rows.append(
            {
                "topic": name,
                "complete": bool(topic.get("complete")),
                "exact": topic.get("exact"),
                "received": received,
                "edges": edges,
                "ratio": round(received / edges, 2) if received and edges else None,
                "dead": report.get("dead"),
                "refused": progress.get("refused", 0),
                "late": progress.get("late"),
                "repaired": progress.get("repaired"),
                "peak_edges": report.get("peak_edges"),
                "peak_bytes": report.get("peak_bytes"),
                "batch": topic["batch"],
            }
        )
    answer.table(rows)
    answer.finish(rows)
    if any(row["exact"] is False for row in rows):
        raise SystemExit(INCOMPLETE)


@events.command()
@click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--show", type=int, default=10, show_default=True, help="Refused lines to print.")
@source_option
@json_option
def check(paths: tuple[Path, ...], show: int, source: str, answer: Answer) -> None:
    """Check events, cycles among them; exit code 1 if some would be refused."""
    from lipstick.systems.events.files import check_files

    good, dead = check_files(paths, format=source)
    what = {"messages": "message", "prov": "document", "openlineage": "event"}[source]
    answer.say(f"{counted(good, what)} as the format says, {len(dead):,} not")
    for letter in dead[:show]:
        answer.say(f"{letter.origin}:{letter.line}: {letter.reason}")
    refused = [{"file": d.origin, "line": d.line, "reason": d.reason} for d in dead]
    answer.finish({"good": good, "refused": refused})
    if dead:
        raise SystemExit(1)


@events.command()
@store_argument
@click.argument("entity")
@click.option("--forward", is_flag=True, help="Show outputs that came from it instead of inputs.")
def trace(store: Path, entity: str, forward: bool) -> None:
    """The inputs that an ENTITY came from, or the outputs that came of it."""
    from lipstick.systems.events.graph import ReducedGraph

    graph = ReducedGraph.open(store)
    names = graph.descendants(entity) if forward else graph.lineage(entity)
    for each in names:
        click.echo(each)


def _micros(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000_000)


def _letters(store: Path) -> Path:
    return store.parent / f"{store.name}.dead.jsonl"


def _semiring(name: str | None) -> Any:
    if name is None:
        return None
    from semiring import semirings

    known = {each.name: each for each in semirings.ALL}
    if name not in known:
        raise Failure(f"There is no semiring {name!r}; there are {', '.join(sorted(known))}.")
    return known[name]


@click.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--into", required=True, type=click.Path(path_type=Path, file_okay=False))
@click.option("--topic", help="The topic of the events.  [default: the name of PATH]")
@click.option("--key", multiple=True, help="A column that identifies rows.")
def emit(path: Path, into: Path, topic: str | None, key: tuple[str, ...]) -> None:
    """Emit the capture, or the graph of the store, in PATH as events into a folder.

    Rows of a capture come from the tuples that their annotations name; nodes of a graph from those
    that edges lead from.
    """
    import lipstick
    from graphquery import ProvenanceGraph
    from graphquery.store import Store
    from lipstick.systems.events import Emitter
    from lipstick.systems.events.exports import emit_capture, emit_graph

    name = topic or path.name
    with Emitter(into, name) as emitter:
        if (path / "manifest.json").exists():
            number = emit_capture(lipstick.open(path), emitter, name, key)
            click.echo(f"{counted(number, 'row')} emitted")
        elif (path / "format.json").exists():
            snapshot = Store.open(path).snapshot()
            parts = (snapshot.segments.values(), snapshot.edges, snapshot.column)
            number = emit_graph(ProvenanceGraph.build(*parts), emitter, name)
            click.echo(f"{counted(number, 'edge')} emitted")
        else:
            raise Failure(f"{path} is neither a capture nor a store.")
        emitter.seal()


@click.command()
@store_argument
@click.argument("topic")
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--version", default="1", show_default=True, help="The dataset's version.")
@click.option(
    "--rows",
    type=click.Path(path_type=Path, exists=True),
    help="A Parquet file with the data of the outputs; without it only identifiers.",
)
@click.option("--id", "column", default="id", show_default=True, help="The identifiers in --rows.")
def export(
    store: Path, topic: str, name: str, folder: Path, version: str, rows: Path | None, column: str
) -> None:
    """Let others import the outputs of a TOPIC of a STORE, as the dataset NAME in a new FOLDER."""
    import pyarrow.parquet as pq

    from lipstick.systems.events.exports import export_outputs

    table = None if rows is None else pq.read_table(rows)
    click.echo(export_outputs(store, topic, name, version, folder, rows=table, column=column))


for each in (demo, emit, export):
    events.add_command(each)
