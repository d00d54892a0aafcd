"""Order, and the rows it lets through."""

from __future__ import annotations

from dataclasses import dataclass

from rewriter.algebra.relation import Unary, require
from rewriter.algebra.scalars import Scalar
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class SortKey:
    """One item of ORDER BY; the direction and place of NULLs are always explicit."""

    scalar: Scalar
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Sort(Unary):
    """ORDER BY: post-processing, no factor in any annotation."""

    keys: tuple[SortKey, ...]

    def __post_init__(self) -> None:
        for key in self.keys:
            require(self, key.scalar, self.input)


@dataclass(frozen=True, slots=True)
class LocalSort(Unary):
    """SORT BY: the order in which each of Spark's tasks has its rows.

    The rows are the same; what chance decides of them follows their order.
    """

    keys: tuple[SortKey, ...]

    def __post_init__(self) -> None:
        for key in self.keys:
            require(self, key.scalar, self.input)


@dataclass(frozen=True, slots=True)
class Limit(Unary):
    """LIMIT and OFFSET. ``count`` None: no limit, an offset alone.

    Rows that the order leaves equal, all of them where there is none, are ordered by identity.
    """

    count: int | None
    offset: int = 0
    span: Span | None = None
