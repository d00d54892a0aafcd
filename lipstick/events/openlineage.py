"""OpenLineage events as edges: runs used and generated versions of datasets and their columns.

A dataset that is written again is another version, named after the run that wrote it; a run reads
the version that was the last when it started. Column lineage facets give finer edges, and a
dataset has its columns as members. Only runs that completed have generated anything.

Events are about runs, of which there are few: they are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphquery.reduction import EdgeType
from lipstick.events.errors import MessageError
from lipstick.events.prov import Document

_DONE, _GONE = frozenset({"COMPLETE"}), frozenset({"FAIL", "ABORT"})

Columns = dict[str, dict[str, set[tuple[str, str]]]]


@dataclass(slots=True)
class Run:
    """What the events of a run say together.

    Parameters
    ----------
    name
        Of its job.
    start, end
        Of its first and last event.
    state
        Of the last event that ends it; None while it runs.
    inputs, outputs
        Datasets, and of each its version where a facet says it.
    columns
        Of the outputs' columns, the columns of inputs that they are made of.
    """

    name: str
    start: datetime
    end: datetime
    state: str | None = None
    inputs: dict[str, str | None] = field(default_factory=dict)
    outputs: dict[str, str | None] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lineage:
    """What events say.

    Parameters
    ----------
    document
        The edges.
    completed
        How many runs generated something or might have.
    failed
        How many did not complete: they count for nothing.
    running
        The identifiers of those of which no event says how they ended.
    """

    document: Document
    completed: int
    failed: int
    running: tuple[str, ...]


class Collector:
    """Takes events in any order, each any number of times.

    Parameters
    ----------
    runs
        By identifier, what events have said.
    alias
        By other names of datasets, the one that they are known by.
    """

    def __init__(
        self, runs: Mapping[str, Run] | None = None, alias: Mapping[str, str] | None = None
    ) -> None:
        self.runs = dict(runs or {})
        self.alias = dict(alias or {})

    def add(self, event: Any) -> None:
        """Take an event in; one about a job or dataset without a run says nothing of data.

        Raises
        ------
        MessageError
            When it is no event.
        """
        event = _object(event, "an event")
        time = _time(event.get("eventTime"))
        if "run" not in event and ("job" in event or "dataset" in event):
            return
        identity = _text(_object(event.get("run"), "run").get("runId"), "run.runId")
        job = _object(event.get("job"), "job")
        name = (
            f"{_text(job.get('namespace'), 'job.namespace')}/{_text(job.get('name'), 'job.name')}"
        )
        sides = {
            side: [_object(each, side) for each in _list(event.get(side), side)]
            for side in ("inputs", "outputs")
        }
        named = {side: [(self._dataset(each), each) for each in sides[side]] for side in sides}
        lineage = [(dataset, _columns(each)) for dataset, each in named["outputs"]]
        run = self.runs.setdefault(identity, Run(name, time, time))
        run.start, run.end = min(run.start, time), max(run.end, time)
        kind = event.get("eventType")
        if kind in _DONE | _GONE and (run.state is None or time >= run.end):
            run.state = str(kind)
        for target, side in ((run.inputs, "inputs"), (run.outputs, "outputs")):
            for dataset, each in named[side]:
                target[dataset] = _version(each) or target.get(dataset)
        for dataset, columns in lineage:
            for column, sources in columns.items():
                known = run.columns.setdefault(dataset, {}).setdefault(column, set())
                known |= sources

    @property
    def done(self) -> dict[str, Run]:
        """The runs that completed."""
        return {each: run for each, run in self.runs.items() if run.state in _DONE}

    @property
    def running(self) -> tuple[str, ...]:
        """Those of which no event says how they ended."""
        return tuple(sorted(each for each, run in self.runs.items() if run.state is None))

    def lineage(self) -> Lineage:
        """The edges of all runs that completed."""
        done = self.done
        running = self.running
        versions = Versions(done, self.alias)
        edges: dict[tuple[str, str, EdgeType], None] = {}
        for identity, run in done.items():
            edges.update(dict.fromkeys(versions.edges(identity, run)))
        edges.update(dict.fromkeys(versions.columns_read()))
        failed = len(self.runs) - len(done) - len(running)
        return Lineage(Document(tuple(edges), 0), len(done), failed, running)

    def _dataset(self, dataset: Mapping[str, Any]) -> str:
        """The name of a dataset; its other names (facet symlinks) become aliases of it."""
        name = _dataset_name(dataset)
        symlinks = _facets(dataset).get("symlinks")
        if isinstance(symlinks, Mapping):
            for each in _list(symlinks.get("identifiers"), "symlinks.identifiers"):
                alias = _dataset_name(_object(each, "symlinks.identifiers"))
                if alias != name:
                    self.alias[alias] = name
        return name


class Versions:
    """Which version of a dataset each run read and wrote."""

    def __init__(self, runs: Mapping[str, Run], alias: Mapping[str, str]) -> None:
        self._alias = alias
        self._written: dict[str, list[tuple[datetime, str, str]]] = {}
        self._stated: dict[tuple[str, str], str] = {}
        self._columns: dict[str, set[str]] = {}
        self._read: dict[str, tuple[str, str]] = {}
        for identity, run in runs.items():
            for dataset, version in run.outputs.items():
                name = self._named(dataset)
                entity = f"{name}@{version or identity}"
                self._written.setdefault(name, []).append((run.end, entity, identity))
                if version is not None:
                    self._stated[name, version] = entity
        self._makers = {entity: run for each in self._written.values() for _, entity, run in each}
        for versions in self._written.values():
            versions.sort()

    def edges(self, identity: str, run: Run) -> list[tuple[str, str, EdgeType]]:
        """What a run used and generated."""
        activity = f"run:{identity}"
        read = {
            self._named(d): self._version_read(d, v, run, identity) for d, v in run.inputs.items()
        }
        edges = [(activity, entity, EdgeType.USED) for entity in read.values()]
        for dataset, version in run.outputs.items():
            name = self._named(dataset)
            entity = f"{name}@{version or identity}"
            edges.append((entity, activity, EdgeType.GENERATED))
            for column, sources in run.columns.get(dataset, {}).items():
                column_entity = f"{entity}#{column}"
                self._columns.setdefault(entity, set()).add(column)
                edges.append((entity, column_entity, EdgeType.MEMBER))
                for source, source_column in sorted(sources):
                    base = self._named(source)
                    if base not in read:
                        read[base] = self._version_read(source, None, run, identity)
                    cause = f"{read[base]}#{source_column}"
                    self._read[cause] = (read[base], source_column)
                    edges.append((column_entity, cause, EdgeType.DERIVED))
        return edges

    def columns_read(self) -> list[tuple[str, str, EdgeType]]:
        """Of columns that were read, and of which no facet says what they are made of, the run."""
        return [
            (cause, f"run:{self._makers[entity]}", EdgeType.GENERATED)
            for cause, (entity, column) in self._read.items()
            if entity in self._makers and column not in self._columns.get(entity, ())
        ]

    def _version_read(self, dataset: str, version: str | None, run: Run, identity: str) -> str:
        name = self._named(dataset)
        if version is not None and (name, version) in self._stated:
            return self._stated[name, version]
        # What a run itself wrote is not what it read, whenever it ended.
        before = [
            entity
            for end, entity, by in self._written.get(name, ())
            if end <= run.start and by != identity
        ]
        return before[-1] if before else name

    def _named(self, dataset: str) -> str:
        return self._alias.get(dataset, dataset)


def _columns(dataset: Mapping[str, Any]) -> dict[str, set[tuple[str, str]]]:
    facet = _facets(dataset).get("columnLineage")
    if facet is None:
        return {}
    fields = _object(_object(facet, "columnLineage").get("fields", {}), "columnLineage.fields")
    columns: dict[str, set[tuple[str, str]]] = {}
    for column, lineage in fields.items():
        sources = _list(_object(lineage, "columnLineage").get("inputFields"), "inputFields")
        columns[column] = {
            (_dataset_name(_object(each, "inputFields")), _text(each.get("field"), "field"))
            for each in sources
        }
    return columns


def _version(dataset: Mapping[str, Any]) -> str | None:
    facet = _facets(dataset).get("version")
    version = facet.get("datasetVersion") if isinstance(facet, Mapping) else None
    return None if version is None else str(version)


def _facets(dataset: Mapping[str, Any]) -> Mapping[str, Any]:
    return _object(dataset.get("facets") or {}, "facets")


def _dataset_name(dataset: Mapping[str, Any]) -> str:
    namespace = _text(dataset.get("namespace"), "namespace")
    return f"{namespace}/{_text(dataset.get('name'), 'name')}"


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MessageError(f"{what} is an object in OpenLineage, not {type(value).__name__}")
    return value


def _list(value: Any, what: str) -> Iterable[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise MessageError(f"{what} is a list in OpenLineage, not {type(value).__name__}")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise MessageError(f"{what} is missing")
    return value


def _time(value: Any) -> datetime:
    try:
        time = datetime.fromisoformat(_text(value, "eventTime"))
    except ValueError as error:
        raise MessageError(f"eventTime {value!r} is no time of ISO 8601") from error
    if time.tzinfo is None:
        raise MessageError(f"eventTime {value!r} has no time zone")
    return time
