"""The relational algebra that front ends produce and rewriting consumes.

One frozen dataclass per operator. Scalar expressions stay sqlglot expressions in which every
column reference is ``exp.Column(this=Identifier(id, quoted=True))``, without a table: ``id`` is
the :class:`Attribute` id, unique in the whole query, so that no operator needs to think of scope.

An operator checks on construction that every reference it makes is to an attribute of its input;
a plan that cannot be built is a bug in the front end, never an error of the user.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from rewriter.position import Span

Scalar: TypeAlias = exp.Expr
"""A scalar expression whose columns are attribute ids."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column of an operator's output: an identity for the plan and a name for the user."""

    id: str
    name: str

    def column(self) -> exp.Column:
        """Return a fresh reference to this attribute."""
        return column(self.id)


def column(attribute_id: str) -> exp.Column:
    """Return a fresh reference to the attribute with this id."""
    return exp.Column(this=exp.to_identifier(attribute_id, quoted=True))


def references(scalar: Scalar) -> Iterator[str]:
    """Yield the ids of the attributes that a scalar expression mentions, in order of appearance."""
    for node in scalar.find_all(exp.Column):
        yield node.name


def bracketed(scalar: Scalar) -> Scalar:
    """Return the expression in brackets if it needs them as the operand of another."""
    return exp.Paren(this=scalar) if is_compound(scalar) else scalar


def is_compound(scalar: Scalar) -> bool:
    """Whether the text of an expression falls apart when an operator is put beside it."""
    if isinstance(scalar, exp.Dot | exp.Paren):
        return False
    return isinstance(scalar, exp.Binary | exp.Unary | exp.Between | exp.In | exp.Interval)


@dataclass(frozen=True, slots=True)
class Relation:
    """An operator; also the (sub)query whose root it is."""

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The output columns, in order."""
        raise NotImplementedError

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """The operators this one reads."""
        raise NotImplementedError


def require(relation: Relation, scalar: Scalar, *inputs: Relation) -> None:
    """Raise if a scalar of an operator refers to what none of its inputs has."""
    known = {attribute.id for source in inputs for attribute in source.attributes}
    for reference in references(scalar):
        if reference not in known:
            kind = type(relation).__name__
            raise ValueError(f"{kind} refers to {reference!r}, which none of its inputs has")


@dataclass(frozen=True, slots=True)
class Scan(Relation):
    """One occurrence of a tracked relation.

    ``columns[i]`` is the name, in the relation, of the column that becomes ``attributes[i]``.
    """

    relation: str
    columns: tuple[str, ...]
    output: tuple[Attribute, ...]
    span: Span | None = None

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


@dataclass(frozen=True, slots=True)
class Filter(Relation):
    """The rows of the input for which the predicate is true (not NULL)."""

    input: Relation
    predicate: Scalar
    span: Span | None = None

    def __post_init__(self) -> None:
        require(self, self.predicate, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.input.attributes

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)


@dataclass(frozen=True, slots=True)
class Project(Relation):
    """A bag projection: one output row per input row."""

    input: Relation
    output: tuple[Attribute, ...]
    scalars: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if len(self.output) != len(self.scalars):
            raise ValueError("a projection computes each of its attributes once")
        for scalar in self.scalars:
            require(self, scalar, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)


@dataclass(frozen=True, slots=True)
class InnerJoin(Relation):
    """Pairs of rows for which the condition is true; no condition: the cross product."""

    left: Relation
    right: Relation
    condition: Scalar | None = None
    span: Span | None = None

    def __post_init__(self) -> None:
        if self.condition is not None:
            require(self, self.condition, self.left, self.right)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.left.attributes + self.right.attributes

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class SemiJoin(Relation):
    """Rows of the left for which some row of the right makes the condition true: t · δ(Σ).

    LEFT SEMI JOIN, and IN and EXISTS where they are conjuncts of WHERE, ON or HAVING. Correlated
    predicates of the subquery stand in ``condition``, those on the right alone inside ``right``.
    """

    left: Relation
    right: Relation
    condition: Scalar | None = None
    span: Span | None = None

    def __post_init__(self) -> None:
        if self.condition is not None:
            require(self, self.condition, self.left, self.right)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.left.attributes

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class AntiJoin(Relation):
    """Rows of the left for which no row of the right makes the condition true: t · (1 ⊖ δ(Σ)).

    LEFT ANTI JOIN, NOT EXISTS, NOT IN and EXCEPT, as SemiJoin for the others.
    """

    left: Relation
    right: Relation
    condition: Scalar | None = None
    span: Span | None = None

    def __post_init__(self) -> None:
        if self.condition is not None:
            require(self, self.condition, self.left, self.right)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.left.attributes

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


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
class OuterJoin(Relation):
    """The inner join, and the rows of the kept sides without a partner, padded with NULLs."""

    left: Relation
    right: Relation
    side: Side
    condition: Scalar | None = None
    span: Span | None = None

    def __post_init__(self) -> None:
        if self.condition is not None:
            require(self, self.condition, self.left, self.right)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.left.attributes + self.right.attributes

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class ScalarSubquery(Relation):
    """The input with one more attribute: the value of an uncorrelated scalar subquery.

    ``query`` has one attribute; no row gives NULL, more than one is an error when it runs.
    """

    input: Relation
    query: Relation
    output: Attribute
    span: Span | None = None

    def __post_init__(self) -> None:
        if len(self.query.attributes) != 1:
            raise ValueError("a scalar subquery has one attribute")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.input.attributes, self.output)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input, self.query)


@dataclass(frozen=True, slots=True)
class Generate(Relation):
    """Every row of the input, once for each element of an array or entry of a map.

    Parameters
    ----------
    argument
        The array or map.
    position
        The attribute that holds an element's place, from 0.
    output
        One attribute for the element, two for key and value; with ``inline`` one for each field of
        the struct that the element is.
    outer
        A row whose array is empty or NULL is there once, with NULLs.
    function
        The argument is the call of a table function, whose rows have the outputs as columns.
    """

    input: Relation
    argument: Scalar
    position: Attribute
    output: tuple[Attribute, ...]
    outer: bool = False
    inline: bool = False
    function: bool = False
    span: Span | None = None

    def __post_init__(self) -> None:
        require(self, self.argument, self.input)
        if not self.output:
            raise ValueError("a generator has a column")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.input.attributes, self.position, *self.output)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)


@dataclass(frozen=True, slots=True)
class GroupingSets:
    """Several groupings of one input: ROLLUP, CUBE, GROUPING SETS.

    Parameters
    ----------
    number
        The attribute that holds the place of a row's grouping set, from 0.
    sets
        For each grouping set, the places of its keys; the other keys are NULL in its rows.
    """

    number: Attribute
    sets: tuple[tuple[int, ...], ...]

    def without(self, key: int) -> tuple[int, ...]:
        """Return the numbers of the grouping sets that do not group by the key at this place."""
        return tuple(number for number, keys in enumerate(self.sets) if key not in keys)


@dataclass(frozen=True, slots=True)
class Aggregate(Relation):
    """Grouping: one row per distinct value of the keys; without keys exactly one row.

    ``aggregates`` are sqlglot aggregate calls, possibly ``exp.Filter(this=call,
    expression=exp.Where(this=predicate))`` and with ``exp.Distinct`` inside, over attributes of
    the input. The output is the keys, then the aggregates. DISTINCT, UNION and INTERSECT-free set
    operations are groupings without aggregates, by all of their columns.

    With ``sets`` every input row takes part once in each grouping set, aggregates seeing the values
    of the input and not the keys' NULLs; there is no row over an empty input. The output then ends
    with the number of the grouping set: it and the keys tell rows apart.
    """

    input: Relation
    key_output: tuple[Attribute, ...]
    keys: tuple[Scalar, ...]
    aggregate_output: tuple[Attribute, ...]
    aggregates: tuple[Scalar, ...]
    span: Span | None = None
    sets: GroupingSets | None = None

    def __post_init__(self) -> None:
        if len(self.key_output) != len(self.keys):
            raise ValueError("a grouping names each of its keys once")
        if len(self.aggregate_output) != len(self.aggregates):
            raise ValueError("a grouping names each of its aggregates once")
        if not self.keys and not self.aggregates and self.sets is None:
            raise ValueError("a grouping has a key or an aggregate")
        for scalar in (*self.keys, *self.aggregates):
            require(self, scalar, self.input)
        for place in self.sets.sets if self.sets is not None else ():
            if not set(place) <= set(range(len(self.keys))):
                raise ValueError("a grouping set has keys of the grouping alone")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        number = () if self.sets is None else (self.sets.number,)
        return self.key_output + self.aggregate_output + number

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)


@dataclass(frozen=True, slots=True)
class Windows(Relation):
    """The input with one more attribute for each window function over its rows.

    ``calls`` are ``exp.Window`` with everything in place: call, partition, order, frame.
    """

    input: Relation
    output: tuple[Attribute, ...]
    calls: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if not self.calls or len(self.output) != len(self.calls):
            raise ValueError("each window function has an attribute")
        for call in self.calls:
            require(self, call, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.input.attributes, *self.output)

    @property
    def inputs(self) -> tuple[Relation, ...]:
        return (self.input,)


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


def walk(root: Relation) -> Iterator[Relation]:
    """Yield the operators of a plan, inputs before the operators that read them, each once."""
    seen: set[int] = set()
    stack: list[tuple[Relation, bool]] = [(root, False)]
    while stack:
        relation, expanded = stack.pop()
        if expanded:
            yield relation
        elif id(relation) not in seen:
            seen.add(id(relation))
            stack.append((relation, True))
            stack.extend((child, False) for child in reversed(relation.inputs))
