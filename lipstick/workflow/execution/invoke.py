"""One invocation of a module: Q_state and Q_out over its input and its current state.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definition 2.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa

from graphquery.model import Kind, Segment
from lipstick.capture.files import arrow_of
from lipstick.errors import NeedsSparkError, first_line
from lipstick.workflow.definition.module import Relation
from lipstick.workflow.definition.query import BEFORE
from lipstick.workflow.definition.steps import Step, steps
from lipstick.workflow.derivation.derive import derive
from lipstick.workflow.derivation.nodes import Fragment, InvocationTrace, NewSegment, Nodes
from lipstick.workflow.derivation.reading import TupleNodes
from lipstick.workflow.derivation.value_nodes import TupleTarget, copies, kept
from lipstick.workflow.errors import WorkflowError
from lipstick.workflow.execution.bench import Bench, QueryAnswer
from lipstick.workflow.execution.invocation import (
    CAME,
    ArrivingTuples,
    Invocation,
    InvocationOutcome,
    Leaving,
    StateChange,
    StateRelation,
    difference,
    matching,
)
from lipstick.workflow.execution.tables import (
    check_key,
    conform,
    is_key,
    stable_order,
    struct_of,
    take,
)
from semiring.arrays.segments import mask_of
from semiring.base import Array

MADE = ".made"
"""Suffix of an output's name for its tuples before they leave the module."""
NOTHING: Array = np.empty(0, dtype=np.int64)


def invoke(
    bench: Bench,
    invocation: Invocation,
    inputs: Mapping[str, ArrivingTuples],
    state: Mapping[str, StateRelation],
) -> InvocationOutcome:
    """Run an invocation; nothing outside the bench's folder changes.

    Raises
    ------
    WorkflowError
        When Spark fails, or what comes out has several tuples of one key.
    """
    try:
        return _Running(bench, invocation, inputs, state).run()
    finally:
        bench.clear()


class _Running:
    def __init__(
        self,
        bench: Bench,
        invocation: Invocation,
        inputs: Mapping[str, ArrivingTuples],
        state: Mapping[str, StateRelation],
    ) -> None:
        self.bench = bench
        self.invocation = invocation
        self.module = invocation.module
        self.inputs = inputs
        self.state = state
        self.tuples: dict[str, TupleNodes] = {}
        self.values: list[NewSegment] = []
        self.trace: InvocationTrace | None = None
        if bench.provenance:
            self.trace = InvocationTrace(self.module.name, invocation.number, invocation.execution)

    def run(self) -> InvocationOutcome:
        """Run the queries in their order."""
        started = datetime.now(UTC)
        tables = [arriving.table for arriving in self.inputs.values()]
        tables += [old.table for old in self.state.values()]
        self.bench.expect(sum(table.num_rows for table in tables))
        for name in self.module.inputs:
            self._enter(name)
        for name in self.module.state:
            self._remember(name)
        changes: dict[str, StateChange] | None = None
        parts: dict[str, dict[str, QueryAnswer]] = {}
        outputs: dict[str, Leaving] = {}
        for step in steps(self.module.specification):
            if step.part == "query_output" and changes is None:
                changes = self._change(parts)
            if step.role != "relation":
                parts.setdefault(step.name, {})[step.role] = self.bench.answer(step)
            elif step.name in self.module.outputs:
                outputs[step.name] = self._leave(step)
            else:
                self._define(step)
        assert changes is not None
        fragment = Fragment(tuple(self.values)) if self.trace is None else self.trace.fragment()
        return InvocationOutcome(outputs, changes, fragment, started, datetime.now(UTC))

    # -- what comes in ---------------------------------------------------------------------

    def _enter(self, name: str) -> None:
        self._bind(name, Kind.INPUT, self.inputs[name], self.module.inputs[name].key)

    def _remember(self, name: str) -> None:
        """Show the state as it was before the invocation."""
        self._bind(name, Kind.STATE, self.state[name], self.module.state[name].key)

    def _bind(
        self, name: str, kind: Kind, rows: ArrivingTuples | StateRelation, key: tuple[str, ...]
    ) -> None:
        """Bind rows, each with a node, to a relation; nodes of state count as used if queries
        read them.
        """
        self.bench.bind(name, rows.table)
        if self.trace is not None:
            count = rows.table.num_rows
            pool = self.trace.pool(
                name,
                kind,
                "·",
                count,
                relation=name,
                values=rows.table,
                key=key,
                used=np.zeros(count, dtype=np.bool_) if kind is Kind.STATE else None,
                origin=rows.origin,
            )
            nodes = Nodes.of(pool, np.arange(count, dtype=np.int64))
            self.tuples[name] = TupleNodes(
                nodes, copies(self.trace, name, rows.table, rows.values, kind)
            )

    # -- queries ---------------------------------------------------------------------------

    def _define(self, step: Step) -> None:
        """Define a temporary relation of a chain."""
        if self.trace is None:
            self.bench.define(step)
            return
        answer = self.bench.answer(step)
        order = stable_order(answer.table, ())
        table = take(answer.table, order)
        target = TupleTarget(step.name, order, step.name, self._key_of(table))
        self.tuples[step.name] = self._derived(answer, order, target)
        self.bench.bind(step.name, table)

    def _key_of(self, table: pa.Table) -> tuple[str, ...]:
        """Return a key of the module's relations that identifies a temporary relation's tuples."""
        declared = (*self.module.inputs.values(), *self.module.state.values())
        keys = (relation.key for relation in declared if relation.key)
        return next((key for key in keys if is_key(table, key)), ())

    def _derived(self, answer: QueryAnswer, order: Array, target: TupleTarget) -> TupleNodes:
        """Add the derivation of some tuples of an answer, in their final order."""
        assert self.trace is not None
        if not len(order):
            return TupleNodes(Nodes.concatenated([]))
        assert answer.engine is not None
        assert answer.positions is not None
        every = np.arange(len(order), dtype=np.int64)
        target = replace(target, ranks=every, values=take(answer.table, order))
        positions = answer.positions[order]
        functions = tuple(self.module.specification.functions)
        try:
            return derive(self.trace, answer.engine, positions, self.tuples, target, functions)
        except NeedsSparkError as error:
            raise WorkflowError(
                f"{self.invocation.name}: nodes are made in this process, which cannot follow what "
                f"Spark computed.\n{first_line(error)}\n"
                "Compute what it compares as a column of a relation of the chain, and use that."
            ) from error

    def _leave(self, step: Step) -> Leaving:
        """Add an output."""
        relation = self.module.outputs[step.name]
        answer = self.bench.answer(step)
        whole = conform(answer.table, arrow_of(struct_of(relation)))
        order = stable_order(whole, relation.key)
        table = take(whole, order)
        check_key(
            table,
            relation.key,
            f"The output {step.name} of {self.invocation.name} (node {self.invocation.node})",
            "Change Q_out, or declare another key.",
        )
        self.bench.bind(step.name, table)
        if self.trace is None:
            self._store(step.name, Kind.OUTPUT, table, relation)
            return Leaving(table)
        leaving = self._derived(answer, order, TupleTarget(step.name + MADE, order, own=True))
        pool = self.trace.pool(
            step.name,
            Kind.OUTPUT,
            "·",
            len(order),
            relation=step.name,
            values=table,
            key=relation.key,
        )
        self.trace.edges(leaving.nodes, pool, np.arange(len(order), dtype=np.int64))
        self.trace.from_invocation(pool, len(order))
        self.tuples[step.name] = leaving
        return Leaving(table, kept(self.trace, step.name, table, leaving.values, Kind.OUTPUT))

    def _store(self, suffix: str, kind: Kind, table: pa.Table, relation: Relation) -> None:
        """Store values without provenance."""
        segment = Segment(
            name=f"{self.invocation.name}/{suffix}",
            kind=kind,
            label="",
            count=table.num_rows,
            module=self.module.name,
            invocation=self.invocation.number,
            execution=self.invocation.execution,
            relation=suffix.removesuffix(CAME),
            key=relation.key,
            file="",
        )
        if table.num_rows:
            self.values.append(NewSegment(segment, table))

    # -- state -----------------------------------------------------------------------------

    def _change(self, parts: Mapping[str, Mapping[str, QueryAnswer]]) -> dict[str, StateChange]:
        """Change the state, and show Q_out the new state beside the old one."""
        for name, old in self.state.items():
            self.bench.bind(f"{BEFORE}{name}", old.table)
            if self.trace is not None:
                self.tuples[f"{BEFORE}{name}"] = self.tuples[name]
        changed = self.module.specification.query_state.changed
        changes = {name: self._changed(name, parts[name]) for name in changed}
        for name, (change, tuples) in changes.items():
            self.bench.bind(name, change.state.table)
            if tuples is not None:
                self.tuples[name] = tuples
        return {name: change for name, (change, _) in changes.items()}

    def _changed(
        self, name: str, parts: Mapping[str, QueryAnswer]
    ) -> tuple[StateChange, TupleNodes | None]:
        """Return the change of a state relation, and its tuples afterwards."""
        old, relation = self.state[name], self.module.state[name]
        schema = arrow_of(self.bench.schemas[name])
        gone, order = NOTHING, NOTHING
        answer = parts.get("replace") or parts.get("insert")
        new = schema.empty_table()
        if answer is not None:
            whole = conform(answer.table, schema)
            order = stable_order(whole, relation.key)
            if "replace" in parts:
                gone, fresh = difference(old.table, whole)
                order = order[np.isin(order, fresh)]
            new = take(whole, order)
        if "delete" in parts:
            keys = parts["delete"].table
            gone = matching(old.table, keys.rename_columns(list(relation.key or relation.names)))
        stayed = old.without(gone)
        segment = f"{self.invocation.name}/{name}{CAME}"
        state = stayed.plus(new, segment)
        check_key(
            state.table,
            relation.key,
            f"After {self.invocation.name} (node {self.invocation.node}) its state {name}",
            "Delete a tuple before one with its key is inserted, or insert fewer.",
        )
        if self.trace is None:
            self._store(name + CAME, Kind.DERIVED, new, relation)
            return StateChange(old.origin.take(gone), new, state), None
        stay = ~mask_of(gone, old.table.num_rows)
        before = self.tuples[name].take(np.flatnonzero(stay))
        came = TupleNodes(Nodes.concatenated([]))
        if answer is not None:
            came = self._derived(
                answer, order, TupleTarget(name + CAME, order, name, relation.key, own=True)
            )
        values = kept(self.trace, name + CAME, new, came.values, Kind.STATE)
        change = StateChange(old.origin.take(gone), new, stayed.plus(new, segment, values), values)
        return change, _both(before, came)


def _both(before: TupleNodes, came: TupleNodes) -> TupleNodes:
    """Return the tuples of a state relation: the remaining old tuples, then the new ones."""
    counts = len(before.nodes), len(came.nodes)
    values = {}
    for column in dict.fromkeys([*before.values, *came.values]):
        parts = [
            tuples.values.get(column, Nodes.none(count))
            for tuples, count in zip((before, came), counts, strict=True)
        ]
        values[column] = Nodes.concatenated(parts)
    return TupleNodes(Nodes.concatenated([before.nodes, came.nodes]), values)
