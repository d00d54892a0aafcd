"""Changes of the sources in a replay: events corrected, removed, or added late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.batch import Batch, concat_batches
from lipstick.systems.streams.codes import KeyCodes
from lipstick.systems.streams.events import Events, resolve
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.keys import INFINITE, Keys
from lipstick.systems.streams.recording import Recording
from lipstick.systems.streams.source import ticks_of
from semiring.arrays.segments import others
from semiring.base import Array
from semiring.support.door import checked

Name = int | tuple[Any, int]
"""An event of a source: its number, or for a stream with a key, the key's value and the number."""


@checked
@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of sources, each by the name of the source.

    Parameters
    ----------
    corrected
        By event, the columns with new values. Times and keys cannot change.
    removed
        Events to leave out.
    added
        A table of events that were late or missing, in the form of the source: each gets the first
        free tick from its time on, after existing events.
    """

    corrected: Mapping[str, Mapping[Name, Mapping[str, Any]]] = field(default_factory=dict)
    removed: Mapping[str, Sequence[Name]] = field(default_factory=dict)
    added: Mapping[str, pa.Table] = field(default_factory=dict)

    def check(self, graph: Graph) -> None:
        """Raise `StreamError` if a change is of a stream that is not a source."""
        for sid in [*self.corrected, *self.removed, *self.added]:
            if sid not in graph.sources:
                raise StreamError(
                    f"{sid!r} is not a source of graph {graph.name}: only sources can be changed.\n"
                    f"It has {', '.join(graph.sources)}."
                )


def first_change(changes: Changes, recording: Recording, sid: str) -> int:
    """Return the time of the first changed or removed event of a source; `INFINITE` if none.

    Raises
    ------
    StreamError
        The recording has no such event.
    """
    names = [*changes.corrected.get(sid, {}), *changes.removed.get(sid, ())]
    if not names:
        return INFINITE
    keyed = recording.graph.node(sid).keyed
    if keyed != all(isinstance(name, tuple) for name in names):
        raise _unknown(sid, names[0])
    numbers = [name[1] if isinstance(name, tuple) else name for name in names]
    values = [name[0] for name in names if isinstance(name, tuple)]
    keys = resolve(recording, Events(sid, numbers, values if keyed else None))
    return int(keys.t.min())


def changed_batch(
    changes: Changes, sid: str, batch: Batch, graph: Graph, codes: KeyCodes, until: int
) -> Batch:
    """Return the events of a source with its changes applied.

    Raises
    ------
    StreamError
        A change is of an unknown event, or of one after the replayed span.
        A column to correct is unknown, or is the time or the key of the source.
    """
    changes.check(graph)
    source = graph.node(sid).source
    assert source is not None
    table = batch.table()
    for name, row in changes.corrected.get(sid, {}).items():
        position = _place(batch.keys, name, codes, sid)
        for column, value in row.items():
            if column not in table.column_names or column in (source.time, source.key):
                raise StreamError(
                    f"Event {name!r} of {sid}: column {column!r} cannot be corrected; it does "
                    "not exist, or is the time or key.\nRemove the event and add a new one."
                )
            table = _with_value(table, column, position, value)
    batch = Batch(batch.keys, table)
    removed = [_place(batch.keys, name, codes, sid) for name in changes.removed.get(sid, ())]
    if removed:
        batch = batch.take(others(len(batch), np.array(removed)))
    added = changes.added.get(sid)
    if added is None or not added.num_rows:
        return batch
    return _with_added(batch, added, sid, graph, codes, until)


def _place(keys: Keys, name: Name, codes: KeyCodes, sid: str) -> int:
    value, n = name if isinstance(name, tuple) else (None, name)
    here = keys.n == n
    if keys.code is not None:
        here &= keys.code == codes.find(value)
    places = np.flatnonzero(here)
    if not len(places):
        raise _unknown(sid, name)
    return int(places[0])


def _unknown(sid: str, name: Name) -> StreamError:
    return StreamError(
        f"Source {sid} has no event {name!r} in what is replayed.\nWith a key an event is "
        "(value, number), else its number."
    )


def _with_value(table: pa.Table, column: str, row: int, value: Any) -> pa.Table:
    index = table.column_names.index(column)
    values = table.column(column)
    replacement = pa.array([value], values.type)
    chunks = [*values.slice(0, row).chunks, replacement, *values.slice(row + 1).chunks]
    return table.set_column(index, column, pa.chunked_array(chunks, values.type))


def _with_added(
    batch: Batch, added: pa.Table, sid: str, graph: Graph, codes: KeyCodes, until: int
) -> Batch:
    source = graph.node(sid).source
    assert source is not None
    if source.time is None:
        raise StreamError(f"Source {sid} has no time column: events cannot be added to it.")
    times = ticks_of(added.column(source.time), sid)
    code = None if source.key is None else codes.encode(added.column(source.key))
    taken = set(zip(_codes(batch.keys), batch.keys.t.tolist(), strict=True))
    free: list[int] = []
    for key, time in zip(_codes(Keys(times, times, times, code)), times.tolist(), strict=True):
        tick = time
        while (key, tick) in taken:
            tick += 1
        taken.add((key, tick))
        free.append(tick)
    t = np.array(free, dtype=np.int64)
    last = int(batch.keys.n.max(initial=0))
    n = last + 1 + np.arange(len(t), dtype=np.int64)
    order = np.argsort(t, kind="stable") if code is None else np.lexsort((t, code))
    keys = Keys(t, n, np.zeros(len(t), dtype=np.int64), code).take(order)
    table = added.take(pa.array(order))
    if len(batch):
        table = table.select(batch.table().column_names).cast(batch.table().schema)
    both = [Batch(batch.keys, batch.table()), Batch(keys, table)]
    whole = concat_batches(both if len(batch) else both[1:])
    return whole.take(np.flatnonzero(whole.keys.t <= until))


def _codes(keys: Keys) -> list[int]:
    codes: Array = np.zeros(len(keys), dtype=np.int64) if keys.code is None else keys.code
    return codes.tolist()  # type: ignore[no-any-return]
