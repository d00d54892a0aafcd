"""``lipstick stream``: recorded streams asked for ancestors, replayed, and planned by."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import INCOMPLETE, Failure
from lipstick.cli.opened import store_argument
from lipstick.cli.output import Answer, CommandGroup, answer_options, counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from lipstick.systems.streams import Events, Found, Graph, Stored


READINGS = 40


@click.command()
@click.option("--spark", is_flag=True, help="Run on Structured Streaming, in two partitions.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the store, which stays there.",
)
def demo(spark: bool, keep: Path | None) -> None:
    """Run a graph over sensors, trace an alarm, and replay it with a reading corrected.

    Three sensors send readings, one reading is faulty, and there is a fire. An alarm is a mean of
    the last half second that is too high. The store has the readings, and the keys of all else.
    """
    from lipstick.systems.streams import Stored, example

    with contextlib.ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = folder / "store"
        tables = example.readings(READINGS)
        if spark:
            run_on_spark(folder, tables)
        else:
            run_in_memory(store, tables)
        tell(Stored(store))
        if keep is not None:
            click.echo(f"\nThe store is {store}: lipstick stream show {store}")
            click.echo(f"Look at it in a browser: lipstick explore {store}")


def run_in_memory(store: Path, tables: Iterable[pa.Table]) -> None:
    """Run the graph batch by batch in this process."""
    from lipstick.systems.streams import Assertions, Runner, example

    with Assertions(store) as recorder:
        runner = Runner(example.graph(), recorders=[recorder])
        runner.subscribe("alarms", lambda batch: alarm(batch.table()))
        for table in tables:
            runner.push({"readings": table})
        runner.close()


def run_on_spark(folder: Path, tables: Iterable[pa.Table]) -> None:
    """Run the graph on Structured Streaming over files that the sensors write."""
    import pyarrow.parquet as pq

    from lipstick.engines.spark.local_session import local_builder
    from lipstick.systems.streams import example, start

    (folder / "in").mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables):
        path = folder / "in" / f"{number:04d}.parquet"
        pq.write_table(table, path)
        os.utime(path, (number, number))  # Spark reads files in the order of their times
    spark = local_builder("lipstick stream demo", "local[2]").getOrCreate()
    reader = spark.readStream.schema("ts bigint, sensor string, celsius double")
    frame = reader.option("maxFilesPerTrigger", 2).parquet(str(folder / "in"))
    running = start(
        example.graph(),
        {"readings": frame},
        folder / "store",
        checkpoint=folder / "checkpoint",
        partitions=2,
        results={"alarms": alarm},
        trigger={"availableNow": True},
    )
    with running:
        running.finish()


def alarm(table: pa.Table) -> None:
    """Say that there are alarms."""
    highest = max(table.column("celsius").to_pylist())
    click.echo(f"{table.num_rows} alarms, up to {highest:.1f} degrees")


def tell(recording: Stored) -> None:
    """Trace an alarm to its readings, correct the faulty one, and replay."""
    from lipstick.systems.streams import Changes, Events, ancestors, descendants, example, replay

    sensor, number = example.FAULT
    alarms = Events("alarms", 1, key=sensor)
    traced_events = ancestors(recording, alarms)
    click.echo(f"\nAlarm 1 of {sensor} was made of these readings:")
    for row in traced_events.content("readings").to_pylist():
        click.echo(f"  {row['ts']}  {row['celsius']:6.1f}")
    faulty = Events("readings", number, key=sensor)
    concerned = descendants(recording, faulty, within=["alarms"])
    click.echo(f"Reading {number} of {sensor} is in {len(concerned)} alarms.")
    same = replay(example.graph(), recording)
    click.echo(f"\nReplayed as it was, all is the same: {same.identical}")
    changes = Changes(corrected={"readings": {(sensor, number): {"celsius": 30.0}}})
    corrected = replay(example.graph(), recording, changes=changes)
    click.echo(
        f"With that reading corrected to 30.0: {len(corrected.gone)} alarms are gone, "
        f"{len(corrected.same)} stay."
    )


Command = Callable[..., None]

_query = click.option("--query", metavar="NAME", help="The query, if the store has several.")
_period = click.option(
    "--period",
    type=(int, int),
    metavar="FROM TO",
    help="The first and the last time of the events.",
)
_QUESTION = (
    click.argument("events", metavar="STREAM[:NUMBER,...]"),
    click.option("--key", metavar="VALUE", help="The key of the events, if the stream has one."),
    _period,
    click.option(
        "--within",
        metavar="STREAM",
        multiple=True,
        help="Show the ancestors or descendants in these streams.",
    ),
)


def recording_command(function: Command) -> Command:
    """Make a function of an `Answer`, a `Stored` and its own arguments a command about a store."""

    @store_argument
    @_query
    @answer_options()
    @functools.wraps(function)
    def command(
        store: Path,
        query: str | None,
        answer: Answer,
        **more: Any,
    ) -> None:
        from lipstick.systems.streams.stored import Stored

        function(answer, Stored(store, query), **more)

    return command


def question_command(function: Command) -> Command:
    """Make a function of an `Answer`, a `Stored`, `Events` and a scope a command about events."""

    @functools.wraps(function)
    def command(
        answer: Answer,
        recording: Stored,
        events: str,
        key: str | None,
        period: tuple[int, int] | None,
        within: tuple[str, ...],
        **more: Any,
    ) -> None:
        events_asked = _events(recording, events, key, period)
        function(answer, recording, events_asked, within or None, **more)

    for option in reversed(_QUESTION):
        command = option(command)
    return recording_command(command)


@click.group(cls=CommandGroup)
def stream() -> None:
    """Ask recorded streams where events came from, and replay them."""


stream.add_command(demo)


@stream.command()
@recording_command
def show(answer: Answer, recording: Stored) -> None:
    """Show the streams, operators, events and disorder of a query in a STORE."""
    rows = [
        {
            "stream": sid,
            "operator": "source" if node.operator is None else node.operator.kind,
            "of": ", ".join(node.inputs) or None,
            "module": node.module,
            "events": int(recording.parts(sid).rows.sum()),
            "content": recording.has_content(sid),
        }
        for sid, node in recording.graph.nodes.items()
    ]
    more = {
        "query": recording.graph.name,
        "batches": recording.batches,
        "ended": recording.ended,
    }
    _send(answer, rows, more, recording.notes())


@stream.command()
@click.option("--steps", is_flag=True, help="Show every step from event to event.")
@question_command
def ancestors(
    answer: Answer,
    recording: Stored,
    events_asked: Events,
    within: tuple[str, ...] | None,
    *,
    steps: bool,
) -> None:
    """The events that some EVENTS of a stream in a STORE were made of."""
    from lipstick.systems.streams import ancestors as find
    from lipstick.systems.streams import trace

    if steps:
        _send_table(answer, trace(recording, events_asked, within), recording.notes())
    else:
        _send_found(answer, find(recording, events_asked, within))


@stream.command()
@question_command
def descendants(
    answer: Answer, recording: Stored, events_asked: Events, within: tuple[str, ...] | None
) -> None:
    """The events that were made of some EVENTS of a stream in a STORE."""
    from lipstick.systems.streams import descendants as find

    _send_found(answer, find(recording, events_asked, within))


@stream.command()
@recording_command
@click.argument("graph", metavar="MODULE:FUNCTION")
@_period
def replay(answer: Answer, recording: Stored, graph: str, period: tuple[int, int] | None) -> None:
    """Run a recorded query of a STORE again, by the function that makes its graph.

    Exit code 1 if anything differs from what was recorded, else 2 if an operator is not
    deterministic.
    """
    from lipstick.systems.streams import replay as again

    replayed = again(_graph(graph), recording, period=period)
    parts = {
        "same": replayed.same,
        "changed": replayed.changed,
        "gone": replayed.gone,
        "appeared": replayed.appeared,
    }
    rows = [
        {"stream": sid}
        | {
            what: len(each.streams[sid]) if sid in each.streams else 0
            for what, each in parts.items()
        }
        for sid in replayed.same.streams
    ]
    unsure = replayed.not_deterministic
    notes = [f"{sid}: its operator is not deterministic." for sid in unsure]
    _send(answer, rows, {"not_deterministic": list(unsure)}, notes)
    if not replayed.identical:
        raise SystemExit(1)
    if unsure:
        raise SystemExit(INCOMPLETE)


@stream.command()
@store_argument
@click.argument("sid", metavar="STREAM")
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--version", default="1", show_default=True, help="The dataset's version.")
@_query
def export(store: Path, sid: str, name: str, folder: Path, version: str, query: str | None) -> None:
    """Let others import the events of a STREAM of a STORE, as the dataset NAME in a new FOLDER.

    A version has the events that are new since the versions before.
    """
    from lipstick.systems.streams.exports import export_stream

    click.echo(export_stream(store, sid, name, version, folder, query=query))


@stream.command()
@click.option("--events", type=click.IntRange(min=0), default=1_000_000, show_default=True)
@recording_command
def plan(answer: Answer, recording: Stored, events: int) -> None:
    """The bytes that so many source events will take, by what those in a STORE take.

    Beside them is how many events operators hold in memory: by the formula from the rates of the
    streams, and in the state that was stored with the last batch.
    """
    from lipstick.systems.streams.planning import held_in, measured, predicted_held

    formula, held = predicted_held(recording), held_in(recording)
    plans = measured(recording)
    rows = [
        {
            "stream": each.stream,
            "events": each.events,
            "bytes per event": None
            if each.bytes_per_event is None
            else round(each.bytes_per_event, 1),
            "predicted bytes": each.predicted(events),
            "held by formula": round(formula[each.stream]),
            "held": held[each.stream],
        }
        for each in plans
    ]
    total = sum(each.predicted(events) for each in plans)
    note = f"{counted(events, 'source event')}: {counted(total, 'byte')}."
    _send(answer, rows, {"predicted_bytes": total}, [note])


def _events(
    recording: Stored, text: str, key: str | None, period: tuple[int, int] | None
) -> Events:
    """The events that a text names, such as ``alarms:3,4`` or ``alarms``."""
    from lipstick.systems.streams import Events

    name, separator, numbers = text.rpartition(":")
    if not separator:
        name, numbers = text, ""
    try:
        n = [int(number) for number in numbers.split(",")] if numbers else None
    except ValueError as error:
        raise Failure(f"{text}: events are a stream, a colon and numbers: alarms:3,4.") from error
    if n is not None and period is not None:
        raise Failure("Give numbers or a period, not both.")
    value: Any = key
    if key is not None and len(recording.codes):
        value = _typed(recording.codes.values, key)
    return Events(name, n, value, period)


def _typed(values: pa.Array, text: str) -> Any:
    """A text as a value of the keys' type."""
    import pyarrow as pa

    try:
        return pa.scalar(text).cast(values.type).as_py()
    except pa.ArrowException as error:
        raise Failure(f"--key {text}: keys have type {values.type}.") from error


def _graph(text: str) -> Graph:
    """The graph that a function of a module makes."""
    import importlib
    import sys

    from lipstick.systems.streams import Graph

    module, _, name = text.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        function: Callable[[], Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise Failure(f"{text}: {error}\nGive a module and a function in it: app:graph.") from error
    finally:
        sys.path.pop(0)
    graph = function()
    if not isinstance(graph, Graph):
        raise Failure(f"{text} gave {type(graph).__name__}, not a Graph of streams.")
    return graph


def _send_found(answer: Answer, found_events: Found) -> None:
    _send_table(answer, found_events.table(), found_events.notes)


def _send_table(answer: Answer, table: pa.Table, notes: tuple[str, ...]) -> None:
    rows = table.slice(0, answer.rows).to_pylist()
    _send(answer, rows, {}, notes, table.num_rows)


def _send(
    answer: Answer,
    rows: list[dict[str, Any]],
    more: dict[str, Any],
    notes: tuple[str, ...] | list[str],
    total: int | None = None,
) -> None:
    answer.table(rows, total)
    for note in notes:
        answer.say(note)
    answer.finish({**more, "rows": rows, "notes": list(notes)})
