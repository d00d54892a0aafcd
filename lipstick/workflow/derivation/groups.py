"""The v-nodes of a grouping: constants, tensors `⊗`, aggregates, and values computed from them.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 3.2; *Provenance
for Aggregate Queries*, PODS 2011.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.model import Kind, Port
from graphquery.values import VALUE_COLUMN
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.state import values as evaluated
from lipstick.workflow.definition.functions import called
from lipstick.workflow.derivation.blocks import (
    Column,
    computed_from,
    expression_text,
    plain_source,
    plain_text,
)
from lipstick.workflow.derivation.nodes import InvocationTrace, Nodes
from lipstick.workflow.derivation.reading import (
    MemberReading,
)
from lipstick.workflow.errors import WorkflowError
from rewriter.blocks import GROUP, Output
from rewriter.interpret import AggregateCall, Interpreted, UninterpretableError, interpret
from semiring.arrays.arrow import decoded, normal
from semiring.arrays.segments import index_of
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class GroupedNodes:
    """The members of some groups.

    Parameters
    ----------
    rows, positions
        The block's groups, and the positions of those meant.
    ranks
        The ordinal of each group's node.
    members, owners
        The groups' members, group by group, and the ordinal of each one's group.
    nodes
        The members' p-nodes.
    reading
        What the members read.
    """

    rows: GroupRows
    positions: Array
    ranks: Array
    members: Array
    owners: Array
    nodes: Nodes
    reading: MemberReading


@dataclass(frozen=True, slots=True)
class GroupValues:
    """The v-nodes of some groups, in the order of their positions.

    Parameters
    ----------
    columns
        By column, the v-nodes of its values.
    conditions
        For every condition of HAVING on aggregates its text, and the nodes that it reads.
    order
        The sort keys of the groups, if LIMIT cuts them.
    """

    columns: Mapping[str, Nodes]
    conditions: Sequence[tuple[str, list[Nodes]]]
    order: Sequence[Nodes]


def _aggregates(
    trace: InvocationTrace,
    names: Mapping[str, str],
    groups: GroupedNodes,
    functions: Collection[str],
) -> dict[str, Nodes]:
    """Add the v-nodes of those aggregates that have names."""
    nodes: dict[str, Nodes] = {}
    for aggregate, call in groups.rows.calls.items():
        if aggregate in names:
            call_name = call.text.partition("(")[0].lower()
            label = call.function or called(call.text, functions) or call_name
            nodes[aggregate] = _aggregate(trace, names[aggregate], label, aggregate, call, groups)
    return nodes


def aggregate_nodes(
    trace: InvocationTrace,
    name: str,
    columns: Mapping[str, str],
    groups: GroupedNodes,
    functions: Collection[str],
    scalars_of: Callable[[Sequence[Column]], list[Nodes]],
) -> GroupValues:
    """Add the v-nodes of a grouping's aggregates, and of the values computed from them.

    Parameters
    ----------
    name
        Of the groups' nodes, behind the invocation's.
    columns
        The names of renamed outputs of the block.
    functions
        The black boxes among the functions that the query calls.
    scalars_of
        From columns to the nodes that scalar subqueries among them depend on, group by group.

    Raises
    ------
    WorkflowError
        For an aggregated value that only Spark can compute.
    """
    rows, block = groups.rows, groups.rows.block
    nodes_by_column: dict[str, Nodes] = {}
    scalars = [(output, interpret(output.scalar)) for output in block.outputs]
    named = {
        s.column[1]: columns.get(o.name, o.name)
        for o, s in scalars
        if s.column is not None and s.column[0] == GROUP
    }
    having = [interpret(condition) for condition in block.having]
    order = [interpret(key.scalar) for key in block.order] if block.limited else []
    used = {
        column
        for scalar in (*(s for _, s in scalars), *having, *order)
        for alias, column in scalar.columns
        if alias == GROUP
    }
    names = {aggregate: f"{name}.{named.get(aggregate, aggregate)}" for aggregate in used}
    aggregates = _aggregates(trace, names, groups, functions)

    def inputs(scalar: Interpreted) -> list[Nodes]:
        of_aggregates = [aggregates[c] for a, c in scalar.columns if a == GROUP and c in aggregates]
        return [*of_aggregates, *scalars_of(scalar.columns)]

    for output, scalar in scalars:
        column = columns.get(output.name, output.name)
        if scalar.column is not None and scalar.column[1] in aggregates:
            nodes_by_column[column] = aggregates[scalar.column[1]]
        elif made_of := inputs(scalar):
            text = expression_text(block, scalar)
            label = called(text, functions) or text
            pool_name = f"{name}.{column}"
            nodes_by_column[column] = _computed(trace, pool_name, label, output, made_of, groups)
    conditions = [(f"[{_condition_text(rows, scalar)}]", inputs(scalar)) for scalar in having]
    return GroupValues(
        nodes_by_column,
        [(label, made_of) for label, made_of in conditions if made_of],
        [nodes for scalar in order for nodes in inputs(scalar)],
    )


def _condition_text(rows: GroupRows, scalar: Interpreted) -> str:
    """Return a condition as readable text, with the calls of its aggregates."""
    text = expression_text(rows.block, scalar)
    names = "|".join(map(re.escape, rows.calls))
    return re.sub(rf"\b({names})\b", lambda match: _plain(rows.calls[match[0]].text), text)


def _plain(call: str) -> str:
    return re.sub(r"\bm\.", "", call.replace("`", ""))


def _aggregate(
    trace: InvocationTrace,
    suffix: str,
    label: str,
    aggregate: str,
    call: AggregateCall,
    groups: GroupedNodes,
) -> Nodes:
    values = groups.rows.base.take(aggregate, groups.positions)
    table = _by_rank(values, groups.ranks)

    def made_by(label: str) -> int:
        return trace.pool(suffix, Kind.VALUE, label, len(groups.ranks), values=table)

    arguments = {c for a in call.arguments for c in computed_from(groups.rows.block, a)}
    read = groups.reading.inputs(sorted(arguments))
    if call.function is None or (call.distinct and read):
        # Equality of values is unknown when the values may change.
        pool = made_by(label if call.function is None else _plain(call.text))
        for nodes in (groups.nodes, *read):
            trace.edges(nodes, pool, groups.owners)
        return Nodes.of(pool, groups.ranks)
    pool = made_by(label)
    try:
        rows, constants = aggregated_values(trace, suffix, call, groups.members, groups.reading)
    except UninterpretableError as error:
        raise WorkflowError(
            f"The aggregated value {error} can be computed by Spark only, and tensors need it.\n"
            "Compute it as a column of a relation of the chain, and aggregate that."
        ) from error
    nodes, owners = groups.nodes.take(rows), groups.owners[rows]
    if call.distinct:
        nodes, owners, constants = _once(trace, suffix, nodes, owners, constants)
    tensors = tensor_nodes(trace, suffix, nodes, constants)
    trace.edges(tensors, pool, owners)
    return Nodes.of(pool, groups.ranks)


def tensor_nodes(trace: InvocationTrace, suffix: str, nodes: Nodes, constants: Nodes) -> Nodes:
    """Add the tensors of some members and their values."""
    pool = trace.pool(f"{suffix}.tensors", Kind.VALUE, "⊗", len(nodes))
    every = np.arange(len(nodes), dtype=np.int64)
    trace.edges(nodes, pool, every)
    trace.edges(constants, pool, every, Port.VALUE)
    return Nodes.of(pool, every)


def aggregated_values(
    trace: InvocationTrace, suffix: str, call: AggregateCall, chosen: Array, reading: MemberReading
) -> tuple[Array, Nodes]:
    """Return the members with non-NULL aggregated values, by index, and the v-nodes of the values.

    Raises
    ------
    UninterpretableError
        When only Spark can compute the values.
    """
    members = reading.members
    columns = [_evaluated(members, chosen, argument) for argument in call.arguments]
    there = np.ones(len(chosen), dtype=np.bool_)
    for column in columns:
        there &= column.is_valid().to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(there)
    if len(columns) == 1:
        source = plain_source(members.block, call.arguments[0])
        known = None if source is None else reading.values(*source)
        if known is not None and bool((known.ordinals[rows] >= 0).all()):
            return rows, known.take(rows)
        kept = columns[0].take(pa.array(rows))
        read = reading.inputs(computed_from(members.block, call.arguments[0]))
        if read:
            return rows, _changeable(trace, suffix, call.arguments[0], kept, read, rows)
    else:
        kept = pa.array(np.ones(len(rows), dtype=np.int64))
    kept = normal(decoded(kept))
    codes, first = _distinct(kept)
    table = pa.table({VALUE_COLUMN: kept.take(pa.array(first))})
    pool = trace.pool(
        f"{suffix}.values", Kind.VALUE, "", len(first), values=table, key=(VALUE_COLUMN,)
    )
    return rows, Nodes.of(pool, codes)


def _changeable(
    trace: InvocationTrace,
    suffix: str,
    argument: Interpreted,
    kept: pa.Array,
    read: Sequence[Nodes],
    rows: Array,
) -> Nodes:
    """Return v-nodes of values that are computed from others, one per member."""
    table = pa.table({VALUE_COLUMN: kept})
    pool = trace.pool(
        f"{suffix}.values", Kind.VALUE, plain_text(argument.text), len(rows), values=table
    )
    every = np.arange(len(rows), dtype=np.int64)
    for nodes in read:
        trace.edges(nodes.take(rows), pool, every)
    return Nodes.of(pool, every)


def _distinct(column: pa.Array) -> tuple[Array, Array]:
    """Number the distinct values of a column in their order, and find a row of each."""
    codes, first = distinct([column], len(column))
    kind = column.type
    if pa.types.is_nested(kind) or len(first) < 2:
        return codes, first
    order = pc.array_sort_indices(column.take(pa.array(first))).to_numpy()
    numbers = index_of(order, len(first))
    return numbers[codes], first[order]


def _evaluated(members: Members, chosen: Array, argument: Interpreted) -> pa.Array:
    return evaluated(argument, members.resolve(chosen, members.base), len(chosen), None)


def _once(
    trace: InvocationTrace, suffix: str, nodes: Nodes, owners: Array, constants: Nodes
) -> tuple[Nodes, Array, Nodes]:
    """Return one of equal values in a group, behind the δ of the members with it."""
    columns = [pa.array(part) for part in (owners, constants.pools, constants.ordinals)]
    codes, first = distinct(columns, len(owners))
    pool = trace.pool(f"{suffix}.distinct", Kind.DERIVED, "δ", len(first))
    trace.edges(nodes, pool, codes)
    every = np.arange(len(first), dtype=np.int64)
    return Nodes.of(pool, every), owners[first], constants.take(first)


def _computed(
    trace: InvocationTrace,
    suffix: str,
    label: str,
    output: Output,
    made_of: Sequence[Nodes],
    groups: GroupedNodes,
) -> Nodes:
    """Return a v-node per group for a value computed from aggregates, named by its expression."""
    values = groups.rows.base.take(output.name, groups.positions)
    pool = trace.pool(
        suffix,
        Kind.VALUE,
        label,
        len(groups.ranks),
        values=_by_rank(values, groups.ranks),
    )
    for nodes in made_of:
        trace.edges(nodes, pool, groups.ranks)
    return Nodes.of(pool, groups.ranks)


def _by_rank(values: pa.Array, ranks: Array) -> pa.Table:
    return pa.table({VALUE_COLUMN: values.take(pa.array(np.argsort(ranks)))})
