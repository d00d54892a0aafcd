"""The v-nodes of a grouping: constants, tensors `⊗`, aggregates, and what is computed from them.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 3.2; *Provenance
for Aggregate Queries*, PODS 2011.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery.model import Kind, Port
from graphquery.values import VALUE_COLUMN
from lipstick.memory.groups import GroupRows
from lipstick.memory.keys import distinct, normal
from lipstick.memory.state import values as evaluated
from lipstick.workflow.columns import expression_text, plain_source
from lipstick.workflow.errors import RunError
from lipstick.workflow.functions import called
from lipstick.workflow.nodes import Nodes, Trace
from rewriter.blocks import GROUP, Output
from rewriter.interpret import AggregateCall, Interpreted, UninterpretableError, interpret
from semiring.base import Array

Carried = Callable[[str, str], Nodes | None]
"""From a column of a source to the v-nodes of its values, one per member; None: it has none."""


@dataclass(frozen=True, slots=True)
class Grouped:
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
    """

    rows: GroupRows
    positions: Array
    ranks: Array
    members: Array
    owners: Array
    nodes: Nodes


def aggregate_nodes(
    trace: Trace,
    name: str,
    columns: Mapping[str, str],
    groups: Grouped,
    functions: Collection[str],
    carried: Carried,
) -> tuple[dict[str, Nodes], list[tuple[str, list[Nodes]]]]:
    """Add the v-nodes of the aggregates that a grouping gives, and of what it computes from them.

    Parameters
    ----------
    name
        Of the groups' nodes, behind the invocation's.
    columns
        What the block's outputs are called; left out are those called as they are.
    functions
        The black boxes among the functions that the query calls.
    carried
        The v-nodes that values have already.

    Returns
    -------
    dict
        By column, the v-nodes of its values, in the order of the groups' positions.
    list
        For every condition of HAVING on aggregates what it is called, and their v-nodes.

    Raises
    ------
    RunError
        For an aggregated value that only Spark can compute.
    """
    rows, block = groups.rows, groups.rows.block
    found: dict[str, Nodes] = {}
    aggregates: dict[str, Nodes] = {}
    scalars = [(output, interpret(output.scalar)) for output in block.outputs]
    named = {
        s.column[1]: columns.get(o.name, o.name)
        for o, s in scalars
        if s.column is not None and s.column[0] == GROUP
    }
    having = [interpret(condition) for condition in block.having]
    used = {
        column
        for scalar in (*(s for _, s in scalars), *having)
        for alias, column in scalar.columns
        if alias == GROUP
    }
    for aggregate, call in rows.calls.items():
        if aggregate in used:
            suffix = f"{name}.{named.get(aggregate, aggregate)}"
            own = call.text.partition("(")[0].lower()
            function = call.function or called(call.text, functions) or own
            aggregates[aggregate] = _aggregate(
                trace, suffix, function, aggregate, call, groups, carried
            )
    for output, scalar in scalars:
        column = columns.get(output.name, output.name)
        if scalar.column is not None and scalar.column[1] in aggregates:
            found[column] = aggregates[scalar.column[1]]
        elif any(alias == GROUP and c in aggregates for alias, c in scalar.columns):
            text = expression_text(block, scalar)
            label = called(text, functions) or text
            made = f"{name}.{column}"
            found[column] = _computed(trace, made, label, output, scalar, aggregates, groups)
    conditions = []
    for scalar in having:
        inputs = [aggregates[c] for a, c in scalar.columns if a == GROUP and c in aggregates]
        if inputs:
            conditions.append((f"[{_condition_text(rows, scalar)}]", inputs))
    return found, conditions


def _condition_text(rows: GroupRows, scalar: Interpreted) -> str:
    """A condition as people read it, with the calls of its aggregates."""
    text = expression_text(rows.block, scalar)
    names = "|".join(map(re.escape, rows.calls))
    return re.sub(rf"\b({names})\b", lambda found: _plain(rows.calls[found[0]].text), text)


def _plain(call: str) -> str:
    return re.sub(r"\bm\.", "", call.replace("`", ""))


def _aggregate(
    trace: Trace,
    suffix: str,
    label: str,
    aggregate: str,
    call: AggregateCall,
    groups: Grouped,
    carried: Carried,
) -> Nodes:
    values = groups.rows.base.take(aggregate, groups.positions)
    made = trace.pool(
        suffix, Kind.VALUE, label, len(groups.ranks), values=_by_rank(values, groups.ranks)
    )
    found = Nodes.of(made, groups.ranks)
    if call.function is None:
        trace.edges(groups.nodes, made, groups.owners)
        return found
    rows, constants = _values(trace, suffix, call, groups, carried)
    nodes, owners = groups.nodes.take(rows), groups.owners[rows]
    if call.distinct:
        nodes, owners, constants = _once(trace, suffix, nodes, owners, constants)
    tensors = trace.pool(f"{suffix}.tensors", Kind.VALUE, "⊗", len(owners))
    every = np.arange(len(owners), dtype=np.int64)
    trace.edges(nodes, tensors, every)
    trace.edges(constants, tensors, every, Port.VALUE)
    trace.edges(Nodes.of(tensors, every), made, owners)
    return found


def _values(
    trace: Trace, suffix: str, call: AggregateCall, groups: Grouped, carried: Carried
) -> tuple[Array, Nodes]:
    """The members whose value is not NULL, by place, and the v-nodes of their values."""
    count = len(groups.members)
    columns = [_evaluated(groups, argument) for argument in call.arguments]
    there = np.ones(count, dtype=np.bool_)
    for column in columns:
        there &= column.is_valid().to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(there)
    if len(columns) == 1:
        source = plain_source(groups.rows.block, call.arguments[0])
        known = None if source is None else carried(*source)
        if known is not None and bool((known.ordinals[rows] >= 0).all()):
            return rows, known.take(rows)
        kept = columns[0].take(pa.array(rows))
    else:
        kept = pa.array(np.ones(len(rows), dtype=np.int64))
    kept = normal(kept.dictionary_decode() if pa.types.is_dictionary(kept.type) else kept)
    codes, first = _distinct(kept)
    table = pa.table({VALUE_COLUMN: kept.take(pa.array(first))})
    pool = trace.pool(
        f"{suffix}.values", Kind.VALUE, "", len(first), values=table, key=(VALUE_COLUMN,)
    )
    return rows, Nodes.of(pool, codes)


def _distinct(column: pa.Array) -> tuple[Array, Array]:
    """Number the values of a column in their order, and find a row of each."""
    codes, first = distinct([column], len(column))
    kind = column.type
    if pa.types.is_nested(kind) or len(first) < 2:
        return codes, first
    order = pc.array_sort_indices(column.take(pa.array(first))).to_numpy()
    numbers = np.empty(len(first), dtype=np.int64)
    numbers[order] = np.arange(len(first))
    return numbers[codes], first[order]


def _evaluated(groups: Grouped, argument: Interpreted) -> pa.Array:
    members = groups.rows.members
    try:
        return evaluated(
            argument, members.resolve(groups.members, members.base), len(groups.members), None
        )
    except UninterpretableError as error:
        raise RunError(
            f"The aggregated value {argument.text} can be computed by Spark only, and tensors need "
            "it.\nCompute it as a column of a relation of the chain, and aggregate that."
        ) from error


def _once(
    trace: Trace, suffix: str, nodes: Nodes, owners: Array, constants: Nodes
) -> tuple[Nodes, Array, Nodes]:
    """Of equal values in a group one, behind the δ of the members that have it."""
    columns = [pa.array(part) for part in (owners, constants.pools, constants.ordinals)]
    codes, first = distinct(columns, len(owners))
    pool = trace.pool(f"{suffix}.distinct", Kind.DERIVED, "δ", len(first))
    trace.edges(nodes, pool, codes)
    every = np.arange(len(first), dtype=np.int64)
    return Nodes.of(pool, every), owners[first], constants.take(first)


def _computed(
    trace: Trace,
    suffix: str,
    label: str,
    output: Output,
    scalar: Interpreted,
    aggregates: dict[str, Nodes],
    groups: Grouped,
) -> Nodes:
    """A v-node per group for a value computed from aggregates, named by its expression."""
    values = groups.rows.base.take(output.name, groups.positions)
    made = trace.pool(
        suffix,
        Kind.VALUE,
        label,
        len(groups.ranks),
        values=_by_rank(values, groups.ranks),
    )
    for alias, column in scalar.columns:
        if alias == GROUP and column in aggregates:
            trace.edges(aggregates[column], made, groups.ranks)
    return Nodes.of(made, groups.ranks)


def _by_rank(values: pa.Array, ranks: Array) -> pa.Table:
    return pa.table({VALUE_COLUMN: values.take(pa.array(np.argsort(ranks)))})
