"""What a store holds before the first execution: the workflow, and the state it starts from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from graphquery.store import Snapshot, Writer
from lipstick.workflow.errors import RunError
from lipstick.workflow.execution import ledger

if TYPE_CHECKING:
    from lipstick.workflow.definition.workflow import Workflow

States: TypeAlias = Mapping[str, Mapping[str, pa.Table]]
"""By module and relation, the initial state."""


def store_beginning(writer: Writer, workflow: Workflow, states: States, *, tracked: bool) -> None:
    """Store a workflow and its initial state in one commit."""
    with writer.transaction() as transaction:
        for module, relations in states.items():
            for name, table in relations.items():
                ledger.put_tokens(
                    transaction,
                    ledger.state_segment(module, name),
                    name,
                    workflow.modules[module].state[name],
                    table,
                    module=module,
                )
        counts = {m: {n: t.num_rows for n, t in r.items()} for m, r in states.items()}
        transaction.put(ledger.STATE, counts)
        transaction.put(ledger.TYPES, ledger.types(workflow))
        transaction.put(ledger.WORKFLOW, {"text": _text(workflow), "tracked": tracked})
        transaction.commit()


def check_beginning(
    snapshot: Snapshot, workflow: Workflow, states: States, *, tracked: bool
) -> None:
    """Check that a store holds this workflow, begun with this state.

    Raises
    ------
    RunError
        When it holds the run of another workflow, or with another initial state.
    """
    stored = snapshot.records[ledger.WORKFLOW]
    if stored["text"] != _text(workflow):
        raise RunError(
            f"The store {snapshot.root} holds a run of another workflow, or of this one before "
            "it was changed.\nGive another store, or the workflow that it holds."
        )
    if stored["tracked"] != tracked:
        was = "with" if stored["tracked"] else "without"
        raise RunError(
            f"The run in {snapshot.root} was begun {was} provenance and goes on so.\n"
            f"Pass tracked={stored['tracked']}, or give another store."
        )
    initial = snapshot.records[ledger.STATE]
    for module, relations in states.items():
        for name, table in relations.items():
            segment = ledger.state_segment(module, name)
            declared = workflow.modules[module].state[name]
            count = initial.get(module, {}).get(name, 0)
            if not ledger.stored_table(snapshot, segment, declared, count).equals(table):
                raise RunError(
                    f"The run in {snapshot.root} began with another state {name} of {module}.\n"
                    "Leave the initial state out to go on, or give another store."
                )


def _text(workflow: Workflow) -> str:
    from lipstick.workflow.definition.file import text

    return text(workflow)
