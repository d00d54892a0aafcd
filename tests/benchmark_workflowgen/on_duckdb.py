"""Workflows run by DuckDB, as an engine that shares nothing with ours but the texts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import sqlglot

from benchmark_workflowgen.dealerships.bids import calc_bid
from lipstick.workflow import Module, Relation, Workflow
from lipstick.workflow.definition.shape import execution_order
from lipstick.workflow.definition.steps import steps

Rows = list[tuple[Any, ...]]
Outputs = dict[tuple[str, str], Rows]


class DuckRun:
    """Executions of a workflow whose state only ever grows.

    Attributes
    ----------
    outputs
        Per execution the rows of each node's outputs.
    state
        The rows of each module's state relations in the end.
    """

    def __init__(
        self,
        workflow: Workflow,
        state: Mapping[str, Mapping[str, pa.Table]],
        inputs: Sequence[Mapping[str, Any]],
    ) -> None:
        self._workflow = workflow
        self._connection = duckdb.connect()
        _register(self._connection)
        self.state = {
            name: {
                relation: _rows(state[name][relation]) if relation in state.get(name, {}) else []
                for relation in module.state
            }
            for name, module in workflow.modules.items()
        }
        self.outputs: list[Outputs] = []
        for given in inputs:
            self.outputs.append(self._execute(given))
        self._connection.close()

    def _execute(self, given: Mapping[str, Any]) -> Outputs:
        shape, outputs = self._workflow.shape, Outputs()
        for node in execution_order(shape):
            module = shape.nodes[node]
            arriving = {name: list(given.get(name, ())) for name in module.inputs}
            for edge in shape.incoming(node):
                for source, target in self._workflow.flows(edge).items():
                    arriving[target] += outputs[edge.source, source]
            for relation, rows in self._invoke(module, arriving).items():
                outputs[node, relation] = rows
        return outputs

    def _invoke(self, module: Module, arriving: Mapping[str, Rows]) -> dict[str, Rows]:
        state = self.state[module.name]
        for name, relation in module.inputs.items():
            self._fill(name, relation, arriving[name])
        for name, relation in module.state.items():
            self._fill(name, relation, state[name])
        outputs, changes = {}, {}
        parts = sorted(steps(module.specification), key=lambda step: step.part == "query_output")
        for step in parts:
            if step.part == "query_output" and changes:
                for name, rows in changes.items():
                    state[name] += rows
                    self._fill(name, module.state[name], state[name])
                changes = {}
            text = sqlglot.transpile(step.query.sql, read="spark", write="duckdb")[0]
            if step.role == "insert":
                changes[step.name] = self._connection.execute(text).fetchall()
            elif step.name in module.outputs:
                outputs[step.name] = self._connection.execute(text).fetchall()
            else:
                self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {step.name} AS {text}")
        return outputs

    def _fill(self, name: str, relation: Relation, rows: Rows) -> None:
        columns = ", ".join(f'"{column}" {kind}' for column, kind in relation.columns)
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")
        if rows:
            given = dict(zip(relation.names, zip(*rows, strict=True), strict=True))
            self._connection.register("given", pa.table({k: list(v) for k, v in given.items()}))
            self._connection.execute(f"INSERT INTO {name} SELECT * FROM given")


def _rows(table: pa.Table) -> Rows:
    return [tuple(row.values()) for row in table.to_pylist()]


def _register(connection: duckdb.DuckDBPyConnection) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "numpy.core", DeprecationWarning)  # DuckDB's own
        connection.create_function(
            "CalcBid",
            calc_bid.func,
            ["VARCHAR", "BIGINT", "BIGINT", "BIGINT"],
            "BIGINT",
            null_handling="special",
        )
