"""``lipstick stream``: recorded streams asked for ancestors, replayed, and planned by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lipstick.cli.errors import Failure, reported
from lipstick.cli.opened import store_argument
from lipstick.cli.output import JSON, TABLE, Answer, answer, answer_options, counted

if TYPE_CHECKING:
    import pyarrow as pa

    from lipstick.streams.events import Events, Found
    from lipstick.streams.graph import Graph
    from lipstick.streams.stored import Stored

_query = click.option("--query", metavar="NAME", help="Which, where the store has several.")
_within = click.option("--within", metavar="STREAM", multiple=True, help="Look in these streams.")
_events = click.argument("events", metavar="STREAM[:NUMBER,...]")
_key = click.option("--key", metavar="VALUE", help="Of the events, where the stream has a key.")
_period = click.option("--period", type=(int, int), metavar="FROM TO", help="Times, both closed.")


@click.group()
def stream() -> None:
    """Ask recorded streams where events came from, and replay them."""


@stream.command()
@store_argument
@_query
@answer_options()
def show(
    store: Path, query: str | None, format: str | None, output: Path | None, limit: int | None
) -> None:
    """What a STORE has of a query: its streams, operators, events and disorder."""
    with reported():
        told = answer(format, output, limit, (TABLE, JSON))
        recording = _opened(store, query)
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
    _send(told, rows, {"query": recording.graph.name}, recording.notes())


@stream.command()
@store_argument
@_events
@_query
@_key
@_period
@_within
@click.option("--steps", is_flag=True, help="Every step from event to event instead.")
@answer_options()
def ancestors(
    store: Path,
    events: str,
    query: str | None,
    key: str | None,
    period: tuple[int, int] | None,
    within: tuple[str, ...],
    steps: bool,
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """The events that some EVENTS of a stream in a STORE were made of."""
    from lipstick.streams.ancestors import ancestors as find
    from lipstick.streams.provenance import trace

    with reported():
        told = answer(format, output, limit, (TABLE, JSON))
        recording = _opened(store, query)
        asked = _asked(recording, events, key, period)
        if steps:
            table = trace(recording, asked, within or None)
            _send_table(told, table, recording.notes())
            return
        _send_found(told, find(recording, asked, within or None))


@stream.command()
@store_argument
@_events
@_query
@_key
@_period
@_within
@answer_options()
def descendants(
    store: Path,
    events: str,
    query: str | None,
    key: str | None,
    period: tuple[int, int] | None,
    within: tuple[str, ...],
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """The events that were made of some EVENTS of a stream in a STORE."""
    from lipstick.streams.descendants import descendants as find

    with reported():
        told = answer(format, output, limit, (TABLE, JSON))
        recording = _opened(store, query)
        asked = _asked(recording, events, key, period)
        _send_found(told, find(recording, asked, within or None))


@stream.command()
@store_argument
@click.argument("graph", metavar="MODULE:FUNCTION")
@_query
@_period
@answer_options()
def replay(
    store: Path,
    graph: str,
    query: str | None,
    period: tuple[int, int] | None,
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """Run a recorded query of a STORE again, by the function that makes its graph.

    Exit code 1 if anything differs from what was recorded.
    """
    from lipstick.streams.replay import replay as again

    with reported():
        told = answer(format, output, limit, (TABLE, JSON))
        recording = _opened(store, query)
        found = again(_graph(graph), recording, period=period)
    parts = {
        "same": found.same,
        "changed": found.changed,
        "gone": found.gone,
        "appeared": found.appeared,
    }
    streams = found.same.streams
    rows = [
        {"stream": sid}
        | {
            what: len(each.streams[sid]) if sid in each.streams else 0
            for what, each in parts.items()
        }
        for sid in streams
    ]
    unsure = found.not_deterministic
    notes = [f"{sid}: its operator is not deterministic." for sid in unsure]
    _send(told, rows, {"not_deterministic": list(unsure)}, notes)
    if unsure or not found.identical:
        raise SystemExit(1)


@stream.command()
@store_argument
@_query
@click.option("--events", type=click.IntRange(min=0), default=1_000_000, show_default=True)
@answer_options()
def plan(
    store: Path,
    query: str | None,
    events: int,
    format: str | None,
    output: Path | None,
    limit: int | None,
) -> None:
    """The bytes that so many source events will take, by what those in a STORE take."""
    from lipstick.streams.planning import measured

    with reported():
        told = answer(format, output, limit, (TABLE, JSON))
        found = measured(_opened(store, query))
    rows = [
        {
            "stream": each.stream,
            "events": each.events,
            "bytes per event": None
            if each.bytes_per_event is None
            else round(each.bytes_per_event, 1),
            "predicted bytes": each.predicted(events),
        }
        for each in found
    ]
    total = sum(each.predicted(events) for each in found)
    note = f"{counted(events, 'source event')}: {counted(total, 'byte')}."
    _send(told, rows, {"predicted_bytes": total}, [note])


def _opened(store: Path, query: str | None) -> Stored:
    from lipstick.streams.stored import Stored

    return Stored(store, query)


def _asked(recording: Stored, text: str, key: str | None, period: tuple[int, int] | None) -> Events:
    """The events that a text names, such as ``alarms:3,4`` or ``alarms``."""
    from lipstick.streams.events import Events

    name, found, numbers = text.rpartition(":")
    if not found:
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

    from lipstick.streams.graph import Graph

    module, _, name = text.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        function: Callable[[], Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise Failure(f"{text}: {error}\nGive a module and a function in it: app:graph.") from error
    finally:
        sys.path.pop(0)
    made = function()
    if not isinstance(made, Graph):
        raise Failure(f"{text} gave {type(made).__name__}, not a Graph of streams.")
    return made


def _send_found(told: Answer, found: Found) -> None:
    _send_table(told, found.table(), found.notes)


def _send_table(told: Answer, table: pa.Table, notes: tuple[str, ...]) -> None:
    rows = table.slice(0, told.rows).to_pylist()
    _send(told, rows, {}, notes, table.num_rows)


def _send(
    told: Answer,
    rows: list[dict[str, Any]],
    more: dict[str, Any],
    notes: tuple[str, ...] | list[str],
    total: int | None = None,
) -> None:
    if told.format == JSON:
        told.send_json({**more, "rows": rows, "notes": list(notes)})
        return
    told.table(rows, total)
    for note in notes:
        told.say(note)
    told.send_table()
