"""OpenLineage events as edges: runs used and generated versions of datasets and their columns.

A dataset is a pair of namespace and name; identifiers that symlinks equate are one dataset. Every
run that writes a dataset creates a version of it, which also derives from the previous version,
unless the run reports that it replaced the content. A run reads the last version at its start, or
the one that it names. Column lineage facets give finer edges, and a dataset has its columns as
members. Only completed runs have generated anything. Events of jobs without a run describe every
run of them: their versions have no time.

Events describe runs, and there are few runs: they are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from lipstick.systems.events.decoding import (
    JsonValue,
    Unreadable,
    check_identifier,
    json_values,
    read_bytes,
)
from lipstick.systems.events.errors import MessageError
from lipstick.systems.events.openlineage_versions import (
    COMPLETE,
    ENDS,
    REPLACES,
    Column,
    Dataset,
    Edge,
    RunVersions,
    VersionedOutput,
    VersionedRun,
    escaped,
    is_static,
    named,
)
from lipstick.systems.events.prov import Document

_KINDS = frozenset({*ENDS, "START", "RUNNING", "OTHER"})

_CHANGES = frozenset({*REPLACES, "ALTER"})


@dataclass(frozen=True, slots=True)
class Lineage:
    """The edges of events, with the numbers of runs that completed and failed.

    Parameters
    ----------
    document
        The edges.
    completed
        The number of runs that completed, with or without outputs.
    failed
        The number of runs that did not complete, which are ignored.
    running
        The identifiers of the runs whose end no event reports.
    """

    document: Document
    completed: int
    failed: int
    running: tuple[str, ...]


def events_in(data: bytes) -> Iterator[JsonValue | Unreadable]:
    """Yield the events in the content of a file: one, an array, or several in succession."""
    try:
        yield from json_values(data)
    except MessageError as error:
        yield Unreadable(1, str(error), "")


def read_events(path: Path) -> Iterator[JsonValue | Unreadable]:
    """Return the events of a file; see `events_in`."""
    try:
        data = read_bytes(path)
    except MessageError as error:
        return iter([Unreadable(1, str(error), "")])
    return events_in(data)


class Collector:
    """Takes events in any order, possibly repeated.

    Parameters
    ----------
    runs
        The runs that events have described, by activity.
    symlinks
        Pairs of identifiers of one dataset.
    """

    def __init__(
        self,
        runs: Mapping[str, VersionedRun] | None = None,
        symlinks: Iterable[tuple[Dataset, Dataset]] = (),
    ) -> None:
        self.runs = dict(runs or {})
        self.symlinks = set(symlinks)

    def take(self, found: JsonValue | Unreadable) -> Unreadable | None:
        """Take an event of a file in, or return it with the reason for its refusal."""
        if isinstance(found, Unreadable):
            return found
        try:
            self.add(found.value)
        except MessageError as error:
            return Unreadable(found.line, str(error), found.text)
        return None

    def add(self, event: Any) -> None:
        """Take an event in, as a whole or, if it is malformed, not at all.

        Raises
        ------
        MessageError
            When it is not an event.
        """
        event = _object(event, "an event")
        time = _time(event.get("eventTime"))
        activity, end = _activity(event, time)
        symlinks: set[tuple[Dataset, Dataset]] = set()
        inputs: dict[Dataset, set[str]] = {}
        outputs: dict[Dataset, VersionedOutput] = {}
        if activity.startswith("dataset:"):
            event = {"outputs": [event["dataset"]]}
        for each in _list(event.get("inputs"), "inputs"):
            dataset = _linked(_object(each, "inputs"), symlinks)
            inputs.setdefault(dataset, set()).update(_versions(each))
        for each in _list(event.get("outputs"), "outputs"):
            dataset = _linked(_object(each, "outputs"), symlinks)
            outputs.setdefault(dataset, VersionedOutput()).add(_output(each))
        for dataset, output in _explicit(event, outputs).items():
            outputs.setdefault(dataset, VersionedOutput()).add(output)
        self.symlinks |= symlinks
        if activity.startswith("dataset:"):
            # It is written where its lifecycle changed, or where its lineage is named; other
            # facets say nothing of its content.
            written = (o for o in outputs.items() if o[1].changes or o[1].lineage is not None)
            outputs = dict(written)
            activity += "".join(f"|{named(name)}" for name in outputs).replace("/", "%2F")
        if inputs or outputs or "run" in event:
            said = VersionedRun(time, time, end, inputs, outputs)
            if activity in self.runs:
                self.runs[activity].add(said)
            else:
                self.runs[activity] = said

    @property
    def done(self) -> dict[str, VersionedRun]:
        """The completed runs, and jobs described without a run."""
        return {n: run for n, run in self.runs.items() if run.completed or is_static(n)}

    @property
    def running(self) -> tuple[str, ...]:
        """The identifiers of the runs without an end, in ascending order."""
        return tuple(
            sorted(
                name.removeprefix("run:")
                for name, run in self.runs.items()
                if run.end is None and not is_static(name)
            )
        )

    def lineage(self) -> Lineage:
        """Return the edges of all completed runs."""
        done = self.done
        running = self.running
        versions = RunVersions(done, self.symlinks)
        edges: dict[Edge, None] = {}
        for name in done:
            edges.update(dict.fromkeys(versions.edges(name)))
        edges.update(dict.fromkeys(versions.columns_read()))
        failed = len(self.runs) - len(done) - len(running)
        return Lineage(Document(tuple(edges), 0), len(done), failed, running)


def _activity(event: Mapping[str, Any], time: datetime) -> tuple[str, tuple[datetime, str] | None]:
    """Return the activity of an event, and the time and type of its end if the event ends it."""
    if "run" in event:
        run = _text(_object(event["run"], "run").get("runId"), "run.runId")
        _dataset(_object(event.get("job"), "job"), "job.")
        kind = event.get("eventType")
        if kind is not None and (not isinstance(kind, str) or kind not in _KINDS):
            kinds = ", ".join(sorted(_KINDS))
            raise MessageError(f"eventType {str(kind)[:80]!r} is none of {kinds}")
        return f"run:{escaped(run, '/')}", (time, kind) if kind in ENDS else None
    if "job" in event:
        name = _dataset(_object(event["job"], "job"), "job.")
        return f"job:{'|'.join(escaped(each, '/|') for each in name)}", None
    if "dataset" in event:
        _object(event["dataset"], "dataset")
        return f"dataset:{time.isoformat()}", (time, COMPLETE)
    raise MessageError("an event has a run, a job or a dataset, and this has none of them")


def _linked(document: Mapping[str, Any], symlinks: set[tuple[Dataset, Dataset]]) -> Dataset:
    """Return the identifier of a dataset, and record the aliases in its symlinks facet."""
    dataset = _dataset(document)
    facet = _object(_facets(document).get("symlinks") or {}, "symlinks")
    for each in _list(facet.get("identifiers"), "symlinks.identifiers"):
        other = _dataset(_object(each, "symlinks.identifiers"), "symlinks.")
        if other != dataset:
            symlinks.add((dataset, other))
    return dataset


def _output(document: Mapping[str, Any]) -> VersionedOutput:
    facets = _facets(document)
    output = VersionedOutput(_versions(document))
    change = _object(facets.get("lifecycleStateChange") or {}, "lifecycleStateChange")
    kind = change.get("lifecycleStateChange")
    if kind is not None:
        if not isinstance(kind, str) or kind not in _CHANGES:
            raise MessageError(
                f"lifecycleStateChange {str(kind)[:80]!r} is none of {', '.join(sorted(_CHANGES))}"
            )
        output.changes.add(kind)
    if change.get("previousIdentifier") is not None:
        previous = _object(change["previousIdentifier"], "previousIdentifier")
        output.previous.add(_dataset(previous, "previousIdentifier."))
    lineage = _object(facets.get("columnLineage") or {}, "columnLineage")
    fields = _object(lineage.get("fields") or {}, "columnLineage.fields")
    for column, each in fields.items():
        sources = _object(each, "columnLineage.fields").get("inputFields")
        output.columns[_text(column, "a column of columnLineage.fields")] = _columns(
            sources, "inputFields"
        )
    output.sources = _columns(lineage.get("dataset"), "columnLineage.dataset")
    return output


def _explicit(
    event: Mapping[str, Any], outputs: Iterable[Dataset]
) -> dict[Dataset, VersionedOutput]:
    """Return the lineage of datasets in the lineage facets of an event's job or dataset.

    A facet of a job is complete: an output that it does not name has no source.

    Raises
    ------
    MessageError
        A facet names another job or run as a source or target: such lineage is not followed.
    """
    if "job" not in event:
        document = event["outputs"][0]
        facet = _facets(document).get("lineage")
        return {} if facet is None else {_dataset(document): _lineage_of(_object(facet, "lineage"))}
    facet = _facets(_object(event["job"], "job")).get("lineage")
    if facet is None:
        return {}
    found = {dataset: VersionedOutput(lineage=set()) for dataset in outputs}
    for each in _list(_object(facet, "lineage").get("entries"), "lineage.entries"):
        entry = _object(each, "lineage.entries")
        if _is_dataset(entry):
            output = found.setdefault(_dataset(entry, "lineage.entries."), VersionedOutput())
            output.add(_lineage_of(entry))
        else:
            _sources(entry.get("inputs"))  # what the job itself consumes
    return found


def _lineage_of(entry: Mapping[str, Any]) -> VersionedOutput:
    fields = {
        _text(column, "a field of lineage"): _sources(_object(each, "fields").get("inputs"))
        for column, each in _object(entry.get("fields") or {}, "lineage.fields").items()
    }
    return VersionedOutput(lineage=_sources(entry.get("inputs")), fields=fields)


def _sources(values: Any) -> set[Column]:
    """Return the datasets and columns among the sources of an entry."""
    sources = set()
    for each in _list(values, "lineage.inputs"):
        source = _object(each, "lineage.inputs")
        if _is_dataset(source):
            column = source.get("field")
            field = "" if column is None else _text(column, "lineage.inputs.field")
            sources.add((*_dataset(source, "lineage.inputs."), field))
    return sources


def _is_dataset(entity: Mapping[str, Any]) -> bool:
    """Return True for a dataset, and False for the event's own job."""
    kind = entity.get("type")
    if kind == "DATASET":
        return True
    if kind != "JOB":
        raise MessageError(f"lineage: type {str(kind)[:80]!r} is none of DATASET, JOB")
    if entity.get("name") is not None or entity.get("runId") is not None:
        raise MessageError("lineage from or to another job or run is not followed")
    return False


def _columns(values: Any, what: str) -> set[Column]:
    """Return columns of datasets."""
    columns = set()
    for each in _list(values, what):
        source = _object(each, what)
        columns.add((*_dataset(source, f"{what}."), _text(source.get("field"), f"{what}.field")))
    return columns


def _versions(document: Mapping[str, Any]) -> set[str]:
    facet = _object(_facets(document).get("version") or {}, "version")
    version = facet.get("datasetVersion")
    if isinstance(version, int) and not isinstance(version, bool):
        version = str(version)
    return set() if version is None else {_text(version, "version.datasetVersion")}


def _facets(document: Mapping[str, Any]) -> Mapping[str, Any]:
    return _object(document.get("facets") or {}, "facets")


def _dataset(document: Mapping[str, Any], where: str = "") -> Dataset:
    """Return the namespace and name of a dataset or job."""
    return (
        _text(document.get("namespace"), f"{where}namespace"),
        _text(document.get("name"), f"{where}name"),
    )


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
    if value is None or value == "":
        raise MessageError(f"{what} is missing")
    if not isinstance(value, str):
        raise MessageError(f"{what} is a text in OpenLineage, not {type(value).__name__}")
    return check_identifier(value)


def _time(value: Any) -> datetime:
    try:
        time = datetime.fromisoformat(_text(value, "eventTime"))
    except ValueError as error:
        raise MessageError(f"eventTime {value[:80]!r} is not a time of ISO 8601") from error
    if time.tzinfo is None:
        raise MessageError(f"eventTime {value!r} has no time zone")
    return time
