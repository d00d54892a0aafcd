"""The runner: invocations in an order that the graph allows, each stored when it is done.

They are stored one after the other while the next ones run; an execution is over when all of its
invocations are stored.

An invocation waits for its predecessors in the execution, and for the invocation before it of the
same module, whose state it starts from. What is ready may run at a time: the outcome is that of
:func:`lipstick.workflow.shape.execution_order`, because nothing else decides what an invocation
sees, and how it is called. A run that is interrupted has stored whole invocations, each with all
that it waits for.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import SparkSession

from graphquery.store import Writer
from lipstick.workflow import ledger
from lipstick.workflow.bench import Bench, sql_settings
from lipstick.workflow.conditions import flows
from lipstick.workflow.errors import RunError
from lipstick.workflow.given import given_input, given_state
from lipstick.workflow.invocation import Arriving, Invocation, Leaving, Outcome
from lipstick.workflow.invoke import invoke
from lipstick.workflow.isolated import isolated
from lipstick.workflow.module import Specification
from lipstick.workflow.shape import dependencies, invocation_numbers
from lipstick.workflow.state import StateRelation
from lipstick.workflow.tables import check_key

if TYPE_CHECKING:
    from lipstick.workflow.workflow import Workflow


class Runner:
    """Runs executions of a workflow into a store, to be used as a context.

    Parameters
    ----------
    spark
        Its settings are those of the sessions that queries run in.
    writer
        Of the store.
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
        self._folder = Path(tempfile.mkdtemp(prefix="lipstick-workflow-"))
        self._idle: dict[str, list[Bench]] = {}
        self._open = ExitStack()  # what is ended with the context
        self._open.callback(shutil.rmtree, self._folder, ignore_errors=True)
        self._mutex = threading.Lock()
        self._benches = 0
        self._states: dict[str, dict[str, StateRelation]] = {}
        self._given: Mapping[tuple[str, str], pa.Table] = {}
        self._outputs: dict[tuple[str, str], Leaving] = {}

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    # -- before anything runs --------------------------------------------------------------

    def begin(self, state: Mapping[str, Mapping[str, Any]]) -> None:
        """Store the workflow and its initial state, or check that they are those stored.

        Raises
        ------
        RunError
            When the store holds the run of another workflow, or with another initial state.
        InputError
            For a state that does not fit.
        """
        given = given_state(self._spark, self._workflow.modules, state)
        text = self._text()
        snapshot = self._writer.snapshot()
        known = snapshot.records.get(ledger.WORKFLOW)
        if known is None:
            self._prepare()
            self._store_beginning(text, given)
            return
        if known["text"] != text:
            raise RunError(
                f"The store {snapshot.root} holds a run of another workflow, or of this one before "
                "it was changed.\nGive another store, or the workflow that it holds."
            )
        if known["tracked"] != self._tracked:
            was = "with" if known["tracked"] else "without"
            raise RunError(
                f"The run in {snapshot.root} was begun {was} provenance and goes on so.\n"
                f"Pass tracked={known['tracked']}, or give another store."
            )
        initial = snapshot.records[ledger.STATE]
        for module, relations in given.items():
            for name, table in relations.items():
                segment = ledger.state_segment(module, name)
                declared = self._workflow.modules[module].state[name]
                count = initial.get(module, {}).get(name, 0)
                if not ledger.stored_table(snapshot, segment, declared, count).equals(table):
                    raise RunError(
                        f"The run in {snapshot.root} began with another state {name} of {module}.\n"
                        "Leave the initial state out to go on, or give another store."
                    )

    def _text(self) -> str:
        from lipstick.workflow.file import text

        return text(self._workflow)

    def _store_beginning(self, text: str, given: Mapping[str, Mapping[str, pa.Table]]) -> None:
        with self._writer.transaction() as transaction:
            for module, relations in given.items():
                for name, table in relations.items():
                    ledger.put_tokens(
                        transaction,
                        ledger.state_segment(module, name),
                        name,
                        self._workflow.modules[module].state[name],
                        table,
                        module=module,
                    )
            counts = {m: {n: t.num_rows for n, t in r.items()} for m, r in given.items()}
            transaction.put(ledger.STATE, counts)
            transaction.put(ledger.TYPES, ledger.types(self._workflow))
            transaction.put(ledger.WORKFLOW, {"text": text, "tracked": self._tracked})
            transaction.commit()

    # -- executions ------------------------------------------------------------------------

    def run(self, inputs: Sequence[Mapping[str, Any]], first: int) -> None:
        """Run executions from the first invocation that is not stored.

        Raises
        ------
        InputError
            For an input that does not fit.
        RunError
            For an execution whose predecessor is not done, or that was begun with another input.
        """
        for execution, given in enumerate(inputs, start=first):
            tables = given_input(self._spark, self._shape, execution, given)
            pending = self._pending(execution)
            if not pending and self._known(execution, tables):
                continue
            if execution and self._pending(execution - 1):
                raise RunError(
                    f"Execution {execution} starts from the state after execution {execution - 1}, "
                    f"which is not done.\nGive the inputs from execution {execution - 1} on."
                )
            self._prepare()
            if not self._known(execution, tables):
                self._store_input(execution, tables)
            self._given = tables
            self._execute(execution, pending)

    def _known(self, execution: int, tables: Mapping[tuple[str, str], pa.Table]) -> bool:
        """Whether the input of an execution is stored, and is this one."""
        record = self._writer.state.records.get(ledger.input_record(execution))
        if record is None:
            return False
        snapshot = self._writer.snapshot()
        for (node, name), table in tables.items():
            declared = self._shape.nodes[node].inputs[name]
            segment = ledger.input_segment(execution, node, name)
            stored = ledger.stored_table(snapshot, segment, declared, record[node][name])
            if not stored.equals(table):
                raise RunError(
                    f"Execution {execution} was begun with another {name} at node {node}.\n"
                    "Give the same input to go on, or another store."
                )
        return True

    def _store_input(self, execution: int, tables: Mapping[tuple[str, str], pa.Table]) -> None:
        with self._writer.transaction() as transaction:
            record: dict[str, dict[str, int]] = {}
            for (node, name), table in tables.items():
                ledger.put_tokens(
                    transaction,
                    ledger.input_segment(execution, node, name),
                    name,
                    self._shape.nodes[node].inputs[name],
                    table,
                    execution=execution,
                )
                record.setdefault(node, {})[name] = table.num_rows
            transaction.put(ledger.input_record(execution), record)
            transaction.commit()

    # -- invocations -----------------------------------------------------------------------

    def _invocation(self, execution: int, node: str) -> Invocation:
        number, total = self._numbers[node]
        return Invocation(self._shape.nodes[node], execution * total + number, node, execution)

    def _pending(self, execution: int) -> dict[str, frozenset[str]]:
        """The nodes that have not run, and which of these each waits for."""
        records = self._writer.state.records
        waits = self._waits
        missing = [n for n in waits if self._invocation(execution, n).name not in records]
        return {node: waits[node] & frozenset(missing) for node in missing}

    def _execute(self, execution: int, pending: Mapping[str, frozenset[str]]) -> None:
        waiting = {node: set(before) for node, before in pending.items()}
        running: dict[Future[Outcome], Invocation] = {}
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
        inputs: Mapping[str, Arriving],
        state: Mapping[str, StateRelation],
    ) -> Outcome:
        with self._bench(invocation.module.specification) as bench:
            return invoke(bench, invocation, inputs, state)

    def _pass_on(self, invocation: Invocation, outcome: Outcome) -> None:
        """Pass an invocation's outputs to the invocations that wait for them."""
        for name, leaving in outcome.outputs.items():
            self._outputs[invocation.node, name] = leaving
        state = self._states[invocation.module.name]
        for name, change in outcome.changes.items():
            state[name] = change.state

    def _store(
        self, invocation: Invocation, outcome: Outcome, before: Sequence[Future[None]]
    ) -> None:
        """Store an invocation, unless those `before` it could not be."""
        _check(before)
        with self._writer.transaction() as transaction:
            ledger.put_outcome(transaction, invocation, outcome)
            transaction.commit()

    def _arriving(self, invocation: Invocation) -> dict[str, Arriving]:
        """The input of an invocation, from the execution's input or along the edges."""
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

    # -- benches ---------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Understand and check the queries of every specification, before anything runs."""
        for module in self._shape.nodes.values():
            if module.specification.name not in self._idle:
                self._idle[module.specification.name] = [self._new_bench(module.specification)]

    def _new_bench(self, specification: Specification) -> Bench:
        self._benches += 1
        folder = self._folder / f"{specification.name}-{self._benches}"
        session = self._open.enter_context(isolated(self._spark, self._settings))
        bench = Bench(session, specification, folder, tracked=self._tracked)
        self._open.callback(bench.close)
        return bench

    @cached_property
    def _settings(self) -> Mapping[str, str]:
        return sql_settings(self._spark)

    @contextmanager
    def _bench(self, specification: Specification) -> Iterator[Bench]:
        """A bench that nobody else uses at the moment."""
        with self._mutex:
            idle = self._idle[specification.name]
            bench = idle.pop() if idle else self._new_bench(specification)
        try:
            yield bench
        finally:
            with self._mutex:
                self._idle[specification.name].append(bench)


def _check(stored: Iterable[Future[None]]) -> None:
    """Raise what kept something from being stored."""
    for each in stored:
        each.result()
