"""Which conditions of a block's tail a deletion may decide."""

from __future__ import annotations

from collections.abc import Container

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import GROUP, MEMBER, Block


def uncertain_having(block: Block) -> tuple[Scalar, ...]:
    """Return the conditions of HAVING that a deletion may decide: on more than the group's keys.

    None where the group's annotation itself says whether it is there.
    """
    if block.difference is not None:
        return ()
    if not block.stable_identity:
        return block.having
    keys = {name for name, _ in block.keys}

    def is_certain(condition: Scalar) -> bool:
        columns = condition.find_all(exp.Column)
        return all(node.table == GROUP and node.name in keys for node in columns)

    return tuple(condition for condition in block.having if not is_certain(condition))


def dependent(condition: Scalar, block: Block, known: Container[str] = ()) -> bool:
    """Tell whether a tail scalar reads more than members, and what is stable of other blocks.

    ``known`` are further aliases whose columns are stable.
    """
    stable: dict[str, set[str]] = {}
    for lookup in block.lookups:
        if not lookup.scalar and lookup.block.stable_identity:
            names = {o.name for o in lookup.block.outputs if o.stable}
            stable[lookup.alias] = names | set(lookup.block.identity)
    return any(
        node.table != MEMBER
        and node.table not in known
        and node.name not in stable.get(node.table, set())
        for node in condition.find_all(exp.Column)
    )
