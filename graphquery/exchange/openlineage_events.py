"""Runs as events of OpenLineage, in the classes of the package ``openlineage-python``.

What a run has read and written becomes the facets ``columnLineage`` of its outputs and, where the
inputs of each output are known, ``lineage`` of its job, which consumers prefer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from graphquery.errors import GraphError

if TYPE_CHECKING:
    from openlineage.client.event_v2 import DatasetEvent, RunEvent
    from openlineage.client.generated.column_lineage_dataset import ColumnLineageDatasetFacet
    from openlineage.client.generated.lineage import LineageDatasetInput, LineageFieldEntry
    from openlineage.client.generated.parent_run import ParentRunFacet

PRODUCER = "urn:lipstick:producer"

Parts: TypeAlias = Mapping[tuple[str, str], Sequence[tuple[str, str | None]]]
"""By dataset and column, the kinds and subtypes of the column's influence on another column."""


@dataclass(frozen=True, slots=True)
class OutputLineage:
    """The lineage of an output dataset.

    Attributes
    ----------
    inputs
        The datasets that it derives from; None: some of the run's inputs, not known which.
    columns
        By column, the columns behind it.
    deciding
        The columns that decide which rows the output has.
    facets
        Other facets of the dataset.
    """

    inputs: tuple[str, ...] | None = None
    columns: Mapping[str, Parts] = field(default_factory=dict)
    deciding: Parts = field(default_factory=dict)
    facets: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LineageRun:
    """A run of a job, for its events.

    Attributes
    ----------
    identity
        The id of the run, a UUID.
    start, end
        With time zones.
    inputs
        By dataset, its facets.
    outputs
        By dataset, its lineage.
    query
        The text in SQL, if any.
    parent
        The parent run, if known.
    error
        The error of a failed run, else None.
    """

    identity: str
    job: str
    start: datetime
    end: datetime
    inputs: Mapping[str, Mapping[str, Any]]
    outputs: Mapping[str, OutputLineage]
    query: str | None = None
    parent: ParentRunFacet | None = None
    error: str | None = None


def check_installed() -> None:
    """Raise :class:`GraphError` without the package ``openlineage-python``."""
    try:
        import openlineage.client.generated.lineage  # noqa: F401
    except ImportError as error:
        raise GraphError(
            "Events of OpenLineage need the package openlineage-python, from 1.54 on.\n"
            "Install lipstick-spark[openlineage]."
        ) from error


def run_events(run: LineageRun, namespace: str, producer: str = PRODUCER) -> list[RunEvent]:
    """Return the START event of a run and its end event.

    Parameters
    ----------
    namespace
        The namespace of the job and the datasets.
    producer
        A URI of the system that ran the job.

    Raises
    ------
    GraphError
        A time has no time zone, the end is before the start, or the package is missing.
    """
    check_installed()
    from openlineage.client import event_v2 as ol
    from openlineage.client.facet_v2 import error_message_run

    if run.start.tzinfo is None or run.end.tzinfo is None:
        raise GraphError(f"The times of {run.job} have no time zone.\nGive them in UTC.")
    if run.end < run.start:
        raise GraphError(f"{run.job} ended at {run.end}, before it started at {run.start}.")
    of_job = _job_facets(run, namespace, producer)
    of_run = {} if run.parent is None else {"parent": run.parent}
    ends: Any = ol.RunState.COMPLETE
    at_end: dict[str, Any] = dict(of_run)
    if run.error is not None:
        ends = ol.RunState.FAIL
        at_end["errorMessage"] = error_message_run.ErrorMessageRunFacet(
            run.error, "SQL", producer=producer
        )
    return [
        ol.RunEvent(
            eventType=state,
            eventTime=time.isoformat(),
            producer=producer,
            run=ol.Run(run.identity, facets=dict(facets)),
            job=ol.Job(namespace, run.job, facets=dict(of_job)),
            inputs=[
                ol.InputDataset(namespace, name, facets=dict(facets))
                for name, facets in run.inputs.items()
            ],
            outputs=[
                ol.OutputDataset(
                    namespace, name, facets=_output_facets(output, namespace, producer)
                )
                for name, output in run.outputs.items()
            ],
        )
        for state, time, facets in (
            (ol.RunState.START, run.start, of_run),
            (ends, run.end, at_end),
        )
    ]


def _job_facets(run: LineageRun, namespace: str, producer: str) -> dict[str, Any]:
    """Return the text of a job, and where each of its outputs comes from."""
    from openlineage.client.facet_v2 import sql_job
    from openlineage.client.generated import lineage

    facets: dict[str, Any] = {}
    if run.query is not None:
        facets["sql"] = sql_job.SQLJobFacet(run.query, "spark", producer=producer)
    entries: list[lineage.LineageEntry] = [
        lineage.LineageDatasetEntry(
            namespace,
            name,
            "DATASET",
            inputs=_dataset_inputs(output, namespace),
            fields=_fields(output, namespace),
        )
        for name, output in run.outputs.items()
        if output.inputs is not None
    ]
    if entries:
        facets["lineage"] = lineage.LineageJobFacet(entries, producer=producer)
    return facets


def dataset_event(
    name: str, output: OutputLineage, time: datetime, namespace: str, producer: str = PRODUCER
) -> DatasetEvent:
    """Return the event of a dataset with known lineage and no run that wrote it."""
    check_installed()
    from openlineage.client import event_v2 as ol
    from openlineage.client.generated import lineage

    facets = _output_facets(output, namespace, producer)
    facets["lineage"] = lineage.LineageDatasetFacet(
        inputs=_dataset_inputs(output, namespace),
        fields=_fields(output, namespace),
        producer=producer,
    )
    return ol.DatasetEvent(
        eventTime=time.isoformat(),
        producer=producer,
        dataset=ol.StaticDataset(namespace, name, facets=facets),
    )


def column_facet(
    output: OutputLineage, namespace: str, producer: str = PRODUCER
) -> ColumnLineageDatasetFacet:
    """Return the facet ``columnLineage`` of an output."""
    check_installed()
    from openlineage.client.generated import column_lineage_dataset as ol

    def inputs(parts: Parts) -> list[ol.InputField]:
        return [
            ol.InputField(
                namespace,
                dataset,
                column,
                [ol.Transformation(kind, subtype) for kind, subtype in transformations],
            )
            for (dataset, column), transformations in parts.items()
        ]

    return ol.ColumnLineageDatasetFacet(
        {name: ol.Fields(inputs(parts)) for name, parts in output.columns.items()},
        inputs(output.deciding),
        producer=producer,
    )


def _output_facets(output: OutputLineage, namespace: str, producer: str) -> dict[str, Any]:
    facets = dict(output.facets)
    if output.columns:
        facets["columnLineage"] = column_facet(output, namespace, producer)
    return facets


def _dataset_inputs(output: OutputLineage, namespace: str) -> list[Any]:
    """Return the inputs of an output as a whole: datasets, and the columns that decide its rows."""
    from openlineage.client.generated import lineage

    whole = [lineage.LineageDatasetInput(namespace, n, "DATASET") for n in output.inputs or ()]
    return [*whole, *_lineage_inputs(output.deciding, namespace)]


def _fields(output: OutputLineage, namespace: str) -> dict[str, LineageFieldEntry]:
    from openlineage.client.generated import lineage

    return {
        name: lineage.LineageFieldEntry([*_lineage_inputs(parts, namespace)])
        for name, parts in output.columns.items()
    }


def _lineage_inputs(parts: Parts, namespace: str) -> Iterator[LineageDatasetInput]:
    from openlineage.client.generated import lineage

    for (dataset, column), transformations in parts.items():
        yield lineage.LineageDatasetInput(
            namespace,
            dataset,
            "DATASET",
            column,
            [lineage.LineageTransformation(kind, subtype) for kind, subtype in transformations],
        )


def parent_from_environment(producer: str = PRODUCER) -> ParentRunFacet | None:
    """Return the parent run that an orchestrator names in the environment, or None.

    ``OPENLINEAGE_CONTEXT`` is JSON: ``{"parent": {"run": {"runId": ...}, "job": {"namespace": ...,
    "name": ...}, "root": ...}}``; ``OPENLINEAGE_PARENT_ID`` and ``OPENLINEAGE_ROOT_PARENT_ID`` are
    ``namespace/job/run``. Airflow's macro ``lineage_parent_id`` and the integration of dbt write
    them.

    Raises
    ------
    GraphError
        A variable is of another form.
    """
    given = os.environ.get("OPENLINEAGE_CONTEXT")
    if given:
        try:
            parent = json.loads(given)["parent"]
            own = _identity(parent)
            root = _identity(parent["root"]) if parent.get("root") else own
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise GraphError(
                'OPENLINEAGE_CONTEXT is not {"parent": {"run": {"runId": ...}, "job": '
                f'{{"namespace": ..., "name": ...}}}}}}: {given}'
            ) from error
        return _parent(own, root, producer)
    named = os.environ.get("OPENLINEAGE_PARENT_ID")
    if not named:
        return None
    own = _split("OPENLINEAGE_PARENT_ID", named)
    rooted = os.environ.get("OPENLINEAGE_ROOT_PARENT_ID")
    return _parent(own, _split("OPENLINEAGE_ROOT_PARENT_ID", rooted) if rooted else own, producer)


def _identity(given: Any) -> tuple[str, str, str]:
    return given["job"]["namespace"], given["job"]["name"], str(UUID(given["run"]["runId"]))


def _split(variable: str, text: str) -> tuple[str, str, str]:
    # A namespace may be a URI with slashes; a job of Airflow and a run have none.
    namespace, _, rest = text.rpartition("/")
    namespace, _, job = namespace.rpartition("/")
    try:
        if namespace and job:
            return namespace, job, str(UUID(rest))
    except ValueError:
        pass
    raise GraphError(f"{variable} is not NAMESPACE/JOB/RUN, with a UUID as run: {text}")


def _parent(own: tuple[str, str, str], root: tuple[str, str, str], producer: str) -> ParentRunFacet:
    check_installed()
    from openlineage.client.generated import parent_run as ol

    return ol.ParentRunFacet(
        run=ol.Run(own[2]),
        job=ol.Job(own[0], own[1]),
        root=ol.Root(run=ol.RootRun(root[2]), job=ol.RootJob(root[0], root[1])),
        producer=producer,
    )


def parent_run(
    namespace: str,
    job: str,
    run: str,
    parent: ParentRunFacet | None = None,
    producer: str = PRODUCER,
) -> ParentRunFacet:
    """Return the facet ``parent`` of runs that are part of another run."""
    own = root = (namespace, job, run)
    if parent is not None and parent.root is not None:
        root = parent.root.job.namespace, parent.root.job.name, parent.root.run.runId
    return _parent(own, root, producer)
