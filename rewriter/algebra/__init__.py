"""The relational algebra that front ends produce and rewriting consumes.

One frozen dataclass per operator. Scalar expressions stay sqlglot expressions in which every
column reference is ``exp.Column(this=Identifier(id, quoted=True))``, without a table: ``id`` is
the :class:`Attribute` id, unique in the whole query, so that no operator needs to think of scope.

An operator checks on construction that every reference it makes is to an attribute of its input;
a plan that cannot be built is a bug in the front end, never an error of the user.
"""

from __future__ import annotations

from rewriter.algebra.joins import (
    AntiJoin,
    BagDifference,
    CorrelatedScalar,
    ExistenceJoin,
    InnerJoin,
    Join,
    OuterJoin,
    OuterRow,
    OuterValues,
    ScalarSubquery,
    SemiJoin,
    Side,
    UnionAll,
)
from rewriter.algebra.leaves import Constant, Iterated, Iteration, Level, OneRow, Scan
from rewriter.algebra.relation import (
    Attribute,
    Relation,
    Scalar,
    Unary,
    bracketed,
    column,
    conjuncts,
    is_compound,
    is_known,
    reference_counts,
    references,
    walk,
    with_inputs,
)
from rewriter.algebra.rows import (
    Aggregate,
    Draw,
    Filter,
    FirstRows,
    Generate,
    GroupingSets,
    Limit,
    LocalSort,
    Project,
    Sample,
    Sort,
    SortKey,
    Watermarked,
    Windows,
)

__all__ = [
    "Aggregate",
    "AntiJoin",
    "Attribute",
    "BagDifference",
    "Constant",
    "CorrelatedScalar",
    "Draw",
    "ExistenceJoin",
    "Filter",
    "FirstRows",
    "Generate",
    "GroupingSets",
    "InnerJoin",
    "Iterated",
    "Iteration",
    "Join",
    "Level",
    "Limit",
    "LocalSort",
    "OneRow",
    "OuterJoin",
    "OuterRow",
    "OuterValues",
    "Project",
    "Relation",
    "Sample",
    "Scalar",
    "ScalarSubquery",
    "Scan",
    "SemiJoin",
    "Side",
    "Sort",
    "SortKey",
    "Unary",
    "UnionAll",
    "Watermarked",
    "Windows",
    "bracketed",
    "column",
    "conjuncts",
    "is_compound",
    "is_known",
    "reference_counts",
    "references",
    "walk",
    "with_inputs",
]
