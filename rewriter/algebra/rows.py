"""Operators of one input: filters, projections, groupings, windows, sorting, limits and samples.

Random values and samples are drawn once for every row.
"""

from __future__ import annotations

from dataclasses import dataclass

from rewriter.algebra.relation import Attribute, Scalar, Unary, require, require_each
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class Filter(Unary):
    """The rows of the input for which the predicate is true (not NULL)."""

    predicate: Scalar
    span: Span | None = None

    def __post_init__(self) -> None:
        require(self, self.predicate, self.input)


@dataclass(frozen=True, slots=True)
class FirstRows(Unary):
    """One of the rows with equal keys, ``dropDuplicates``: of a stream the first that came.

    Parameters
    ----------
    keys
        Attributes of the input.
    within
        Only for as long as no watermark has passed its time and the watermark's delay; then the
        next one is.
    """

    keys: tuple[Attribute, ...]
    within: bool = False
    span: Span | None = None

    def __post_init__(self) -> None:
        for key in self.keys:
            require(self, key.column(), self.input)


@dataclass(frozen=True, slots=True)
class Watermarked(Unary):
    """The rows of a stream, with a watermark: the latest time of a column, less a delay.

    Parameters
    ----------
    time
        An attribute of the input.
    delay
        In milliseconds.
    """

    time: Attribute
    delay: int
    span: Span | None = None

    def __post_init__(self) -> None:
        require(self, self.time.column(), self.input)


@dataclass(frozen=True, slots=True)
class Project(Unary):
    """A bag projection: one output row per input row."""

    output: tuple[Attribute, ...]
    scalars: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        require_each(self, self.output, self.scalars, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.output


@dataclass(frozen=True, slots=True)
class Generate(Unary):
    """Every row of the input, once for each element of an array or entry of a map.

    Parameters
    ----------
    argument
        The array or map.
    position
        The attribute that holds an element's place, from 0; None: the argument is the call of a
        function that makes one row of each, ``json_tuple``.
    output
        One attribute for the element, two for key and value; with ``inline`` one for each field of
        the struct that the element is.
    outer
        A row whose array is empty or NULL is there once, with NULLs.
    function
        The argument is the call of a table function, whose rows have the outputs as columns.
    placed
        Their first column is the position.
    counted
        The position is a column of the query.
    """

    argument: Scalar
    position: Attribute | None
    output: tuple[Attribute, ...]
    outer: bool = False
    inline: bool = False
    function: bool = False
    placed: bool = False
    counted: bool = False
    span: Span | None = None

    def __post_init__(self) -> None:
        require(self, self.argument, self.input)
        if not self.output:
            raise ValueError("a generator has a column")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.input.attributes, *(self.made if self.counted else self.output))

    @property
    def made(self) -> tuple[Attribute, ...]:
        """The attributes that it adds: the place if there is one, then the others."""
        return self.output if self.position is None else (self.position, *self.output)


@dataclass(frozen=True, slots=True)
class Windows(Unary):
    """The input with one more attribute for each window function over its rows.

    ``calls`` are ``exp.Window`` with everything in place: call, partition, order, frame.
    """

    output: tuple[Attribute, ...]
    calls: tuple[Scalar, ...]
    span: Span | None = None

    def __post_init__(self) -> None:
        if not self.calls:
            raise ValueError("Windows has no window function")
        require_each(self, self.output, self.calls, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return (*self.input.attributes, *self.output)


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


@dataclass(frozen=True, slots=True)
class Draw(Unary):
    """The input with one more attribute for each call whose value is not a function of its row."""

    output: tuple[Attribute, ...]
    calls: tuple[Scalar, ...]
    span: Span | None = None

    def __post_init__(self) -> None:
        require_each(self, self.output, self.calls, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.input.attributes + self.output


@dataclass(frozen=True, slots=True)
class Sample(Unary):
    """The rows of the input that a sample has: ``sample`` is ``exp.TableSample`` of a fraction."""

    sample: Scalar
    span: Span | None = None


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
class Aggregate(Unary):
    """Grouping: one row per distinct value of the keys; without keys exactly one row.

    ``aggregates`` are sqlglot aggregate calls, possibly ``exp.Filter(this=call,
    expression=exp.Where(this=predicate))`` and with ``exp.Distinct`` inside, over attributes of
    the input. The output is the keys, then the aggregates. DISTINCT, UNION and INTERSECT-free set
    operations are groupings without aggregates, by all of their columns.

    With ``sets`` every input row takes part once in each grouping set, aggregates seeing the values
    of the input and not the keys' NULLs; there is no row over an empty input. The output then ends
    with the number of the grouping set: it and the keys identify a row.
    """

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
        for grouping_set in self.sets.sets if self.sets is not None else ():
            if not set(grouping_set) <= set(range(len(self.keys))):
                raise ValueError("a grouping set has keys of the grouping alone")

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        number = () if self.sets is None else (self.sets.number,)
        return self.key_output + self.aggregate_output + number
