"""Recorded streams for the explorer, with their operators and their progress."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from graphquery.store import Snapshot, Store
from graphquery.store.log import read_entry
from graphquery.store.streams import batches, parts, queries
from lipstick.display.markup import counted
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.graphs.boxes import Drawing, shortened
from lipstick.explorer.params import Params
from lipstick.systems.streams import Graph, Stored
from lipstick.systems.streams.node import StreamNode
from lipstick.systems.streams.page import event_paths


def described(node: StreamNode) -> str:
    """Return the operator of a stream in a few words, such as ``window of 500 ticks``."""
    if node.operator is None:
        return "source"
    given = node.operator.parameters()
    match node.operator.kind:
        case "time_window":
            return f"window of {given['width']:,} ticks"
        case "length_window":
            return f"window of {counted(given['length'], 'event')}"
        case "aggregate":
            return ", ".join(
                function if column is None else f"{function} of {column}"
                for _, function, column in given["columns"]
            )
        case "time_join":
            return f"join within {given['left']:,} and {given['right']:,} ticks"
        case "length_join":
            return f"join of the last {given['left']:,} and {given['right']:,}"
        case "key_by":
            return f"key {given['column']}"
    named = [str(given[name]) for name in ("function", "predicate") if given.get(name)]
    return " ".join([node.operator.kind.replace("_", " "), *named])


def counts_of(recording: Stored) -> dict[str, int]:
    """Return the number of events of every stream; a twin has its original's."""
    graph = recording.graph
    recorded_counts = {sid: int(recording.parts(sid).rows.sum()) for sid in graph.recorded}
    return {sid: recorded_counts[graph.original(sid)] for sid in graph.nodes}


def operators_drawing(recording: Stored, lit: dict[str, int] | None = None) -> dict[str, Any]:
    """Return the drawing of all operators, with a box around the parts of a composed one.

    Parameters
    ----------
    lit
        By stream how many of its events are marked; None: nothing is.
    """
    graph, counts = recording.graph, counts_of(recording)
    drawing = Drawing()
    inside = composed(graph)
    around = {
        module: drawing.add("module", module, inside="boxes", focus={}) for module in sorted(inside)
    }
    boxes: dict[str, int] = {}
    for sid, node in graph.nodes.items():
        lines = [shortened(described(node)), counted(counts[sid], "event")]
        sort = "input" if node.operator is None else "segment"
        focus = {"stream": sid}
        parent = around.get(node.module)
        boxes[sid] = drawing.add(sort, sid, lines=lines, parent=parent, focus=focus)
        if lit is not None:
            lit_here = lit.get(graph.original(sid), 0)
            drawing.mark(boxes[sid], {"lit": lit_here}, counts[sid])
    for sid, node in graph.nodes.items():
        sources = node.inputs if node.twin is None else (node.twin,)
        for source in sources:
            drawing.link(boxes[source], boxes[sid])
    crumbs = [{"label": "all streams", "focus": {}}]
    answer = drawing.answer(len(boxes), len(boxes), crumbs, "streams")
    if lit is not None:
        answer["marked"] = {"lit": sum(lit.values())}
    return answer


def composed(graph: Graph) -> set[str]:
    """Return the names of composed operators."""
    return {node.module for sid, node in graph.nodes.items() if node.module != sid}


def facts_of(recording: Stored, sid: str) -> dict[str, str | None]:
    """Return the facts about a stream that are known without reading its events."""
    node = recording.graph.node(sid)
    inputs = ", ".join(node.inputs)
    return {
        "operator": cell(described(node)),
        "of": cell(inputs) if inputs else None,
        "inside of": cell(node.module) if node.module != sid else None,
        "same events as": cell(node.twin) if node.twin else None,
        "content": "kept" if recording.has_content(sid) else "keys alone; replay for the rest",
    }


KEPT = 120
"""Limit on the past batches that are read."""

RATED = 30
"""Limit on the batches over which rates are averaged."""


@dataclass(frozen=True, slots=True)
class CommittedBatch:
    """A batch as recorded in its commit.

    Attributes
    ----------
    number
        Of the batch.
    time
        Of its commit, in seconds since 1970.
    rows, last
        By stream, the number of events, and the time of the latest in ticks.
    """

    number: int
    time: float
    rows: Mapping[str, int]
    last: Mapping[str, int]


class QueryProgress:
    """The last batches of a query, read from the log of its store as it grows.

    Parameters
    ----------
    root
        The folder of the store.
    query
        The name of the graph that was run.
    """

    def __init__(self, root: Path, query: str) -> None:
        self._root = root
        self._query = query
        self._version = 0
        self.batches: deque[CommittedBatch] = deque(maxlen=KEPT)

    def read(self, version: int) -> None:
        """Read the commits up to a version, from `KEPT` before it at the first time.

        Raises
        ------
        StoreDamagedError
            A commit was truncated or altered.
        """
        for number in range(max(self._version, version - KEPT) + 1, version + 1):
            commit, _ = read_entry(self._root, number)
            time = datetime.fromisoformat(commit.time).timestamp()
            for batch, document in batches(commit.records, self._query).items():
                if commit.operation == "append":
                    self._add(batch, time, document)
        self._version = version

    def _add(self, number: int, time: float, document: Any) -> None:
        rows: dict[str, int] = {}
        last: dict[str, int] = {}
        for part in parts(document, f"Batch {number} of {self._query}"):
            rows[part.stream] = rows.get(part.stream, 0) + part.rows
            last[part.stream] = max(last.get(part.stream, part.last_t), part.last_t)
        self.batches.append(CommittedBatch(number, time, rows, last))

    def rate(self, stream: str) -> float | None:
        """Return the events per second of a stream, over the last batches, or None without
        times.
        """
        recent = list(self.batches)[-RATED:]
        if len(recent) < 2 or recent[-1].time <= recent[0].time:
            return None
        # Rows of the first batch arrived before its commit.
        count = sum(batch.rows.get(stream, 0) for batch in recent[1:])
        return count / (recent[-1].time - recent[0].time)


class RecordingSource:
    """The queries with recordings in a store.

    Every answer is of the newest stored batch.

    Parameters
    ----------
    name
        The display name.
    path
        The folder of the store.
    """

    kind = "stream"

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path
        self._store = Store.open(path)
        self._known: dict[str, tuple[int, Stored]] = {}
        self._progress: dict[str, QueryProgress] = {}

    @property
    def views(self) -> dict[str, Callable[[Params, Budget], dict[str, Any]]]:
        """The available questions, by name."""
        return {
            "about": self.about,
            "picture": self.picture,
            "events": self.events,
            "path": self.path,
            "search": self.search,
        }

    def recording(self, params: Params) -> tuple[Stored, Snapshot]:
        """Return the current recording of the query in question.

        Raises
        ------
        StreamError
            Where there is no such query.
        """
        snapshot = self._store.snapshot()
        query = params.text("query", queries(snapshot.records)[0])
        version, known = self._known.get(query, (-1, None))
        if known is None or version != snapshot.version:
            known = Stored(snapshot, query)
            self._known[query] = snapshot.version, known
        return known, snapshot

    def search(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the streams with a text in their names or operators."""
        del budget
        text = params.text("text").strip().lower()
        graph = self.recording(Params({}))[0].graph
        found = [
            {"sort": "stream", "name": cell(sid), "place": {"stream": sid}, "note": described(node)}
            for sid, node in graph.nodes.items()
            if text and text in f"{sid} {described(node)}".lower()
        ]
        return {"found": found, "total": len(found)}

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the streams of a recording, their rates, and their lags behind the sources."""
        del budget
        recording, snapshot = self.recording(params)
        query = recording.graph.name
        progress = self._progress.setdefault(query, QueryProgress(self._path, query))
        progress.read(snapshot.version)
        latest = {
            sid: int(recording.parts(sid).last_t.max())
            for sid in recording.graph.recorded
            if len(recording.parts(sid))
        }
        newest = max((latest[s] for s in recording.graph.sources if s in latest), default=None)
        counts = counts_of(recording)
        return {
            "query": query,
            "queries": queries(snapshot.records),
            "batches": recording.batches,
            "ended": recording.ended,
            "version": snapshot.version,
            "committed": snapshot.time,
            "seconds": round(_since(snapshot.time), 1),
            "notes": [cell(note) for note in recording.notes()],
            "streams": [
                {
                    "name": sid,
                    "events": counts[sid],
                    "keyed": node.keyed,
                    "rate": progress.rate(recording.graph.original(sid)),
                    "latest": latest.get(recording.graph.original(sid)),
                    "behind": _behind(newest, latest.get(recording.graph.original(sid))),
                    "facts": facts_of(recording, sid),
                }
                for sid, node in recording.graph.nodes.items()
            ],
            "history": [
                {"batch": batch.number, "time": batch.time, "rows": batch.rows}
                for batch in progress.batches
            ],
            "python": self._opening(query),
        }

    def picture(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the operators; with ``n``, the ancestors or descendants of that event lit."""
        recording, _ = self.recording(params)
        if not params.integer("n", 0):
            return operators_drawing(recording)
        event = event_paths.event_of(recording, params)
        answer = event_paths.found_by(recording, event, params.flag("forwards"))
        budget.check()
        lit = {recording.graph.original(sid): len(keys) for sid, keys in answer.streams.items()}
        lit[recording.graph.original(event.sid)] = 1
        return operators_drawing(recording, lit)

    def events(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return events of a stream; see
        :func:`lipstick.systems.streams.page.event_paths.window`.
        """
        del budget
        recording, _ = self.recording(params)
        sid = event_paths.stream_of(recording, params)
        offset = params.integer("offset", 0, 0)
        table = event_paths.window(recording, sid, offset, params.integer("limit", 100, 1))
        return {**table, "python": self._asking(recording, f"recording.whole({sid!r})")}

    def path(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return an event's path; see :func:`lipstick.systems.streams.page.event_paths.path`."""
        recording, _ = self.recording(params)
        event = event_paths.event_of(recording, params)
        forwards = params.flag("forwards")
        drawn_path = event_paths.path(recording, event, forwards, budget)
        named = f"{event.sid!r}, {event.n}" + ("" if event.key is None else f", {event.key!r}")
        call = f"{'descendants' if forwards else 'ancestors'}(recording, Events({named}))"
        return {**drawn_path, "python": self._asking(recording, f"{call}.table()")}

    def _opening(self, query: str) -> str:
        return (
            "from lipstick.systems.streams import Events, Stored, ancestors, descendants\n\n"
            f"recording = Stored({str(self._path)!r}, {query!r})"
        )

    def _asking(self, recording: Stored, question: str) -> str:
        return f"{self._opening(recording.graph.name)}\n{question}"


def _since(when: str) -> float:
    return max(0.0, time.time() - datetime.fromisoformat(when).timestamp())


def _behind(newest: int | None, latest: int | None) -> int | None:
    return None if newest is None or latest is None else max(0, newest - latest)
