"""Runs of dbt as events of OpenLineage: the inputs of each model, and the lineage of its
columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from lipstick.openlineage import (
    LineageRun,
    OutputLineage,
    dataset_event,
    output_lineage,
    parent_from_environment,
    parent_run,
    run_events,
    run_identity,
)
from lipstick.questions.checks.dbt import read_artifact
from lipstick.systems.dbt.manifest import BEFORE
from lipstick.systems.dbt.project import Refusal
from lipstick.systems.dbt.schemas import NodeSchemas
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from openlineage.client.client import Event

    from lipstick.systems.dbt.manifest import DbtNode
    from lipstick.systems.dbt.questions import TrackedProject


def project_events(tracked: TrackedProject, namespace: str = "lipstick") -> list[Event]:
    """Return the events of the last run of a project, and of every model that it built.

    The runs of models are part of dbt's run, and that of the run that an orchestrator names in the
    environment. A project that was compiled and not run has events of its datasets instead.

    Parameters
    ----------
    namespace
        The namespace of jobs and datasets, which have dbt's names of their tables.

    Raises
    ------
    GraphError
        ``openlineage-python`` is missing, or a parent run in the environment cannot be read.
    LipstickError
        The results of the run are of another form than dbt Core 1.x writes.
    """
    with NodeSchemas(tracked) as schemas:
        lineage = {node.id: _lineage(tracked, schemas, node) for node in _built(tracked)}
    path = tracked.project.target / "run_results.json"
    results = read_artifact(path, "run-results") if path.exists() else {}
    try:
        timed = {each["unique_id"]: each for each in results.get("results", ()) if each["timing"]}
        ran = [node for node in _built(tracked) if node.id in timed]
        if not ran:
            time = datetime.fromtimestamp(
                (tracked.project.target / "manifest.json").stat().st_mtime, UTC
            )
            return [
                dataset_event(dataset_name(node), lineage[node.id], time, namespace)
                for node in _built(tracked)
            ]
        return list(_run_events(tracked, namespace, results, timed, ran, lineage))
    except (KeyError, TypeError, ValueError) as error:
        raise LipstickError(
            f"{path} is of another form than dbt Core 1.x writes: {error!r}\nRun dbt again."
        ) from error


def dataset_name(node: DbtNode) -> str:
    """Return the name of a node's table, with its schema; seeds without one have their own name."""
    return ".".join(node.relation) or node.title


def _built(tracked: TrackedProject) -> list[DbtNode]:
    """Return the models and snapshots that have a table or view, in a build order."""
    return [node for node in tracked.project.models if node.materialized != "ephemeral"]


def _run_events(
    tracked: TrackedProject,
    namespace: str,
    results: dict[str, Any],
    timed: dict[str, Any],
    ran: list[DbtNode],
    lineage: dict[str, OutputLineage],
) -> Iterator[Event]:
    project, metadata = tracked.project.manifest.name, results["metadata"]
    end = datetime.fromisoformat(metadata["generated_at"])
    start = end - timedelta(seconds=float(results.get("elapsed_time") or 0))
    errors = {
        node.id: str(timed[node.id].get("message") or timed[node.id]["status"])
        for node in ran
        if timed[node.id]["status"] not in ("success", "pass")
    }
    failed = "\n".join(f"{dataset_name(n)}: {errors[n.id]}" for n in ran if n.id in errors)
    whole = LineageRun(
        identity=metadata["invocation_id"],
        job=project,
        start=start,
        end=end,
        inputs={},
        outputs={},
        parent=parent_from_environment(),
        error=failed or None,
    )
    events = run_events(whole, namespace)
    yield events[0]
    parent = parent_run(namespace, project, whole.identity, whole.parent)
    for node in ran:
        result = timed[node.id]
        times = [datetime.fromisoformat(each["started_at"]) for each in result["timing"]]
        done = [datetime.fromisoformat(each["completed_at"]) for each in result["timing"]]
        output = lineage[node.id]
        run = LineageRun(
            identity=run_identity(namespace, whole.identity, node.id),
            job=f"{project}.{node.title}",
            start=min(times),
            end=max(done),
            inputs={name: {} for name in output.inputs or ()},
            outputs={dataset_name(node): output},
            query=node.compiled,
            parent=parent,
            error=errors.get(node.id),
        )
        yield from run_events(run, namespace)
    yield events[1]


def _lineage(tracked: TrackedProject, schemas: NodeSchemas, node: DbtNode) -> OutputLineage:
    """Return the lineage of a model: the columns of its tables, if it is followed."""
    project = tracked.project
    if isinstance(project.text(node), Refusal):
        nodes = project.manifest.nodes
        return OutputLineage(
            tuple(dataset_name(nodes[parent]) for parent in node.parents if parent in nodes)
        )
    names = {
        project.names[each.id]: dataset_name(node if each.id.endswith(BEFORE) else each)
        for each in project.read_by(node)
    }
    if project.merge(node) is not None:
        names[project.names[f"{node.id}{BEFORE}"]] = dataset_name(node)
    inputs = dict.fromkeys(names.values())
    answer = schemas.annotated(node)
    if isinstance(answer, Refusal) or not names.keys() >= answer.plan.relations.keys():
        return OutputLineage(tuple(inputs))
    return output_lineage(answer.plan.root, answer.columns, inputs, {}, names)
