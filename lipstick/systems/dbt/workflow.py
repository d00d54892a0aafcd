"""A dbt project as one workflow: its models, seeds and sources are modules."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lipstick.systems.dbt.manifest import BEFORE
from lipstick.systems.dbt.project import INCREMENT, Refusal
from lipstick.tracking.tracker import Naming
from lipstick.workflow import Edge, Module, Relation, Run, Specification, Workflow
from semiring.errors import LipstickError

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from lipstick.systems.dbt.manifest import DbtNode
    from lipstick.systems.dbt.project import DbtProject
    from lipstick.systems.dbt.questions import TrackedProject

_ROWS = "_rows"
"""Suffix of the name of a seed's or source's input relation."""


def project_workflow(tracked: TrackedProject, *models: str) -> Workflow:
    """Return the workflow of a project, or of some models and the nodes that they depend on.

    Its input nodes are seeds and sources, its output nodes the models that no model reads.
    Ephemeral models are part of the models that read them. An incremental model has its previous
    table as an input.

    Raises
    ------
    LipstickError
        A model is refused.
    WorkflowError
        The nodes are not connected.
    """
    project = tracked.project
    asked = [project.node(name, "model") for name in models] or project.models
    needed = [
        node
        for node in project.models
        if node in asked or any(project.rests_on(each, node) for each in asked)
    ]
    needed = [node for node in needed if node.materialized != "ephemeral"]
    relations: dict[str, Relation] = {}
    nodes: dict[str, Module] = {}
    edges: list[Edge] = []
    bases: list[str] = []

    def add_base(base: DbtNode) -> None:
        name = project.names[base.id]
        rows = tracked.session.tracked[name]
        key = rows.token if rows.naming is Naming.KEY else ()
        given, relation = f"{name}{_ROWS}", _relation(rows.schema, key)
        query = {name: f"SELECT * FROM {given}"}
        nodes[name] = Module(name, Specification(name, {given: relation}, {name: relation}, query))
        relations[name] = relation
        bases.append(name)

    for node in needed:
        name, answer = project.names[node.id], tracked.annotated(node)
        if isinstance(answer, Refusal):
            raise LipstickError(f"{node.title} cannot run: {answer.reason}\nSee {answer.place}.")
        found, merge = project.text(node), project.merge(node)
        assert not isinstance(found, Refusal)
        text, read = found
        if merge is not None:
            read |= {project.names[f"{node.id}{BEFORE}"]}
        for each in sorted(read):
            if each not in nodes:
                add_base(project.by_name[each])
            edges.append(Edge(each, name))
        relations[name] = _relation(answer.schema)
        chain = {name: text} if merge is None else {f"{name}{INCREMENT}": text, name: merge}
        inputs = {each: relations[each] for each in sorted(read)}
        nodes[name] = Module(name, Specification(name, inputs, {name: relations[name]}, chain))
    sources = {edge.source for edge in edges}
    return Workflow(
        project.manifest.name, nodes, edges, bases, [name for name in nodes if name not in sources]
    )


def run_project(tracked: TrackedProject, store: str | os.PathLike[str], *models: str) -> Run:
    """Run a project, or some of its models, as a workflow; return the run.

    Parameters
    ----------
    store
        A new folder for the run and its graph.

    Raises
    ------
    LipstickError, WorkflowError
        As for :func:`project_workflow`.
    """
    workflow = project_workflow(tracked, *models)
    known = tracked.session.tracked
    rows = {name: {f"{name}{_ROWS}": known[name].source.frame} for name in workflow.inputs}
    return workflow.run(tracked.session, [rows], store=store)


def erasure_pipeline(project: DbtProject) -> tuple[dict[str, Any], list[Refusal]]:
    """Return a project as a pipeline of ``lipstick erase``, and the reasons for missing tables.

    Its sources are the tables of seeds and sources, its derived tables are models, each with its
    query over sources. Keys are columns with a uniqueness test.
    """
    sections: dict[str, Any] = {"sources": {}, "derived": {}}
    left_out = []
    tables = [node for node in project.models if node.materialized not in ("ephemeral", "view")]
    for node in tables:
        query = project.query(node)
        if isinstance(query, Refusal):
            left_out.append(query)
            continue
        entries = [("derived", ".".join(node.relation), node, {"query": query.sql})]
        for base in (project.manifest.nodes[each] for each in query.bases):
            table = {"table": ".".join(base.relation)}
            entries.append(("sources", project.names[base.id], base, table))
        for section, name, each, entry in entries:
            keys = sorted(project.uniquely_tested(each))
            sections[section][name] = entry | ({"key": keys[0]} if keys else {})
    return sections, left_out


def _relation(schema: StructType, key: tuple[str, ...] = ()) -> Relation:
    return Relation([(field.name, field.dataType.simpleString()) for field in schema], key)
