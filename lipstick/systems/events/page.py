"""A reduced graph of events for the explorer, also while its reduction is running."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from graphquery.store import Snapshot, Store
from graphquery.store.log import read_entry
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.graphs.source import GraphSource, stored_graph
from lipstick.explorer.params import Params
from lipstick.systems.events import ReducedGraph
from lipstick.systems.events.store import RECORD, check_reduced

KEPT = 120
"""Limit on the past commits that are read."""

NAMED = 300
"""Limit on the listed entities."""

_COUNTS = ("messages", "repeated", "abandoned", "late", "repaired", "waiting")
_REPORTED = ("received", "dead", "open_edges", "open_vertices", "peak_edges", "peak_bytes")


class ReductionSource:
    """A reduced graph: the progress of its topics, its lineage, and the views of its graph.

    Every answer is of the newest commit.

    Parameters
    ----------
    name
        The display name.
    path
        The folder of the store.
    """

    kind = "reduction"

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path
        self._store = Store.open(path)
        self._history: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._version = 0
        self._reduced: ReducedGraph | None = None
        self._graph: GraphSource | None = None

    @property
    def views(self) -> dict[str, Callable[[Params, Budget], dict[str, Any]]]:
        """The available questions, by name; questions on the graph are about the commit it was
        opened at.
        """
        views = {
            "progress": self.progress,
            "outputs": self.outputs,
            "trace": self.trace,
            "search": self.search,
        }
        if self._graph is None:
            return {"about": self.about, **views}
        return {**self._graph.views, "about": self.about, **views}

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Describe the current graph, whose commit its pictures show from here on."""
        snapshot = self._store.snapshot()
        if self._graph is None or self._graph.version != snapshot.version:
            # Inputs, outputs and hubs are distinguished, but not by commit.
            shown = [
                replace(segment, relation=segment.name.rpartition(".")[0])
                for segment in snapshot.segments.values()
            ]
            self._graph = stored_graph(self.name, self._path, snapshot, shown)
        return self._graph.about(params, budget)

    def progress(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the progress of every topic, with the numbers of edges received, kept and open."""
        del params, budget
        snapshot = self._store.snapshot()
        self._read(snapshot)
        return {
            "version": snapshot.version,
            "committed": snapshot.time,
            "topics": [
                _topic(name, topic, snapshot) for name, topic in check_reduced(snapshot).items()
            ],
            "history": list(self._history),
            "python": self._opening,
        }

    def outputs(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the outputs, derived entities without descendants, whose names contain a text.

        Parameters
        ----------
        params
            ``text``, in any case; none: all.
        """
        graph = self._now()
        names = graph.effects
        budget.check()
        text = params.text("text", "").strip().lower()
        matched = sorted(name for name in names if text in name.lower())
        return {"names": [cell(name) for name in matched[:NAMED]], "total": len(matched)}

    def search(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the outputs with a text in their names."""
        outputs = self.outputs(params, budget)
        found = [
            {"sort": "output", "name": name, "place": {"entity": name}, "note": ""}
            for name in outputs["names"]
        ]
        return {"found": found, "total": outputs["total"]}

    def trace(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the inputs behind an entity, or with ``forwards`` the outputs derived from it.

        Parameters
        ----------
        params
            ``entity``, by its identifier.
        """
        entity, forwards = params.text("entity"), params.flag("forwards")
        if not entity:
            raise ExploreError("Name an entity, such as an output.")
        graph = self._now()
        traced = graph.descendants(entity) if forwards else graph.lineage(entity)
        budget.check()
        function = "descendants" if forwards else "lineage"
        return {
            "entity": cell(entity),
            "node": graph.graph.name(graph.node(entity)),
            "names": [cell(name) for name in traced[:NAMED]],
            "total": len(traced),
            "python": f"{self._opening}\ngraph.{function}({entity!r})",
        }

    def _now(self) -> ReducedGraph:
        """Return the current reduced graph, cached until something is added."""
        snapshot = self._store.snapshot()
        if self._reduced is None or self._reduced.snapshot.version != snapshot.version:
            self._reduced = ReducedGraph(snapshot)
        return self._reduced

    @property
    def _opening(self) -> str:
        return (
            "from lipstick.systems.events import ReducedGraph\n\n"
            f"graph = ReducedGraph.open({str(self._path)!r})"
        )

    def _read(self, snapshot: Snapshot) -> None:
        """Read the progress of every topic from new commits."""
        first = max(self._version, snapshot.version - KEPT) + 1
        for version in range(first, snapshot.version + 1):
            commit, _ = read_entry(self._path, version)
            record = commit.records.get(RECORD)
            if commit.operation == "append" and record is not None:
                topics = {name: _point(topic) for name, topic in record["topics"].items()}
                time = datetime.fromisoformat(commit.time).timestamp()
                self._history.append({"time": time, "topics": topics})
        self._version = snapshot.version


def _report(topic: dict[str, Any]) -> dict[str, Any]:
    report: dict[str, Any] = topic.get("progress", {}).get("report", {})
    return report


def _point(topic: dict[str, Any]) -> dict[str, int | None]:
    report = _report(topic)
    return {
        "received": report.get("received"),
        "kept": topic["edges"],
        "open": report.get("open_edges"),
    }


def _lag(topic: dict[str, Any], snapshot: Snapshot) -> float | None:
    """Return the seconds between sending and committing the oldest message of the last commit.

    None if the topic is complete, and for files that were not reduced on arrival.
    """
    if topic.get("complete"):
        return None
    stream = snapshot.records[RECORD].get("stream", {})
    follows = topic.get("run", {}).get("follows")
    oldest: int | None = topic.get("oldest") if follows else stream.get("oldest")
    if oldest is None:
        return None
    return max(0.0, datetime.fromisoformat(snapshot.time).timestamp() - oldest / 1e6)


def _topic(name: str, topic: dict[str, Any], snapshot: Snapshot) -> dict[str, Any]:
    progress, report = topic.get("progress", {}), _report(topic)
    received, kept = report.get("received"), topic["edges"]
    files = topic.get("run", {}).get("files", [])
    return {
        "topic": cell(name),
        "complete": bool(topic.get("complete")),
        "exact": topic.get("exact"),
        "ratio": received / kept if received and kept else None,
        "lag": _lag(topic, snapshot),
        "files": len(files),
        "bytes": sum(size for _, size in files),
        **{count: report.get(count) for count in _REPORTED},
        "kept": kept,
        **{count: progress.get(count) for count in _COUNTS},
    }
