"""Events of a stream: windows of them, the newest first, and one by its key and number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.explorer.cells import cells, columns, parsed
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.params import Params
from lipstick.systems.streams import Events, Stored
from lipstick.systems.streams.events import key_table
from lipstick.systems.streams.keys import Keys

WINDOW = 200
"""Events of a window at most."""


def window(recording: Stored, sid: str, offset: int, limit: int) -> dict[str, Any]:
    """Return some events of a stream, the last batch first and in each batch the latest first.

    Only the parts that have them are read.
    """
    rows = recording.parts(sid).rows[::-1]
    ends = np.cumsum(rows)
    total = int(ends[-1]) if len(ends) else 0
    first, stop = min(offset, total), min(offset + min(limit, WINDOW), total)
    tables = []
    for batch in range(int(np.searchsorted(ends, first, "right")), len(rows)):
        start = int(ends[batch] - rows[batch])
        if start >= stop:
            break
        keys = recording.load(sid, np.array([len(rows) - 1 - batch]))
        latest = np.argsort(-keys.t, kind="stable")
        chosen = latest[max(0, first - start) : stop - start]
        tables.append(table_of(recording, sid, keys, chosen))
    table = pa.concat_tables(tables) if tables else table_of(recording, sid, None, np.empty(0, int))
    return {
        "columns": columns(table.schema),
        "rows": cells(table),
        "offset": first,
        "total": total,
        "keyed": recording.graph.node(sid).keyed,
    }


def table_of(recording: Stored, sid: str, keys: Keys | None, chosen: Any) -> pa.Table:
    """Return keys at some positions, with their content where that was recorded.

    Columns are ``key`` where the stream has one, ``n``, the content's columns, ``t`` and ``d``;
    columns of the content that time and key are taken from come last. They are called ``content.n``
    and the like where they would be called as others are.
    """
    keyed = recording.graph.node(sid).keyed
    if keys is None:
        keys = Keys.empty(keyed)
    order = np.sort(chosen)
    back = pa.array(np.searchsorted(order, chosen))
    sorted_keys = keys.take(order)
    table = key_table(recording, sid, sorted_keys).drop_columns(["stream"])
    if not keyed:
        table = table.drop_columns(["key"])
    if recording.has_content(sid) and len(sorted_keys):
        table = _with_content(recording, sid, table, recording.content(sid, sorted_keys))
    return table.take(back)


def _with_content(recording: Stored, sid: str, keys: pa.Table, content: pa.Table) -> pa.Table:
    source = recording.graph.node(recording.graph.original(sid)).source
    known = {} if source is None else {source.time, source.key}
    named = {
        f"content.{name}" if name in keys.column_names else name: content.column(name)
        for name in sorted(content.column_names, key=lambda name: name in known)
    }
    told = [name for name in named if name.removeprefix("content.") not in known]
    last = [name for name in named if name not in told]
    table = keys
    for name, column in named.items():
        table = table.append_column(name, column)
    first = [name for name in keys.column_names if name in ("key", "n")]
    return table.select([*first, *told, "t", "d", *last])


def event_of(recording: Stored, params: Params) -> Events:
    """The event that a question is about.

    Parameters
    ----------
    params
        ``stream``, ``n``, and where the stream has a key its value as text, ``key``.

    Raises
    ------
    ExploreError
        Where there is no such stream, or a key is lacking or no value of the keys' type.
    """
    sid = stream_of(recording, params)
    n = params.integer("n", 0)
    if not recording.graph.node(sid).keyed:
        return Events(sid, n)
    text = params.text("key")
    if not len(recording.codes):
        raise ExploreError(f"Stream {sid} has no events yet.")
    (value,) = parsed([text], recording.codes.values.type).to_pylist()
    return Events(sid, n, value)


def stream_of(recording: Stored, params: Params) -> str:
    """The stream that a question is about; raises `UnknownStreamError`."""
    sid = params.text("stream")
    recording.graph.node(sid)
    return sid
