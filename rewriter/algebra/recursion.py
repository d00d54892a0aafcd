"""Recursion: levels that are computed and read as data, or unfolded into operators."""

from __future__ import annotations

from dataclasses import dataclass

from rewriter.algebra.relation import Relation, Unary
from rewriter.algebra.scalars import Attribute
from rewriter.position import Span

LEVEL_VIEW = "_lipstick_level"
"""The view of the rows of a level: columns ``c0``, ``c1``, ..., and `LEVEL_ROW`."""
LEVEL_ROW = "_row"
"""The column that numbers the rows of all levels."""


@dataclass(frozen=True, slots=True)
class Level(Unary):
    """The rows of one level of a recursion, as the next level reads them: each a tuple."""

    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Iterated:
    """A view of rows of a recursion that were computed before, one per derivation.

    Parameters
    ----------
    columns
        The columns of the recursion, in order.
    position
        The column that numbers the rows.
    tokens
        Relations and the columns with the token of one of their tuples, all NULL where a row is
        derived without it. The annotation of a row is the product of its tokens.
    """

    view: str
    columns: tuple[str, ...]
    position: str
    tokens: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Iteration(Relation):
    """Rows of a recursion: all of them, or those of the level before, which a step reads.

    ``first`` is the query that the recursion begins with, of which the columns have their types.
    """

    table: Iterated
    output: tuple[Attribute, ...]
    first: Relation
    span: Span | None = None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return ()
