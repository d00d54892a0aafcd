"""Operators of one input: filters, projections, generators, windows, sorting, limits and samples.

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
    """The input with one more attribute for each call whose value is no function of its row."""

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
