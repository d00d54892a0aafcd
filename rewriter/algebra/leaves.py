"""Operators that read no other: tracked relations, constants, and the rows of recursions.

A recursion is a relation of rows that were computed, or is unfolded into operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from rewriter.algebra.relation import Attribute, Relation, Scalar, Unary
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class Scan(Relation):
    """One occurrence of a tracked relation.

    ``columns[i]`` is the name, in the relation, of the column that becomes ``attributes[i]``;
    ``marks`` are as in :class:`rewriter.bind.catalog.TrackedRelation`.
    """

    relation: str
    columns: tuple[str, ...]
    output: tuple[Attribute, ...]
    span: Span | None = None
    marks: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.output):
            raise ValueError("a scan names each of its columns once")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output


@dataclass(frozen=True, slots=True)
class OneRow(Relation):
    """SELECT without FROM: one row of no columns, annotated 1."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Constant(Relation):
    """VALUES or range(): rows of no tracked relation, annotated 1.

    Parameters
    ----------
    table
        ``exp.Values`` of rows of constants, or the call of a table function of constants.
    position
        The attribute that identifies the rows: the last column of VALUES, or the number itself.
    """

    table: Scalar
    output: tuple[Attribute, ...]
    position: Attribute

    def __post_init__(self) -> None:
        if self.table.find(exp.Column) is not None:
            raise ValueError("a constant refers to no columns")
        if self.position not in self.output:
            raise ValueError("the rows of a constant are told apart by one of its columns")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output


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
    """Rows of a recursion: all of them, or the rows of the level before, which a step reads.

    ``first`` is the query that the recursion begins with, which gives the columns their types.
    """

    table: Iterated
    output: tuple[Attribute, ...]
    first: Relation
    span: Span | None = None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output
