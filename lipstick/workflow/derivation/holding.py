"""The nodes of conditions on values, and of whatever else values decide about rows.

A condition on values that have v-nodes is a node of its own, `[NumAvail > 2]`, made of the row and
of these, and the row that passed it is `·` of both: a deletion that changes a value makes it
unknown, like a black box. Where a value decides about several rows at once, into which group one
falls or which of them LIMIT shows, they all depend on one node more, `+` of what all values decide.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphquery.model import Kind
from lipstick.engines.memory.store import every
from lipstick.workflow.derivation.columns import Column, computed_from, expression_text, predicates
from lipstick.workflow.derivation.nodes import Nodes, Trace
from lipstick.workflow.derivation.reading import MemberReading, sides
from rewriter.blocks import Block
from rewriter.interpret import interpret
from semiring.base import Array

Compared = Sequence[tuple[str, list[Nodes]]]
"""What conditions are called, and the nodes of the values that they are on."""


def compared(reading: MemberReading) -> Compared:
    """The conditions of members on values that a deletion may change."""
    block, core = reading.block, reading.block.core
    generators = () if core is None else core.generators
    scalars = [
        *predicates(core),
        *block.conditions,
        *(generator.argument for generator in generators),
    ]
    conditions = [
        (f"[{expression_text(block, scalar)}]", reading.inputs(computed_from(block, scalar)))
        for scalar in map(interpret, scalars)
    ]
    for membership in block.factors:
        texts = (expression_text(block, interpret(left)) for left, _ in membership.pairs)
        conditions.append((f"[{', '.join(texts)} IN]", reading.inputs(sides(block, membership))))
    return changing(conditions)


def deciding_keys(block: Block) -> list[Column]:
    """The columns of a grouping's keys, without those that its members' conditions are on.

    A member with another value would have to pass these anew.
    """
    condition_columns = {
        column
        for scalar in (*predicates(block.core), *block.conditions)
        for column in computed_from(block, interpret(scalar))
    }
    keys = [column for _, key in block.keys for column in computed_from(block, interpret(key))]
    return [column for column in dict.fromkeys(keys) if column not in condition_columns]


def changing(conditions: Compared) -> Compared:
    """The conditions that are on some values."""
    return [(label, inputs) for label, inputs in conditions if inputs]


def holding(
    trace: Trace, nodes: Nodes, conditions: Compared, name: str, pool: int, ranks: Array
) -> Nodes:
    """Rows that have passed conditions, the nodes of a pool: products with the conditions."""
    trace.edges(nodes, pool, ranks)
    for number, (label, inputs) in enumerate(conditions, start=1):
        condition = trace.pool(f"{name}.condition{number}", Kind.DERIVED, label, len(ranks))
        for part in (nodes, *inputs):
            trace.edges(part, condition, ranks)
        trace.edges(Nodes.of(condition, ranks), pool, ranks)
    return Nodes.of(pool, ranks)


def passed(trace: Trace, nodes: Nodes, conditions: Compared, name: str) -> Nodes:
    """Rows that have passed conditions, as they are where there are none."""
    if not conditions:
        return nodes
    pool = trace.pool(f"{name}.where", Kind.DERIVED, "·", len(nodes))
    return holding(trace, nodes, conditions, name, pool, every(len(nodes)))


def settled(trace: Trace, name: str, label: str, inputs: Sequence[Nodes]) -> tuple[int, int]:
    """Add nodes for what values decide, one per row and one for all rows; return their pools."""
    count = len(inputs[0])
    pool = trace.pool(name, Kind.DERIVED, label, count)
    for nodes in inputs:
        trace.edges(nodes, pool, every(count))
    together = trace.pool(f"{name}.all", Kind.DERIVED, "+", 1)
    trace.edges(Nodes.of(pool, every(count)), together, np.zeros(count, dtype=np.int64))
    return pool, together


def grouped_by(trace: Trace, nodes: Nodes, keys: Sequence[Nodes], name: str) -> tuple[Nodes, int]:
    """Members of groups whose keys a deletion may change, and a node of all of the keys.

    Each is in its group because of its keys, and in another once they change: any of the groups
    may then have other members.
    """
    pools = settled(trace, f"{name}.key", "[GROUP BY]", keys)
    count = every(len(nodes))
    pool = trace.pool(f"{name}.member", Kind.DERIVED, "·", len(nodes))
    trace.edges(nodes, pool, count)
    trace.edges(Nodes.of(pools[0], count), pool, count)
    return Nodes.of(pool, count), pools[1]


def depend(trace: Trace, pool: int, ranks: Array, single: Sequence[int]) -> None:
    """Make nodes of a pool depend on pools of one node."""
    for single_pool in single:
        trace.edges(Nodes.of(single_pool, np.zeros_like(ranks)), pool, ranks)
