"""The runner: checks a run's inputs, and runs invocations in an order that the graph allows.

Invocations are stored one after another, each when it is done, while the next ones run; an
execution is complete when all of its invocations are stored.

An invocation waits for its predecessors in the execution, and for the previous invocation of the
same module, from whose state it starts. All ready invocations may run at once: the outcome is that
of :func:`lipstick.workflow.definition.shape.execution_order`, since nothing else determines the
inputs and the name of an invocation. An interrupted run has stored whole invocations, each with all
that it waits for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from graphquery.federation.crossings.dataset import is_dataset, read_dataset
from graphquery.model import Kind, Segment
from graphquery.store import Writer
from lipstick.capture.files import arrow_of
from lipstick.workflow.definition.module import Module, Relation
from lipstick.workflow.definition.shape import Shape, dependencies, flows, invocation_numbers
from lipstick.workflow.definition.workflow import Workflow
from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution import ledger
from lipstick.workflow.execution.benches import Benches
from lipstick.workflow.execution.invocation import (
    ArrivingTuples,
    Invocation,
    InvocationOutcome,
    Leaving,
    StateRelation,
)
from lipstick.workflow.execution.invoke import invoke
from lipstick.workflow.execution.ledger import EXPORTED, check_beginning, store_beginning
from lipstick.workflow.execution.tables import as_table, check_key, struct_of


def given_input(
    spark: SparkSession, shape: Shape, execution: int, given: Mapping[str, Any]
) -> dict[tuple[str, str], pa.Table]:
    """Return the input relations of an execution, by node and relation, checked.

    Raises
    ------
    WorkflowError
        Nodes or relations are unknown or missing, or rows do not fit.
        For several tuples of one key.
    """
    tables: dict[tuple[str, str], pa.Table] = {}
    rows = dict(_by_node(shape, execution, given))
    for node in shape.inputs:
        for name, declared in shape.nodes[node].inputs.items():
            where = f"Input {name} of node {node} in execution {execution}"
            schema = arrow_of(struct_of(declared))
            if (node, name) not in rows:
                if not declared.optional:
                    raise WorkflowError(
                        f"{where} is missing.\nGive its rows (there may be none: []), or "
                        "declare the relation 'optional'."
                    )
                tables[node, name] = schema.empty_table()
                continue
            table = from_elsewhere(spark, rows[node, name], declared, schema, where)
            check_key(table, declared.key, where, "Give every key once.")
            tables[node, name] = table
    return tables


def from_elsewhere(
    spark: SparkSession, given: Any, relation: Relation, schema: pa.Schema, where: str
) -> pa.Table:
    """Return `as_table`, marked with its folder if it is a dataset exported by another store.

    Raises
    ------
    FederationError
        For data that is not what its manifest describes.
    """
    if not is_dataset(given):
        return as_table(spark, given, relation, schema, where)
    rows, _ = read_dataset(given)
    table = as_table(spark, rows, relation, schema, where)
    return table.replace_schema_metadata({EXPORTED: os.fspath(given)})


def _by_node(
    shape: Shape, execution: int, given: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, str], Any]]:
    inputs = {node: shape.nodes[node].inputs for node in shape.inputs}
    for name, rows in given.items():
        if name in inputs and isinstance(rows, Mapping):
            for relation, inner in rows.items():
                if relation not in inputs[name]:
                    raise WorkflowError(
                        f"Execution {execution}: node {name} has no input {relation!r}.\n"
                        f"Its inputs: {', '.join(inputs[name]) or 'none'}."
                    )
                yield (name, relation), inner
            continue
        nodes = [node for node, relations in inputs.items() if name in relations]
        if len(nodes) != 1:
            problem = "several input nodes have" if nodes else "no input node has"
            raise WorkflowError(
                f"Execution {execution}: {problem} a relation {name!r}"
                + (f" ({', '.join(nodes)})" if nodes else "")
                + ".\nGive inputs as {node: {relation: rows}}; the input nodes and their "
                "relations are: "
                + "; ".join(f"{node}: {', '.join(r)}" for node, r in inputs.items())
                + "."
            )
        yield (nodes[0], name), rows


def given_state(
    spark: SparkSession, modules: Mapping[str, Module], state: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, pa.Table]]:
    """Return the relations of an initial state, by module and relation, checked.

    Raises
    ------
    WorkflowError
        Modules or relations are unknown, or rows do not fit.
        For several tuples of one key.
    """
    state_tables: dict[str, dict[str, pa.Table]] = {}
    for module, relations in state.items():
        if module not in modules:
            raise WorkflowError(
                f"The initial state has a module {module!r}, which is not there.\n"
                f"The modules are: {', '.join(modules)}."
            )
        for name, rows in relations.items():
            declared = modules[module].state.get(name)
            if declared is None:
                raise WorkflowError(
                    f"The initial state of {module} has {name!r}, which is not a state relation.\n"
                    f"Its state: {', '.join(modules[module].state) or 'none'}."
                )
            where = f"The initial state {name} of {module}"
            schema = arrow_of(struct_of(declared))
            table = from_elsewhere(spark, rows, declared, schema, where)
            check_key(table, declared.key, where, "Give every key once.")
            state_tables.setdefault(module, {})[name] = table
    return state_tables


class WorkflowRunner:
    """Runs executions of a workflow into a store, to be used as a context.

    Parameters
    ----------
    spark
        The session whose settings the sessions of queries have.
    writer
        The writer of the store.
    """

    def __init__(
        self,
        workflow: Workflow,
        spark: SparkSession,
        writer: Writer,
        *,
        tracked: bool,
        parallelism: int,
    ) -> None:
        self._workflow = workflow
        self._shape = workflow.shape
        self._numbers = invocation_numbers(self._shape)
        self._waits = dependencies(self._shape)
        self._spark = spark
        self._writer = writer
        self._tracked = tracked
        self._parallelism = parallelism
        self._benches = Benches(spark, tracked=tracked)
        self._states: dict[str, dict[str, StateRelation]] = {}
        self._given: Mapping[tuple[str, str], pa.Table] = {}
        self._outputs: dict[tuple[str, str], Leaving] = {}

    def __enter__(self) -> WorkflowRunner:
        return self

    def __exit__(self, *error: object) -> None:
        self._benches.close()

    # -- before anything runs --------------------------------------------------------------

    def begin(self, state: Mapping[str, Mapping[str, Any]]) -> None:
        """Store the workflow and its initial state, or check that they equal the stored ones.

        Raises
        ------
        WorkflowError
            When the store holds the run of another workflow, or with another initial state.
            For a state that does not fit.
        """
        states = given_state(self._spark, self._workflow.modules, state)
        snapshot = self._writer.snapshot()
        if ledger.WORKFLOW in snapshot.records:
            check_beginning(snapshot, self._workflow, states, tracked=self._tracked)
            return
        self._prepare()
        store_beginning(self._writer, self._workflow, states, tracked=self._tracked)

    def _prepare(self) -> None:
        """Analyse and check the queries of every specification, before anything runs."""
        for module in self._shape.nodes.values():
            self._benches.prepare(module.specification)

    # -- executions ------------------------------------------------------------------------

    def run(self, inputs: Sequence[Mapping[str, Any]], first: int) -> None:
        """Run executions from the first invocation that is not stored.

        Raises
        ------
        WorkflowError
            For an input that does not fit.
            For an execution whose predecessor is not done, or that was begun with another input.
        """
        for execution, given in enumerate(inputs, start=first):
            tables = given_input(self._spark, self._shape, execution, given)
            pending = self._pending(execution)
            if not pending and self._known(execution, tables):
                continue
            if execution and self._pending(execution - 1):
                raise WorkflowError(
                    f"Execution {execution} starts from the state after execution {execution - 1}, "
                    f"which is not done.\nGive the inputs from execution {execution - 1} on."
                )
            self._prepare()
            if not self._known(execution, tables):
                self._store_input(execution, tables)
            self._given = tables
            self._execute(execution, pending)

    def _known(self, execution: int, tables: Mapping[tuple[str, str], pa.Table]) -> bool:
        """Return True if the input of an execution is stored, and equal to these tables."""
        record = self._writer.state.records.get(ledger.input_record(execution))
        if record is None:
            return False
        snapshot = self._writer.snapshot()
        for (node, name), table in tables.items():
            declared = self._shape.nodes[node].inputs[name]
            segment = ledger.input_segment(execution, node, name)
            stored = ledger.stored_table(snapshot, segment, declared, record[node][name])
            if not stored.equals(table):
                raise WorkflowError(
                    f"Execution {execution} began with a different {name} at node {node}.\n"
                    "Give the same input to go on, or another store."
                )
        return True

    def _store_input(self, execution: int, tables: Mapping[tuple[str, str], pa.Table]) -> None:
        with self._writer.transaction() as transaction:
            record: dict[str, dict[str, int]] = {}
            for (node, name), table in tables.items():
                named = ledger.input_segment(execution, node, name), Kind.TOKEN, "", table.num_rows
                key = self._shape.nodes[node].inputs[name].key
                segment = Segment(*named, None, None, execution, name, key, "")
                ledger.put_tokens(transaction, segment, table)
                record.setdefault(node, {})[name] = table.num_rows
            transaction.put(ledger.input_record(execution), record)
            transaction.commit()

    # -- invocations -----------------------------------------------------------------------

    def _invocation(self, execution: int, node: str) -> Invocation:
        number, total = self._numbers[node]
        return Invocation(self._shape.nodes[node], execution * total + number, node, execution)

    def _pending(self, execution: int) -> dict[str, frozenset[str]]:
        """Return the nodes that have not run, with the nodes that each waits for."""
        records = self._writer.state.records
        waits = self._waits
        missing = [n for n in waits if self._invocation(execution, n).name not in records]
        return {node: waits[node] & frozenset(missing) for node in missing}

    def _execute(self, execution: int, pending: Mapping[str, frozenset[str]]) -> None:
        waiting = {node: set(before) for node, before in pending.items()}
        running: dict[Future[InvocationOutcome], Invocation] = {}
        self._outputs.clear()
        stored: list[Future[None]] = []
        with ThreadPoolExecutor(1) as storing, ThreadPoolExecutor(self._parallelism) as pool:
            try:
                while waiting or running:
                    ready = [node for node, before in waiting.items() if not before]
                    for node in ready[: self._parallelism - len(running)]:
                        del waiting[node]
                        invocation = self._invocation(execution, node)
                        arguments = self._arriving(invocation), self._state(invocation)
                        running[pool.submit(self._invoke, invocation, *arguments)] = invocation
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        invocation, outcome = running.pop(future), future.result()
                        self._pass_on(invocation, outcome)
                        stored.append(storing.submit(self._store, invocation, outcome, stored[-1:]))
                        for before in waiting.values():
                            before.discard(invocation.node)
                    _check(each for each in stored if each.done())
            finally:
                for future in running:
                    future.cancel()
        _check(stored)

    def _invoke(
        self,
        invocation: Invocation,
        inputs: Mapping[str, ArrivingTuples],
        state: Mapping[str, StateRelation],
    ) -> InvocationOutcome:
        with self._benches.idle(invocation.module.specification) as bench:
            return invoke(bench, invocation, inputs, state)

    def _pass_on(self, invocation: Invocation, outcome: InvocationOutcome) -> None:
        """Pass an invocation's outputs to the invocations that wait for them."""
        for name, leaving in outcome.outputs.items():
            self._outputs[invocation.node, name] = leaving
        state = self._states[invocation.module.name]
        for name, change in outcome.changes.items():
            state[name] = change.state

    def _store(
        self, invocation: Invocation, outcome: InvocationOutcome, before: Sequence[Future[None]]
    ) -> None:
        """Store an invocation, unless a previous one could not be stored."""
        _check(before)
        with self._writer.transaction() as transaction:
            ledger.put_outcome(transaction, invocation, outcome)
            transaction.commit()

    def _arriving(self, invocation: Invocation) -> dict[str, ArrivingTuples]:
        """Return the input of an invocation, from the execution's input or along the edges."""
        execution, node = invocation.execution, invocation.node
        parts: dict[str, list[tuple[str, Leaving]]] = {
            name: [] for name in invocation.module.inputs
        }
        if node in self._shape.inputs:
            for name in invocation.module.inputs:
                segment = ledger.input_segment(execution, node, name)
                parts[name].append((segment, Leaving(self._given[node, name])))
        for edge in self._shape.incoming(node):
            source = self._invocation(execution, edge.source)
            for output, name in flows(self._shape, edge).items():
                leaving = self._output(source, output)
                parts[name].append((f"{source.name}/{output}", leaving))
        arriving = {}
        for name, given in parts.items():
            declared = invocation.module.inputs[name]
            arriving[name] = ledger.arriving(declared, given)
            where = f"Input {name} of {invocation.name} (node {node})"
            check_key(arriving[name].table, declared.key, where, "Declare another key for it.")
        return arriving

    def _output(self, source: Invocation, relation: str) -> Leaving:
        if (source.node, relation) not in self._outputs:
            leaving = ledger.stored_output(self._writer.snapshot(), source, relation)
            self._outputs[source.node, relation] = leaving
        return self._outputs[source.node, relation]

    def _state(self, invocation: Invocation) -> Mapping[str, StateRelation]:
        module = invocation.module
        if module.name not in self._states:
            snapshot = self._writer.snapshot()
            self._states[module.name] = ledger.stored_state(snapshot, module, invocation.number - 1)
        return dict(self._states[module.name])


def _check(stored: Iterable[Future[None]]) -> None:
    """Raise the error that prevented storing, if any."""
    for each in stored:
        each.result()
