"""The records of a run in its store: workflow, inputs, invocations and states, by name.

=====================  =====================================================================
record ``workflow``    the workflow's text, and whether it is tracked
record ``types``       the columns of every declared relation, by their text, as Spark's JSON
record ``state``       per module and relation the number of tuples of the initial state, which
                       are the segment ``dealer1/Cars``
record ``input#0``     per input node and relation the number of tuples of an execution's input,
                       which are the segment ``input#0/request/Request``
record ``dealer1#3``   execution and node of an invocation, when it started and ended (ISO 8601, in
                       UTC); per output the number of tuples, which are the segment
                       ``dealer1#3/Bids``; per state relation that changed how many tuples came,
                       ``dealer1#3/Cars.new``, and which left, by segment; of both, by column, the
                       segment of v-nodes of values, and which tuples have one
=====================  =====================================================================

Relations without tuples have no segment. Workflow and initial state are stored before the first
execution.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from graphquery.federation.crossings.crossing import import_rows
from graphquery.federation.crossings.offer import Offer
from graphquery.model import Kind, Segment
from graphquery.store import Snapshot, Transaction, Writer
from lipstick.capture.files import arrow_of
from lipstick.workflow.definition.module import Module, Relation
from lipstick.workflow.definition.workflow import Workflow
from lipstick.workflow.derivation.nodes import NewSegment, Origin, Values, origins
from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution.invocation import (
    CAME,
    ArrivingTuples,
    Invocation,
    InvocationOutcome,
    Leaving,
    StateRelation,
    ranges,
    spread,
)
from lipstick.workflow.execution.tables import conform, struct_of

WORKFLOW = "workflow"
EXPORTED = b"lipstick.exported"
"""Schema metadata of a table: the folder of the exported dataset from which it was read."""
STATE = "state"
TYPES = "types"


def input_record(execution: int) -> str:
    """Return the name of the record of an execution's input."""
    return f"input#{execution}"


def input_segment(execution: int, node: str, relation: str) -> str:
    """Return the name of the segment of a relation of an execution's input."""
    return f"{input_record(execution)}/{node}/{relation}"


def state_segment(module: str, relation: str) -> str:
    """Return the name of the segment of a relation of a module's initial state."""
    return f"{module}/{relation}"


# -- writing -----------------------------------------------------------------------------------


def types(workflow: Workflow) -> dict[str, Any]:
    """Return the record of the columns of a workflow's relations."""
    types_by_ddl = {}
    for module in workflow.modules.values():
        for relations in (module.inputs, module.state, module.outputs):
            for relation in relations.values():
                types_by_ddl[relation.ddl] = json.loads(struct_of(relation).json())
    return types_by_ddl


def put_tokens(transaction: Transaction, segment: Segment, table: pa.Table) -> None:
    """Store tuples from outside as tokens; import the tuples that another store exported."""
    if not table.num_rows:
        return
    folder = (table.schema.metadata or {}).get(EXPORTED)
    if folder is None:
        transaction.add_segment(segment, table)
        return
    import_rows(
        transaction,
        Offer.read(os.fsdecode(folder)),
        segment,
        table.replace_schema_metadata(None),
    )


def put_outcome(
    transaction: Transaction, invocation: Invocation, outcome: InvocationOutcome
) -> None:
    """Store the outcome of an invocation."""
    for new in outcome.fragment.segments:
        _put_segment(transaction, new)
    for edges in outcome.fragment.edges:
        transaction.add_edges(edges.edges, edges.sources, edges.targets)
    changes = {}
    for name, change in outcome.changes.items():
        left = {
            segment: ranges(np.sort(change.deleted.ordinals[places]))
            for segment, places in change.deleted.groups()
        }
        if left or change.inserted.num_rows:
            changes[name] = {
                "came": change.inserted.num_rows,
                "left": left,
                "values": _put_values(change.values),
            }
    document = {
        "execution": invocation.execution,
        "node": invocation.node,
        "started": outcome.started.isoformat(),
        "ended": outcome.ended.isoformat(),
        "outputs": {
            name: {"count": leaving.table.num_rows, "values": _put_values(leaving.values)}
            for name, leaving in outcome.outputs.items()
        },
        "changes": changes,
    }
    transaction.put(invocation.name, document)


def _put_values(values: Values) -> dict[str, Any]:
    return {column: [segment, ranges(rows)] for column, (segment, rows) in values.items()}


def _values(document: Mapping[str, Any]) -> Values:
    return {column: (segment, spread(runs)) for column, (segment, runs) in document.items()}


def _put_segment(transaction: Transaction, new: NewSegment) -> None:
    if new.values is None:
        transaction.add_segment(new.segment)
    else:
        transaction.add_segment(new.segment, new.values)


# -- reading -----------------------------------------------------------------------------------


def stored_table(snapshot: Snapshot, segment: str, declared: Relation, count: int) -> pa.Table:
    """Return the stored tuples of a relation."""
    schema = arrow_of(struct_of(declared))
    if not count:
        return schema.empty_table()
    return conform(snapshot.values(segment), schema)


def is_done(snapshot: Snapshot, invocation: Invocation) -> bool:
    """Return True if an invocation is stored."""
    return invocation.name in snapshot.records


def stored_output(snapshot: Snapshot, invocation: Invocation, relation: str) -> Leaving:
    """Return an output of an invocation.

    Raises
    ------
    WorkflowError
        When the invocation is not done.
    """
    record = snapshot.records.get(invocation.name)
    if record is None:
        raise WorkflowError(
            f"{invocation.name} (node {invocation.node} in execution {invocation.execution}) has "
            "not run.\nContinue the run: workflow.run(..., store=...)."
        )
    declared = invocation.module.outputs[relation]
    name, output = f"{invocation.name}/{relation}", record["outputs"][relation]
    table = stored_table(snapshot, name, declared, output["count"])
    return Leaving(table, _values(output["values"]))


def stored_state(snapshot: Snapshot, module: Module, until: int) -> dict[str, StateRelation]:
    """Return a module's state after its invocations 1 to `until`, from their changes."""
    initial = snapshot.records[STATE].get(module.name, {})
    state_relations: dict[str, StateRelation] = {}
    for name, declared in module.state.items():
        segment = state_segment(module.name, name)
        table = stored_table(snapshot, segment, declared, initial.get(name, 0))
        state_relations[name] = StateRelation.empty(table.schema).plus(table, segment)
    for number in range(1, until + 1):
        record = snapshot.records[f"{module.name}#{number}"]
        for name, change in record["changes"].items():
            state, declared = state_relations[name], module.state[name]
            for segment, runs in change["left"].items():
                state = state.without(state.rows_of(segment, spread(runs)))
            segment = f"{module.name}#{number}/{name}{CAME}"
            table = stored_table(snapshot, segment, declared, change["came"])
            state_relations[name] = state.plus(table, segment, _values(change["values"]))
    return state_relations


def arriving(declared: Relation, parts: Sequence[tuple[str, Leaving]]) -> ArrivingTuples:
    """Return the bag union of stored relations, each with its segment, as an input."""
    schema = arrow_of(struct_of(declared))
    parts = [(segment, leaving) for segment, leaving in parts if leaving.table.num_rows]
    counts = [leaving.table.num_rows for _, leaving in parts]
    tables = [conform(leaving.table, schema) for _, leaving in parts]
    origins_by_part: list[dict[str, Origin]] = []
    for (_, leaving), count in zip(parts, counts, strict=True):
        names = dict(zip(leaving.table.column_names, declared.names, strict=True))
        known = origins(leaving.values, count)
        origins_by_part.append({names[column]: origin for column, origin in known.items()})
    values = {
        column: Origin.concatenated(
            [
                part.get(column, Origin.none(n))
                for part, n in zip(origins_by_part, counts, strict=True)
            ]
        )
        for column in dict.fromkeys(name for part in origins_by_part for name in part)
    }
    nodes = [Origin.of(segment, n) for (segment, _), n in zip(parts, counts, strict=True)]
    table = pa.concat_tables([schema.empty_table(), *tables]).combine_chunks()
    return ArrivingTuples(table, Origin.concatenated(nodes), values)


def documents(snapshot: Snapshot) -> Mapping[str, Any]:
    """Return the record of the workflow.

    Raises
    ------
    WorkflowError
        When the store holds no run.
    """
    record: Mapping[str, Any] | None = snapshot.records.get(WORKFLOW)
    if record is None:
        raise WorkflowError(
            f"{snapshot.root} holds no run of a workflow.\n"
            "Give the directory that was the store of workflow.run(...)."
        )
    return record


States: TypeAlias = Mapping[str, Mapping[str, pa.Table]]
"""By module and relation, the initial state."""


def store_beginning(writer: Writer, workflow: Workflow, states: States, *, tracked: bool) -> None:
    """Store a workflow and its initial state in one commit."""
    with writer.transaction() as transaction:
        for module, relations in states.items():
            for name, table in relations.items():
                named = state_segment(module, name), Kind.TOKEN, "", table.num_rows, module
                segment = Segment(
                    *named, relation=name, key=workflow.modules[module].state[name].key, file=""
                )
                put_tokens(transaction, segment, table)
        counts = {m: {n: t.num_rows for n, t in r.items()} for m, r in states.items()}
        transaction.put(STATE, counts)
        transaction.put(TYPES, types(workflow))
        transaction.put(WORKFLOW, {"text": _text(workflow), "tracked": tracked})
        transaction.commit()


def check_beginning(
    snapshot: Snapshot, workflow: Workflow, states: States, *, tracked: bool
) -> None:
    """Check that a store holds this workflow, begun with this state.

    Raises
    ------
    WorkflowError
        When it holds the run of another workflow, or with another initial state.
    """
    stored = snapshot.records[WORKFLOW]
    if stored["text"] != _text(workflow):
        raise WorkflowError(
            f"The store {snapshot.root} holds a run of a different workflow, or of this one "
            "before it changed.\nGive a different store, or the workflow of the run."
        )
    if stored["tracked"] != tracked:
        was = "with" if stored["tracked"] else "without"
        raise WorkflowError(
            f"The run in {snapshot.root} began {was} provenance, and must go on that way.\n"
            f"Pass tracked={stored['tracked']}, or give another store."
        )
    initial = snapshot.records[STATE]
    for module, relations in states.items():
        for name, table in relations.items():
            segment = state_segment(module, name)
            declared = workflow.modules[module].state[name]
            count = initial.get(module, {}).get(name, 0)
            if not stored_table(snapshot, segment, declared, count).equals(table):
                raise WorkflowError(
                    f"The run in {snapshot.root} began with a different state {name} of {module}.\n"
                    "Leave the initial state out to go on, or give another store."
                )


def _text(workflow: Workflow) -> str:
    from lipstick.workflow.definition.file import text

    return text(workflow)
