"""Runs of OpenLineage in a stream: each is told once, when what it read cannot change any more.

What is known of runs is one file of state: some hundred bytes for every run, as long as the stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from graphquery.reduction import EdgeType
from lipstick.events.openlineage import Collector, Run, Versions
from lipstick.events.parse import DeadLetter
from lipstick.events.prov import Document
from lipstick.events.stream.gathered import Gathered, added
from lipstick.events.stream.plan import BatchPlan, TopicPlan

Edge = tuple[str, str, EdgeType]

_WORKER = "openlineage"
"""Events have no worker of their own that a time could be of."""


@dataclass(slots=True)
class StreamedRuns:
    """Runs, and which of them were told.

    Parameters
    ----------
    collector
        Of all events.
    told
        By identifier, a digest of the edges that were told of a run.
    """

    collector: Collector = field(default_factory=Collector)
    told: dict[str, str] = field(default_factory=dict)

    @property
    def latest(self) -> int | None:
        """The time of the latest event, in microseconds since 1970."""
        ends = [run.end for run in self.collector.runs.values()]
        return _micros(max(ends)) if ends else None

    def settle(self, before: int | None) -> tuple[Document, list[str]]:
        """Tell runs that completed before a time; None: all.

        A run reads the last version before its start, so that all that it read is known when no
        earlier event is to come.

        Returns
        -------
        tuple
            The edges of runs that were not told before; and those that were told otherwise than
            what has come since says.
        """
        done = self.collector.done
        versions = Versions(done, self.collector.alias)
        late = []
        for name in [name for name in self.told if name in done]:
            digest = _digest(versions.edges(name, done[name]))
            if digest != self.told[name]:
                late.append(name)
                self.told[name] = digest
        columns = set(versions.columns_read())
        edges: dict[Edge, None] = {}
        for name, run in done.items():
            if name not in self.told and (before is None or _micros(run.end) < before):
                run_edges = versions.edges(name, run)
                self.told[name] = _digest(run_edges)
                edges.update(dict.fromkeys(run_edges))
        edges.update({edge: None for edge in versions.columns_read() if edge not in columns})
        return Document(tuple(edges), 0), late

    def document(self) -> dict[str, Any]:
        """All as JSON."""
        runs = {name: _run_document(run) for name, run in self.collector.runs.items()}
        return {"runs": runs, "alias": self.collector.alias, "told": self.told}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> StreamedRuns:
        """The runs that `document` made JSON of."""
        runs = {name: _run_of(run) for name, run in document["runs"].items()}
        return cls(Collector(runs, document["alias"]), dict(document["told"]))


def take_events(plan: BatchPlan, gathered: Gathered, events: Iterable[str]) -> None:
    """Take the events of a batch in."""
    lines = list(events)
    if not lines:
        return
    topic = plan.events_topic
    known = gathered.topics.get(topic, TopicPlan())
    runs = runs_of(plan, known)
    for line in lines:
        runs.collector.add(json.loads(line))
    latest = {} if runs.latest is None else {_WORKER: runs.latest}
    gathered.runs[topic] = runs
    gathered.topics[topic] = added(replace(known, latest=latest), messages=len(lines))


def tell_runs(plan: BatchPlan, gathered: Gathered, topic: str) -> list[DeadLetter]:
    """Let the edges of runs be delivered that can be told now.

    Returns
    -------
    list
        The runs that were told otherwise before, since events came later than was said.
    """
    known = gathered.topics[topic]
    if topic not in gathered.runs and known.runs is None:
        return []
    runs = gathered.runs.get(topic) or runs_of(plan, known)
    if known.watermark is None and not known.sealed:
        document, late = Document((), 0), list[str]()
    else:
        document, late = runs.settle(None if known.sealed else known.watermark)
    if topic not in gathered.runs and not document.edges and not late:
        return []
    if document.edges:
        gathered.fresh[topic] = document.partial(plan.semiring)
    name = plan.write(json.dumps(runs.document()).encode(), "runs", "json")
    gathered.topics[topic] = added(
        replace(known, runs=name), received=len(document.edges), late=len(late)
    )
    reason = "an event came later than was said: what this run read or wrote was told without it"
    return [DeadLetter(f"late: run {each}", 0, reason, each) for each in late]


def runs_of(plan: BatchPlan, known: TopicPlan) -> StreamedRuns:
    """The runs that the last commit has."""
    if known.runs is None:
        return StreamedRuns()
    return StreamedRuns.of(json.loads(bytes(plan.read(known.runs))))


def unfinished(plan: BatchPlan) -> tuple[str, ...]:
    """Runs that no event ends."""
    return runs_of(plan, plan.topic(plan.events_topic)).collector.running


def _micros(time: datetime) -> int:
    return round(time.timestamp() * 1e6)


def _digest(edges: Iterable[Edge]) -> str:
    text = json.dumps(sorted([source, dest, int(kind)] for source, dest, kind in edges))
    return sha256(text.encode()).hexdigest()[:16]


def _run_document(run: Run) -> dict[str, Any]:
    columns = {
        dataset: {column: sorted(sources) for column, sources in each.items()}
        for dataset, each in run.columns.items()
    }
    times = {"start": run.start.isoformat(), "end": run.end.isoformat()}
    return {**asdict(run), **times, "columns": columns}


def _run_of(document: Mapping[str, Any]) -> Run:
    columns = {
        dataset: {column: {(name, at) for name, at in sources} for column, sources in each.items()}
        for dataset, each in document["columns"].items()
    }
    times = {name: datetime.fromisoformat(document[name]) for name in ("start", "end")}
    return Run(**{**document, **times, "columns": columns})
