"""Joins: pairs of rows, and rows that have or lack a partner."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from rewriter.algebra.relation import Relation, require
from rewriter.algebra.scalars import Attribute, Scalar
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class Join(Relation):
    """Two inputs, and a condition on pairs of their rows; none: it is true of all."""

    left: Relation
    right: Relation
    condition: Scalar | None = None
    span: Span | None = None

    def __post_init__(self) -> None:
        if self.condition is not None:
            require(self, self.condition, self.left, self.right)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class InnerJoin(Join):
    """Pairs of rows for which the condition is true; no condition: the cross product."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.left.attributes + self.right.attributes


@dataclass(frozen=True, slots=True)
class SemiJoin(Join):
    """Rows of the left for which some row of the right makes the condition true: t · δ(Σ).

    LEFT SEMI JOIN, and IN and EXISTS where they are conjuncts of WHERE, ON or HAVING. Correlated
    predicates of the subquery stand in ``condition``, those on the right alone inside ``right``.
    """

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.left.attributes


@dataclass(frozen=True, slots=True)
class AntiJoin(Join):
    """Rows of the left for which no row of the right makes the condition true: t · (1 ⊖ δ(Σ)).

    LEFT ANTI JOIN, NOT EXISTS, NOT IN and EXCEPT, as SemiJoin for the others.
    """

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.left.attributes


class Side(Enum):
    """The inputs of an outer join whose rows are kept without a partner."""

    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"

    @property
    def keeps_left(self) -> bool:
        return self is not Side.RIGHT

    @property
    def keeps_right(self) -> bool:
        return self is not Side.LEFT


@dataclass(frozen=True, slots=True)
class OuterJoin(Join):
    """The inner join, and the rows of the kept sides without a partner, padded with NULLs."""

    side: Side = field(kw_only=True)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.left.attributes + self.right.attributes
