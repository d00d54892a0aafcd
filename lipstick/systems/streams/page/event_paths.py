"""Windows of events, and paths from an event to its ancestors or descendants, step by step."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell, cells, columns, parsed
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.graphs.boxes import Drawing
from lipstick.explorer.params import Params
from lipstick.systems.streams import Events, Stored, ancestors, descendants, trace
from lipstick.systems.streams.events import Found, key_table, resolve
from lipstick.systems.streams.keys import Keys

WINDOW = 200
"""Limit on the events of a window."""


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
    """Return keys at some positions, with their content if it was recorded.

    Columns are ``key`` for a stream with one, ``n``, the content's columns, ``t`` and ``d``;
    content columns from which time and key are taken come last. A content column whose name would
    occur twice is named ``content.n`` and the like.
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
    """Return the event of a question.

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
    """Return the stream of a question; raises `StreamError`."""
    sid = params.text("stream")
    recording.graph.node(sid)
    return sid


DRAWN = 24
"""Limit on the drawn events of a stream; the rest are a bundle."""

TRACED = 5_000
"""Limit on the events whose steps are traced; beyond it, only counts by stream are shown."""

LISTED = 100
"""Limit on the events whose content is listed."""

Place: TypeAlias = tuple[str, str | None, int]
"""An event: its stream, its key as text, and its number."""


def found_by(recording: Stored, event: Events, forwards: bool) -> Found:
    """Return all ancestors of an event, or with `forwards` all descendants, of every stream."""
    every = recording.graph.recorded
    ask = descendants if forwards else ancestors
    return ask(recording, event, within=every)


def path(recording: Stored, event: Events, forwards: bool, budget: Budget) -> dict[str, Any]:
    """Return an event and its ancestors or descendants: boxes, counts by stream, and content.

    Returns
    -------
    dict
        ``picture``; None where there are more than `TRACED`; ``counts`` by stream; ``ends``, the
        events of sources, or of streams that nothing is made of, as rows of tables; ``notes``.
    """
    graph = recording.graph
    start = graph.original(event.sid)
    keys = resolve(recording, event)
    answer = found_by(recording, event, forwards)
    reached = {sid: each for sid, each in answer.streams.items() if len(each) and sid != start}
    budget.check()
    total = sum(map(len, reached.values()))
    picture = None
    if total <= TRACED:
        picture = drawn(recording, start, keys, reached, forwards, budget)
    last = [sid for sid in reached if _is_end(recording, sid, forwards)]
    return {
        "picture": picture,
        "counts": {sid: len(each) for sid, each in reached.items()},
        "total": total,
        "itself": _listed(recording, start, keys),
        "ends": [_listed(recording, sid, reached[sid]) for sid in last],
        "notes": [cell(note) for note in answer.notes],
    }


def _is_end(recording: Stored, sid: str, forwards: bool) -> bool:
    graph = recording.graph
    return not graph.consumers(sid) if forwards else not graph.node(sid).inputs


def _listed(recording: Stored, sid: str, keys: Keys) -> dict[str, Any]:
    shown = table_of(recording, sid, keys, np.arange(min(len(keys), LISTED)))
    return {
        "stream": sid,
        "keyed": recording.graph.node(sid).keyed,
        "columns": columns(shown.schema),
        "rows": cells(shown),
        "count": len(keys),
    }


def drawn(
    recording: Stored,
    start: str,
    keys: Keys,
    reached: dict[str, Keys],
    forwards: bool,
    budget: Budget,
) -> dict[str, Any]:
    """Return a drawing of an event and the reached ones: some of every stream, and a bundle of
    the rest.
    """
    drawing = Drawing()
    boxes: dict[Place, int] = {}
    bundles: dict[str, int] = {}
    for sid, each in {start: keys, **reached}.items():
        table = table_of(recording, sid, each, np.arange(min(len(each), DRAWN)))
        for row in table.to_pylist():
            boxes[(sid, row.get("key"), row["n"])] = _event(drawing, sid, row)
        if len(each) > DRAWN:
            focus = {"stream": sid}
            label = f"{len(each) - DRAWN:,} more of {sid}"
            bundles[sid] = drawing.add("bundle", label, focus=focus)
    drawing.boxes[0]["center"] = True
    for source, target in _steps(recording, start, keys, reached, forwards, budget):
        ends = [boxes.get(end, bundles.get(end[0])) for end in (source, target)]
        if ends[0] is not None and ends[1] is not None:
            drawing.link(ends[0], ends[1])
    label = drawing.boxes[0]["label"]
    crumbs = [
        {"label": "all streams", "focus": {}},
        {"label": start, "focus": {"stream": start}},
        {"label": label, "focus": {}},
    ]
    total = 1 + sum(map(len, reached.values()))
    return drawing.answer(len(boxes), total, crumbs, "events")


def _event(drawing: Drawing, sid: str, row: dict[str, Any]) -> int:
    key = row.get("key")
    content = [
        f"{name} {cell(value, 16)}" for name, value in row.items() if name not in ("key", "n")
    ]
    lines = [*([] if key is None else [_short(key)]), *map(_short, content[:1])]
    focus = {"stream": sid, "n": row["n"], "key": key}
    box = drawing.add("node", f"{sid} {row['n']:,}", lines=lines, focus=focus)
    told = [*([] if key is None else [f"key {key}"]), *content]
    drawing.boxes[box]["name"] = cell(f"{sid} {row['n']:,}: {', '.join(told)}")
    return box


def _short(text: str) -> str:
    return " ".join(text.split())[:28]


def _steps(
    recording: Stored,
    start: str,
    keys: Keys,
    reached: dict[str, Keys],
    forwards: bool,
    budget: Budget,
) -> list[tuple[Place, Place]]:
    """Return the direct dependencies among the events: an ancestor and its descendant."""
    every = {start: keys, **reached}
    known = {sid: set(_places(recording, sid, each)) for sid, each in every.items()}
    steps: dict[tuple[Place, Place], None] = {}
    targets = reached if forwards else every
    for sid, each in targets.items():
        budget.check()
        inputs = recording.graph.node(sid).inputs
        if not inputs:
            continue
        numbers = _events_of(recording, sid, each)
        table = trace(recording, numbers, within=inputs).to_pydict()
        befores = zip(table["stream"], table["key"], table["n"], strict=True)
        afters = zip(table["of"], table["of_key"], table["of_n"], strict=True)
        for before, after in zip(befores, afters, strict=True):
            if before in known.get(before[0], ()) and after in known.get(after[0], ()):
                steps[before, after] = None
    return list(steps)


def _events_of(recording: Stored, sid: str, keys: Keys) -> Events:
    if keys.code is None:
        return Events(sid, keys.n)
    values = recording.codes.decode(keys.code).to_pylist()
    return Events(sid, keys.n, values)


def _places(recording: Stored, sid: str, keys: Keys) -> list[Place]:
    numbers = keys.n.tolist()
    if keys.code is None:
        return [(sid, None, n) for n in numbers]
    texts = recording.codes.decode(keys.code).cast(pa.string()).to_pylist()
    return [(sid, key, n) for key, n in zip(texts, numbers, strict=True)]
