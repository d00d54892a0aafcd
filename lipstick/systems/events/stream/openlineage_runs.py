"""Runs of OpenLineage in a stream: each is delivered once, when its inputs can no longer change.

The state of all runs is one file: some hundred bytes per run, for the duration of the stream.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any

from graphquery.reduction import EdgeType
from lipstick.systems.events.errors import EventsError, MessageError
from lipstick.systems.events.openlineage import Collector
from lipstick.systems.events.openlineage_versions import RunVersions, VersionedOutput, VersionedRun
from lipstick.systems.events.parse import DeadLetter
from lipstick.systems.events.prov import Document
from lipstick.systems.events.stream.gathered import Gathered, added
from lipstick.systems.events.stream.plan import BatchPlan, TopicPlan

Edge = tuple[str, str, EdgeType]

_FORMAT = 3
_MAPPINGS = ("columns", "fields")
_SETS = ("versions", "changes", "previous", "sources")

_WORKER = "openlineage"
"""The worker of events, which have none of their own, for their times."""


@dataclass(slots=True)
class StreamedRuns:
    """Runs, and digests of the delivered ones.

    Parameters
    ----------
    collector
        Of all events.
    told
        By identifier, a digest of a run's delivered edges.
    """

    collector: Collector = field(default_factory=Collector)
    told: dict[str, str] = field(default_factory=dict)

    @property
    def latest(self) -> int | None:
        """The time of the latest event, in microseconds since 1970."""
        ends = [run.last for run in self.collector.runs.values()]
        return _micros(max(ends)) if ends else None

    def settle(self, before: int | None) -> tuple[Document, list[str]]:
        """Return the edges of runs that completed before a time; None: of all runs.

        A run reads the last version before its start, so its inputs are known once no earlier event
        can arrive.

        Returns
        -------
        tuple
            The edges of runs that were not delivered before; and the runs that were delivered
            differently, before further events of them arrived.
        """
        done = self.collector.done
        versions = RunVersions(done, self.collector.symlinks)
        late = []
        for name in [name for name in self.told if name in done]:
            digest = _digest(versions.edges(name))
            if digest != self.told[name]:
                late.append(name)
                self.told[name] = digest
        told = set(versions.columns_read())
        edges: dict[Edge, None] = {}
        for name, run in done.items():
            due = before is None or (run.completed and _micros(run.until) < before)
            if name not in self.told and due:
                run_edges = list(versions.edges(name))
                self.told[name] = _digest(run_edges)
                edges.update(dict.fromkeys(run_edges))
        edges.update({edge: None for edge in versions.columns_read() if edge not in told})
        return Document(tuple(edges), 0), late

    def document(self) -> dict[str, Any]:
        """Return the runs as JSON."""
        runs = {name: _run_document(run) for name, run in self.collector.runs.items()}
        symlinks = sorted(self.collector.symlinks)
        return {"format": _FORMAT, "runs": runs, "symlinks": symlinks, "told": self.told}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> StreamedRuns:
        """Return the runs of a `document`.

        Raises
        ------
        EventsError
            When another release made it.
        """
        if document.get("format") != _FORMAT:
            raise EventsError(
                "The runs of this job were written by another release of lipstick, which read "
                "OpenLineage differently.\nReduce the events again, into another store."
            )
        runs = {name: _run_of(run) for name, run in document["runs"].items()}
        symlinks = {(tuple(one), tuple(other)) for one, other in document["symlinks"]}
        return cls(Collector(runs, symlinks), dict(document["told"]))


def take_events(plan: BatchPlan, gathered: Gathered, events: Iterable[str]) -> None:
    """Take in the events of a batch."""
    lines = list(events)
    if not lines:
        return
    topic = plan.events_topic
    known = gathered.topics.get(topic, TopicPlan())
    runs = runs_of(plan, known)
    for line in lines:
        try:
            runs.collector.add(json.loads(line))
        except (ValueError, RecursionError, MessageError) as error:
            # A task has read it, with more room for nesting than there is here.
            letter = DeadLetter(f"event of topic {topic}", 0, f"{error}", line)
            gathered.letters.append(letter)
    latest = {} if runs.latest is None else {_WORKER: runs.latest}
    gathered.runs[topic] = runs
    gathered.topics[topic] = added(replace(known, latest=latest), messages=len(lines))


def tell_runs(plan: BatchPlan, gathered: Gathered, topic: str) -> list[DeadLetter]:
    """Emit the edges of runs that are final at the watermark.

    Returns
    -------
    list
        The runs that were delivered differently before, since events arrived too late.
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
    reason = "an event came later than the lateness allows: edges of its run were made without it"
    return [DeadLetter(f"late: {each.replace(':', ' ', 1)}", 0, reason, each) for each in late]


def runs_of(plan: BatchPlan, known: TopicPlan) -> StreamedRuns:
    """Return the runs in the last commit."""
    if known.runs is None:
        return StreamedRuns()
    return StreamedRuns.of(json.loads(bytes(plan.read(known.runs))))


def unfinished(plan: BatchPlan) -> tuple[str, ...]:
    """Return the runs without an end event."""
    return runs_of(plan, plan.topic(plan.events_topic)).collector.running


def _micros(time: datetime) -> int:
    return round(time.timestamp() * 1e6)


def _digest(edges: Iterable[Edge]) -> str:
    text = json.dumps(sorted([source, dest, int(kind)] for source, dest, kind in edges))
    return sha256(text.encode()).hexdigest()[:16]


def _run_document(run: VersionedRun) -> dict[str, Any]:
    return {
        "start": run.start.isoformat(),
        "last": run.last.isoformat(),
        "end": None if run.end is None else [run.end[0].isoformat(), run.end[1]],
        "inputs": [[*dataset, sorted(versions)] for dataset, versions in run.inputs.items()],
        "outputs": [[*dataset, _output_document(each)] for dataset, each in run.outputs.items()],
    }


def _output_document(output: VersionedOutput) -> dict[str, Any]:
    sets = {name: sorted(getattr(output, name)) for name in _SETS}
    document: dict[str, Any] = {name: each for name, each in sets.items() if each}
    if output.lineage is not None:
        document["lineage"] = sorted(output.lineage)
    for name in _MAPPINGS:
        mapping = getattr(output, name)
        document[name] = {column: sorted(sources) for column, sources in mapping.items()}
    return document


def _run_of(document: Mapping[str, Any]) -> VersionedRun:
    end = document["end"]
    return VersionedRun(
        datetime.fromisoformat(document["start"]),
        datetime.fromisoformat(document["last"]),
        None if end is None else (datetime.fromisoformat(end[0]), end[1]),
        {(space, name): set(versions) for space, name, versions in document["inputs"]},
        {(space, name): _output_of(each) for space, name, each in document["outputs"]},
    )


def _output_of(document: Mapping[str, Any]) -> VersionedOutput:
    pairs: Any = {name: set(map(tuple, document.get(name, ()))) for name in ("previous", "sources")}
    texts: Any = {name: set(document.get(name, ())) for name in ("versions", "changes")}
    mappings: Any = {
        name: {column: set(map(tuple, sources)) for column, sources in document[name].items()}
        for name in _MAPPINGS
    }
    lineage: Any = None if "lineage" not in document else set(map(tuple, document["lineage"]))
    return VersionedOutput(**texts, **pairs, **mappings, lineage=lineage)
