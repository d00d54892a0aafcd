"""Recorded streams as the explorer asks them, also while they are still recorded."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from graphquery.store import Snapshot, Store
from graphquery.store.streams import queries
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.params import Params
from lipstick.systems.streams import Stored
from lipstick.systems.streams.page import event_paths, event_windows, operators
from lipstick.systems.streams.page.progress import Progress


class StreamSource:
    """The queries that a store has recordings of.

    Every answer is of the newest batch that is stored when it is asked for.

    Parameters
    ----------
    name
        What people call it.
    path
        The folder of the store.
    """

    kind = "stream"

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path
        self._store = Store.open(path)
        self._known: dict[str, tuple[int, Stored]] = {}
        self._progress: dict[str, Progress] = {}

    @property
    def views(self) -> dict[str, Callable[[Params, Budget], dict[str, Any]]]:
        """The questions, by name."""
        return {
            "about": self.about,
            "picture": self.picture,
            "events": self.events,
            "path": self.path,
        }

    def recording(self, params: Params) -> tuple[Stored, Snapshot]:
        """The recording of the query that is asked about, as it is now.

        Raises
        ------
        UnknownStreamError
            Where there is no such query.
        """
        snapshot = self._store.snapshot()
        query = params.text("query", queries(snapshot.records)[0])
        version, known = self._known.get(query, (-1, None))
        if known is None or version != snapshot.version:
            known = Stored(snapshot, query)
            self._known[query] = snapshot.version, known
        return known, snapshot

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the streams of a recording, their rates, and their lags behind the sources."""
        del budget
        recording, snapshot = self.recording(params)
        query = recording.graph.name
        progress = self._progress.setdefault(query, Progress(self._path, query))
        progress.read(snapshot.version)
        latest = {
            sid: int(recording.parts(sid).last_t.max())
            for sid in recording.graph.recorded
            if len(recording.parts(sid))
        }
        newest = max((latest[s] for s in recording.graph.sources if s in latest), default=None)
        counts = operators.counts_of(recording)
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
                    "facts": operators.facts_of(recording, sid),
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
        """The operators; with ``n``, lit where the event that it names comes from or goes to."""
        recording, _ = self.recording(params)
        if not params.integer("n", 0):
            return operators.operators(recording)
        event = event_windows.event_of(recording, params)
        answer = event_paths.found_by(recording, event, params.flag("forwards"))
        budget.check()
        lit = {recording.graph.original(sid): len(keys) for sid, keys in answer.streams.items()}
        lit[recording.graph.original(event.sid)] = 1
        return operators.operators(recording, lit)

    def events(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Events of a stream; see :func:`lipstick.systems.streams.page.event_windows.window`."""
        del budget
        recording, _ = self.recording(params)
        sid = event_windows.stream_of(recording, params)
        offset = params.integer("offset", 0, 0)
        table = event_windows.window(recording, sid, offset, params.integer("limit", 100, 1))
        return {**table, "python": self._asking(recording, f"recording.whole({sid!r})")}

    def path(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return an event's path; see :func:`lipstick.systems.streams.page.event_paths.path`."""
        recording, _ = self.recording(params)
        event = event_windows.event_of(recording, params)
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
