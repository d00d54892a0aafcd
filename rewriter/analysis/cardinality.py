"""Relations of at most one row, and blocks whose potential tuples are all certain."""

from __future__ import annotations

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    CorrelatedScalar,
    ExistenceJoin,
    Filter,
    InnerJoin,
    Limit,
    LocalSort,
    OneRow,
    OuterJoin,
    Project,
    Relation,
    ScalarSubquery,
    SemiJoin,
    Side,
    Sort,
    Windows,
)
from rewriter.blocks import Block, Kind


def at_most_one_row(relation: Relation) -> bool:
    """Return True if a relation never has two rows: aggregates without keys, and joins of them."""
    match relation:
        case OneRow():
            return True
        case Aggregate():
            return not relation.keys and relation.sets is None
        case Limit():
            return relation.count in (0, 1) or at_most_one_row(relation.input)
        case Project() | Filter() | ScalarSubquery() | CorrelatedScalar() | Windows():
            return at_most_one_row(relation.input)
        case Sort() | LocalSort():
            return at_most_one_row(relation.input)
        case SemiJoin() | AntiJoin() | ExistenceJoin():
            return at_most_one_row(relation.left)
        case InnerJoin():
            return at_most_one_row(relation.left) and at_most_one_row(relation.right)
        case OuterJoin():
            both = at_most_one_row(relation.left) and at_most_one_row(relation.right)
            return both and relation.side is not Side.FULL
    return False


def is_certain(block: Block) -> bool:
    """Return True if every potential tuple of a block is present."""
    if block.having or block.limited or block.difference is not None:
        return False
    if block.kind is Kind.UNION:
        return all(map(is_certain, block.branches))
    return not block.identity or has_certain_members(block)


def has_certain_members(block: Block) -> bool:
    """Return True if every member of a block is a row of its tail."""
    read = (lookup.block for lookup in block.joined)
    return not block.memberships and not block.conditions and all(map(is_certain, read))
