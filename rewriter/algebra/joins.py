"""Operators of two inputs: joins, semi-joins and anti-joins, unions and differences of bags."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from rewriter.algebra.relation import Attribute, Relation, Scalar, Unary, require, require_each
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


@dataclass(frozen=True, slots=True)
class ScalarSubquery(Relation):
    """The input with one more attribute: the value of an uncorrelated scalar subquery.

    No row of ``query`` gives NULL, more than one is an error when it runs. ``shown`` is the
    attribute of it that is the value; None: it has one only.
    """

    input: Relation
    query: Relation
    output: Attribute
    span: Span | None = None
    shown: Attribute | None = None

    def __post_init__(self) -> None:
        if self.shown is None and len(self.query.attributes) != 1:
            raise ValueError("a scalar subquery has one attribute")
        if self.shown is not None and self.shown not in self.query.attributes:
            raise ValueError(f"a scalar subquery has no attribute {self.shown.id!r}")

    @property
    def value(self) -> Attribute:
        """The attribute of the query that is the value."""
        return self.query.attributes[0] if self.shown is None else self.shown

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.input.attributes, self.output)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input, self.query)


@dataclass(frozen=True, slots=True)
class CorrelatedScalar(Relation):
    """The input with one more attribute: the value of a scalar subquery for each of its rows.

    Parameters
    ----------
    query
        The subquery, grouped by what the outer row is compared with.
    pairs
        The outer row's scalars, and the attributes of ``query`` they are equal to: its keys.
    value
        The subquery's value, an attribute of ``query``.
    empty
        Its value where no row of the subquery is selected, a constant: of a COUNT it is 0.
    null_safe
        NULL equals NULL in the pairs. Then ``empty`` is None.
    count
        How many rows the value was made of, an attribute of ``query``: an error if they are more
        than one. None: there cannot be.
    """

    input: Relation
    query: Relation
    pairs: tuple[tuple[Scalar, Attribute], ...]
    value: Attribute
    empty: Scalar | None
    output: Attribute
    null_safe: bool = False
    count: Attribute | None = None
    span: Span | None = None

    def __post_init__(self) -> None:
        for scalar, _ in self.pairs:
            require(self, scalar, self.input)
        if not self.pairs:
            raise ValueError("a correlated subquery is tied to its outer row")
        if self.null_safe and self.empty is not None:
            raise ValueError("with NULL among the keys no column tells that nothing was found")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.input.attributes, self.output)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input, self.query)


@dataclass(frozen=True, slots=True)
class ExistenceJoin(Join):
    """The left with one more attribute: whether some row of the right makes the condition true.

    IN and EXISTS where they are not conjuncts. The attribute is true or false, never NULL.
    """

    output: Attribute = field(kw_only=True)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.left.attributes, self.output)


@dataclass(frozen=True, slots=True)
class OuterValues(Unary):
    """The different values of scalars over the rows around a subquery: values, annotated 1.

    There may be more of them than rows have: each is a question, and only asked by a row.
    """

    output: tuple[Attribute, ...]
    scalars: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        require_each(self, self.output, self.scalars, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output


@dataclass(frozen=True, slots=True)
class OuterRow(Relation):
    """The place of :class:`OuterValues` in a subquery while the rows around it are not known."""

    output: tuple[Attribute, ...]

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output
