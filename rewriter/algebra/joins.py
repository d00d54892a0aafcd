"""Operators of two inputs: joins, semi-joins and anti-joins, unions and differences of bags."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from rewriter.algebra.relation import Attribute, Relation, Scalar, require
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


@dataclass(frozen=True, slots=True)
class UnionAll(Relation):
    """The bag union of inputs with equally many columns, matched by position."""

    branches: tuple[Relation, ...]
    output: tuple[Attribute, ...]
    span: Span | None = None

    def __post_init__(self) -> None:
        if len(self.branches) < 2:
            raise ValueError("a union has two inputs or more")
        for branch in self.branches:
            if len(branch.attributes) != len(self.output):
                raise ValueError("the inputs of a union have equally many columns")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return self.branches


@dataclass(frozen=True, slots=True)
class BagDifference(Relation):
    """EXCEPT ALL: rows of the left, as often as they are there more often than in the right.

    With ``common`` INTERSECT ALL: as often as they are there in both. Columns go by position.
    """

    left: Relation
    right: Relation
    output: tuple[Attribute, ...]
    common: bool = False
    span: Span | None = None

    def __post_init__(self) -> None:
        for side in (self.left, self.right):
            if len(side.attributes) != len(self.output):
                raise ValueError("the inputs of a set operation have equally many columns")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)
