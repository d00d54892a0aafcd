"""Bags of rows added to and taken from each other."""

from __future__ import annotations

from dataclasses import dataclass

from rewriter.algebra.relation import Relation
from rewriter.algebra.scalars import Attribute
from rewriter.position import Span


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
