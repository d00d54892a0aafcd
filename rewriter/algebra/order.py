"""Order, and the rows it lets through."""

from __future__ import annotations

from dataclasses import dataclass

from rewriter.algebra.relation import Relation, require
from rewriter.algebra.scalars import Attribute, Scalar
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class SortKey:
    """One item of ORDER BY; the direction and place of NULLs are always explicit."""

    scalar: Scalar
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Sort(Relation):
    """ORDER BY: post-processing, no factor in any annotation."""

    input: Relation
    keys: tuple[SortKey, ...]

    def __post_init__(self) -> None:
        for key in self.keys:
            require(self, key.scalar, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.input.attributes

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)


@dataclass(frozen=True, slots=True)
class Limit(Relation):
    """LIMIT and OFFSET. ``count`` None: no limit, an offset alone.

    Rows that the order leaves equal, all of them where there is none, are ordered by identity.
    """

    input: Relation
    count: int | None
    offset: int = 0
    span: Span | None = None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.input.attributes

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)
