"""What a user gives a run: the inputs of its executions, and its initial state."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from graphquery.federation.crossings.dataset import is_dataset, read_dataset
from lipstick.capture.files import arrow_of
from lipstick.workflow.definition.module import Module
from lipstick.workflow.definition.relation import Relation
from lipstick.workflow.definition.shape import Shape
from lipstick.workflow.errors import InputError
from lipstick.workflow.execution.ledger import EXPORTED
from lipstick.workflow.execution.tables import as_table, check_key, struct_of


def given_input(
    spark: SparkSession, shape: Shape, execution: int, given: Mapping[str, Any]
) -> dict[tuple[str, str], pa.Table]:
    """The input relations of an execution, by node and relation.

    Raises
    ------
    InputError
        For nodes or relations that there are not or that are missing, and rows that do not fit.
    RunError
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
                    raise InputError(
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
    """As `as_table`; a dataset that another store exported is marked with where it is.

    Raises
    ------
    CrossingError
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
                    raise InputError(
                        f"Execution {execution}: node {name} has no input {relation!r}.\n"
                        f"Its inputs: {', '.join(inputs[name]) or 'none'}."
                    )
                yield (name, relation), inner
            continue
        nodes = [node for node, relations in inputs.items() if name in relations]
        if len(nodes) != 1:
            problem = "several input nodes have" if nodes else "no input node has"
            raise InputError(
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
    """The relations of an initial state, by module and relation.

    Raises
    ------
    InputError
        For modules or relations that there are not, and rows that do not fit.
    RunError
        For several tuples of one key.
    """
    state_tables: dict[str, dict[str, pa.Table]] = {}
    for module, relations in state.items():
        if module not in modules:
            raise InputError(
                f"The initial state has a module {module!r}, which is not there.\n"
                f"The modules are: {', '.join(modules)}."
            )
        for name, rows in relations.items():
            declared = modules[module].state.get(name)
            if declared is None:
                raise InputError(
                    f"The initial state of {module} has {name!r}, which is no state relation.\n"
                    f"Its state: {', '.join(modules[module].state) or 'none'}."
                )
            where = f"The initial state {name} of {module}"
            schema = arrow_of(struct_of(declared))
            table = from_elsewhere(spark, rows, declared, schema, where)
            check_key(table, declared.key, where, "Give every key once.")
            state_tables.setdefault(module, {})[name] = table
    return state_tables
