"""Operators that read no other: tracked relations and constants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from rewriter.algebra.relation import Relation
from rewriter.algebra.scalars import Attribute, Scalar
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class Scan(Relation):
    """One occurrence of a tracked relation.

    ``columns[i]`` is the name, in the relation, of the column that becomes ``attributes[i]``;
    ``marks`` are those of :class:`rewriter.bind.catalog.TrackedRelation`.
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

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class OneRow(Relation):
    """SELECT without FROM: one row of no columns, annotated 1."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return ()

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Constant(Relation):
    """VALUES or range(): rows of no tracked relation, annotated 1.

    Parameters
    ----------
    table
        ``exp.Values`` of rows of constants, or the call of a table function of constants.
    position
        The attribute that tells the rows apart: the last column of VALUES, or the number itself.
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

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return ()
