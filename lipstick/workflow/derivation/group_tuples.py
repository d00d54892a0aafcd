"""Groups in the provenance graph: `δ` of their members, and what values decide about them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from graphquery.model import Kind
from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.reach import Reached
from lipstick.engines.memory.store import every
from lipstick.workflow.derivation.aggregates import Grouped, aggregate_nodes
from lipstick.workflow.derivation.factors import Factors
from lipstick.workflow.derivation.holding import compared, deciding_keys, depend, grouped_by, passed
from lipstick.workflow.derivation.nodes import Nodes, Trace
from lipstick.workflow.derivation.reading import BlockTuples, MemberReading, Reading, Tuples
from lipstick.workflow.derivation.row_values import Target, tuple_pool
from semiring.base import Array


def group_tuples(
    trace: Trace,
    reading: Reading,
    functions: Collection[str],
    part: Reached,
    rows: GroupRows,
    target: Target,
) -> BlockTuples:
    """Add the groups of a block, and return them in the order of their positions.

    Parameters
    ----------
    functions
        The black boxes among the functions that the query calls.
    part
        The groups that are asked for, and their members.
    """
    block, owners = part.block, target.ranks[part.owners]
    factors = reading.at(rows.members, part.members).factors()
    order = factors.order(owners)
    members, owners = part.members[order], owners[order]
    of_members = reading.at(rows.members, members)
    nodes = _member_nodes(trace, factors.take(order), of_members, target.name)
    together: list[int] = []
    if decided := of_members.inputs(deciding_keys(block)):
        nodes, key_pool = grouped_by(trace, nodes, decided, target.name)
        together = [key_pool]
    held = "·" if block.having or together else "+"
    group = None
    if not block.keys:
        pool = tuple_pool(trace, target, "", held, final=True)
        trace.from_invocation(pool, len(target.ranks))
    elif block.difference is not None:
        group, pool = _difference(trace, rows, members, owners, nodes, target)
    elif block.aggregates or together:
        group = tuple_pool(trace, target, ".group", "δ", final=False)
        trace.edges(nodes, group, owners)
        pool = tuple_pool(trace, target, "", held, final=True)
        trace.edges(Nodes.of(group, target.ranks), pool, target.ranks)
    else:
        pool = tuple_pool(trace, target, "", "δ", final=True)
        trace.edges(nodes, pool, owners)
    depend(trace, pool, target.ranks, together)
    groups = Grouped(rows, part.positions, target.ranks, members, owners, nodes, of_members)
    values = aggregate_nodes(
        trace,
        target.name,
        target.columns,
        groups,
        functions,
        lambda columns: reading.scalars(block, columns, len(target.ranks)),
    )
    for number, (label, inputs) in enumerate(values.conditions, start=1):
        condition = tuple_pool(trace, target, f".condition{number}", label, final=False)
        if group is None:
            trace.from_invocation(condition, len(target.ranks))
        else:
            trace.edges(Nodes.of(group, target.ranks), condition, target.ranks)
        for values_of in inputs:
            trace.edges(values_of, condition, target.ranks)
        trace.edges(Nodes.of(condition, target.ranks), pool, target.ranks)
    return BlockTuples(Tuples(Nodes.of(pool, target.ranks), values.columns), values.order)


def _difference(
    trace: Trace, rows: GroupRows, members: Array, owners: Array, nodes: Nodes, target: Target
) -> tuple[int, int]:
    """The groups of a bag difference: not there without members of the left side.

    Those of what both sides have are not there without members of the right side, either.
    """
    assert rows.block.difference is not None
    sides_of = rows.sides(members)
    pools = []
    for side, name in enumerate((".group", ".other")):
        if side and not rows.block.difference.common:
            continue
        of_side = np.flatnonzero(sides_of == side)
        pools.append(tuple_pool(trace, target, name, "δ", final=False))
        trace.edges(nodes.take(of_side), pools[-1], owners[of_side])
    pool = tuple_pool(trace, target, "", "·", final=True)
    for each in pools:
        trace.edges(Nodes.of(each, target.ranks), pool, target.ranks)
    return pools[0], pool


def _member_nodes(trace: Trace, factors: Factors, reading: MemberReading, name: str) -> Nodes:
    """The p-nodes of members that are no tuples themselves."""
    nodes, count = factors.single, len(factors.counts)
    if nodes is None:
        pool = trace.pool(f"{name}.join", Kind.DERIVED, "·", count)
        factors.multiply(trace, pool, every(count))
        nodes = Nodes.of(pool, every(count))
    return passed(trace, nodes, compared(reading), name)
