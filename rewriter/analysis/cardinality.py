"""How many rows a relation can have, whatever the data."""

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


def at_most_one_row(relation: Relation) -> bool:
    """Whether a relation is known never to have two rows: aggregates without keys, and joins."""
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
