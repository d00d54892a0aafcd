"""Captures and statements as OpenLineage events with column lineage.

The events are of the classes of ``openlineage-python``, whose client sends them by the transport
that it is configured for: HTTP, a file, a topic or the console.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphquery.exchange.openlineage_events import (
    PRODUCER,
    LineageRun,
    OutputLineage,
    check_installed,
    column_facet,
    dataset_event,
    parent_from_environment,
    parent_run,
    run_events,
)
from lipstick.errors import CaptureError, LipstickError, first_line
from lipstick.openlineage.output_lineage import output_lineage

if TYPE_CHECKING:
    from openlineage.client.client import Event
    from openlineage.client.event_v2 import RunEvent

    from lipstick.capture.capture import Capture
    from lipstick.frame import AnnotatedFrame
    from lipstick.histories.history import TableHistory

__all__ = [
    "LineageRun",
    "OutputLineage",
    "capture_events",
    "dataset_event",
    "emit",
    "output_lineage",
    "parent_from_environment",
    "parent_run",
    "run_events",
    "run_identity",
    "statement_events",
]

CAPTURE_FACET = "lipstick_capture"
_SCHEMA = "urn:lipstick:openlineage:1-0-0:CaptureDatasetFacet.json#/$defs/CaptureDatasetFacet"


def lineage_facet(query: AnnotatedFrame | Capture, namespace: str = "lipstick") -> dict[str, Any]:
    """Return the columns behind each column of an answer as the facet `columnLineage`, 1-2-0."""
    manifest = query._captured.manifest
    output = output_lineage(manifest.root, manifest.names, manifest.relations, {})
    from openlineage.client.serde import Serde

    return Serde.to_dict(column_facet(output, namespace))


def capture_events(
    capture: Capture,
    namespace: str = "lipstick",
    *,
    dataset: str | None = None,
    explorer: str | None = None,
) -> list[RunEvent]:
    """Return the START and COMPLETE events of the run behind a capture.

    Its inputs are all relations that the query reads, in subqueries too.

    Parameters
    ----------
    namespace
        The namespace of the job and of the datasets, which have the names of relations.
    dataset
        The table that has the answer; None: it is called like the capture's folder.
    explorer
        The URL at which an explorer shows the capture.

    Raises
    ------
    GraphError
        ``openlineage-python`` is missing, or a parent run in the environment cannot be read.
    CaptureError
        The capture has no files of its own: it is in memory.
    """
    check_installed()
    folder = capture.directory.resolve()
    times = sorted(path.stat().st_mtime for path in folder.rglob("*") if path.is_file())
    if not times:
        raise CaptureError(f"{folder} has no files.\nSave the capture: capture.save(path).")
    start, end = (datetime.fromtimestamp(time, UTC) for time in (times[0], times[-1]))
    manifest, job = capture.manifest, folder.name
    inputs = {name: _versions(record.versions) for name, record in manifest.relations.items()}
    output = output_lineage(
        capture.memory.engine.root,
        manifest.names,
        inputs,
        {CAPTURE_FACET: _capture_facet(folder.as_uri(), explorer)},
    )
    run = LineageRun(
        identity=run_identity(namespace, folder.as_uri(), end.isoformat()),
        job=job,
        start=start,
        end=end,
        inputs=inputs,
        outputs={dataset or job: output},
        query=capture.query,
        parent=parent_from_environment(),
    )
    return run_events(run, namespace)


def statement_events(
    history: TableHistory,
    namespace: str = "lipstick",
    times: Mapping[str, tuple[datetime, datetime]] | None = None,
) -> list[RunEvent]:
    """Return the START and COMPLETE events of every statement of a history.

    Parameters
    ----------
    times
        By the names of statements, their start and end. By default both are the time at which the
        version that a statement made was committed.

    Raises
    ------
    CaptureError
        The versions are data frames, which have no time, and none is given.
    """
    check_installed()
    parent, events = parent_from_environment(), []
    committed = {table: _commit_times(history, table) for table in history.tables}
    for step in history._steps:
        table = history._name_of(step.table)
        time = committed[table].get(step.version)
        start, end = (times or {}).get(step.name, (time, time))
        if start is None or end is None:
            raise CaptureError(
                f"When {step.name!r} ran is not known: the versions of {table} are data frames.\n"
                f"Give its start and end: times={{{step.name!r}: (start, end)}}."
            )
        before = history._chains[table].before_step(step)
        inputs: dict[str, dict[str, Any]] = {name: {} for name in history._read_by(step)}
        if table in inputs:
            inputs[table] = _versions([before])
        facets = _versions([step.version])
        try:
            frame, datasets = history._annotated_step(step)
        except LipstickError:  # no rule for its text: what it reads is known all the same
            output = OutputLineage(tuple(inputs), facets=facets)
        else:
            output = output_lineage(frame.plan.root, frame.columns, inputs, facets, datasets)
        run = LineageRun(
            identity=run_identity(namespace, table, step.name, end.isoformat()),
            job=f"{table}.{step.name}",
            start=start,
            end=end,
            inputs=inputs,
            outputs={table: output},
            query=step.statement.text,
            parent=parent,
        )
        events += run_events(run, namespace)
    return events


def _commit_times(history: TableHistory, table: str) -> dict[int, datetime]:
    version = history._tracked[history._relations[table.lower()].lower()].source.version
    return {} if version is None else {each.version: each.time for each in version.history()}


def run_identity(*words: str) -> str:
    """Return the id of a run: the same for the same words."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join(words)))


def _versions(versions: Sequence[Any]) -> dict[str, Any]:
    """Return the facet of the version that a table was read or written at."""
    from openlineage.client.facet_v2 import dataset_version_dataset

    numbers = {str(getattr(version, "version", version)) for version in versions}
    if len(numbers) != 1:
        return {}
    facet = dataset_version_dataset.DatasetVersionDatasetFacet(numbers.pop(), producer=PRODUCER)
    return {"version": facet}


def _capture_facet(address: str, explorer: str | None) -> Any:
    import attr
    from openlineage.client.generated.base import DatasetFacet

    @attr.define
    class CaptureDatasetFacet(DatasetFacet):
        """See ``CaptureDatasetFacet.json``."""

        address: str
        explorer: str | None = attr.field(default=None)

        @staticmethod
        def _get_schema() -> str:
            return _SCHEMA

    return CaptureDatasetFacet(address, explorer, producer=PRODUCER)


def emit(events: Iterable[Event], output: Path | None, *, send: bool) -> str:
    """Send events by the transport that OpenLineage's client is configured for, or return lines.

    Parameters
    ----------
    output
        The file to write a line of JSON per event to; None: the lines are returned.
    send
        True: send them, and return "".

    Raises
    ------
    LipstickError
        An event could not be sent.
    """
    check_installed()
    from openlineage.client import OpenLineageClient
    from openlineage.client.serde import Serde

    if send:
        try:
            client = OpenLineageClient()
            for event in events:
                client.emit(event)
            client.close()
        except Exception as error:  # of whichever transport
            raise LipstickError(
                f"OpenLineage's client could not send the events: {first_line(error)}\n"
                "Look at OPENLINEAGE_URL, OPENLINEAGE__TRANSPORT__* or openlineage.yml."
            ) from error
        return ""
    lines = "".join(f"{Serde.to_json(event, ensure_ascii=False)}\n" for event in events)
    if output is not None:
        output.write_text(lines, encoding="utf-8")
        return ""
    return lines
