"""Properties of the rows between two operators of a streaming query.

Spark marks the column of a watermark, and passes the mark on with the column: through projections
that only name it, to the time windows of it, and to groups by either. An operator with state that
has such a column drops late rows by it. What is computed of it otherwise has no mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Attribute, Generate, Scalar, UnionAll, column
from rewriter.bind.catalog import SESSION, WINDOW
from rewriter.bind.columns.types import MARK


@dataclass(frozen=True, slots=True)
class Streamed:
    """A tracked relation that is a stream, and columns of the view of its recorded rows.

    Parameters
    ----------
    time
        The column with a watermark; None: it has none.
    batch
        The column that holds the number of the micro-batch that read a row.
    late
        The column that holds the watermark by which the batch of a row dropped late ones.
    distinct
        Columns by which rows are compared: of equal ones the stream has the first. Empty: it has
        all rows.
    place
        The column by which rows come one after the other; None: none is known.
    within
        Of equal rows the stream has the first, and others that come when the watermark has passed
        its time and the delay.
    delay
        The delay of the watermark behind the latest time, in milliseconds.
    bits
        The number of a place's bits that are the place in a file; the others number the file.
    """

    time: str | None
    batch: str
    late: str
    distinct: tuple[str, ...] = ()
    place: str | None = None
    within: bool = False
    delay: int = 0
    bits: int = 0


class EventTime(Enum):
    """The content of a column with a watermark."""

    TIME = "time"
    WINDOW = "window"
    """A time window, which is as late as its end."""

    def passed(self, attribute: str, watermark: Scalar) -> Scalar:
        """Return the condition that a watermark has passed a value of a column."""
        value: Scalar = column(attribute)
        if self is EventTime.WINDOW:
            value = exp.Dot(this=value, expression=exp.to_identifier("end"))
        return exp.LTE(this=value, expression=watermark)


def _unchanged(watermark: Scalar) -> Scalar:
    return watermark


Watermark: TypeAlias = Callable[[Scalar], Scalar]
"""Function from the watermark of a query to that of its rows."""


@dataclass(frozen=True, slots=True)
class Flow:
    """Rows of a stream, or of none.

    Parameters
    ----------
    times
        By attribute, the content of the columns with a watermark.
    late
        The attribute with the watermark by which a row is late; None after an operator with state,
        which drops late rows, and for rows of no stream.
    batch_late
        The attribute with the watermark of the query in the place of ``late``, of rows of joined
        streams, whose own is another; None: both are the same.
    batches
        The attributes with the micro-batches of the rows that a row was made of.
    place
        The attributes that order the rows of a batch; empty: the order is not known.
    delay
        The delay of the watermark, in milliseconds.
    bits
        The number of bits of the last of ``place`` that are the place in a file.
    unordered
        The rows of one batch may come in another order, or in any: their stream has a key, or they
        are joined with a relation, made by a generator, or without duplicates.
    grouped, joined
        An operator with state has made them: a grouping, or a join of two streams.
    deduplicated
        They are the first of equal rows.
    reached
        The function from the watermark of the query to the watermark of an operator above.
    untold
        That function is not known, or not which rows are late to such an operator.
    sessions
        They have session windows, which are still to be merged.
    """

    streaming: bool = False
    times: Mapping[str, EventTime] = field(default_factory=dict)
    late: Attribute | None = None
    batch_late: Attribute | None = None
    batches: tuple[Attribute, ...] = ()
    place: tuple[Attribute, ...] = ()
    delay: int = 0
    bits: int = 0
    unordered: bool = False
    grouped: bool = False
    joined: bool = False
    reached: Watermark = _unchanged
    untold: bool = False
    deduplicated: bool = False
    sessions: bool = False

    @property
    def carried(self) -> tuple[Attribute, ...]:
        """The attributes that are none of the query's."""
        lates = (late for late in (self.late, self.batch_late) if late is not None)
        return (*self.batches, *lates, *self.place)


STATIC = Flow()


def moment(milliseconds: int) -> Scalar:
    """Return a time as a constant."""
    return exp.Anonymous(this="timestamp_millis", expressions=[exp.Literal.number(milliseconds)])


def times_of(
    output: Sequence[Attribute], scalars: Sequence[Scalar], times: Mapping[str, EventTime]
) -> dict[str, EventTime]:
    """Return which of the computed columns have a watermark."""
    pairs = zip(output, scalars, strict=True)
    result = {attribute.id: _time(scalar, times) for attribute, scalar in pairs}
    return {name: time for name, time in result.items() if time is not None}


def generated_times(generate: Generate, times: Mapping[str, EventTime]) -> dict[str, EventTime]:
    """Return the columns of a generator with a watermark: the time windows of one."""
    if generate.argument.meta.get(MARK) not in (WINDOW, SESSION):
        return {}
    arguments = list(windowed(generate.argument))
    if all(_time(argument, times) is EventTime.TIME for argument in arguments):
        return {attribute.id: EventTime.WINDOW for attribute in generate.output}
    return {}


def united_times(union: UnionAll, times: Mapping[str, EventTime]) -> dict[str, EventTime]:
    """Return the columns of a union with a watermark: Spark takes the marks of the first input."""
    pairs = zip(union.output, union.branches[0].attributes, strict=True)
    return {output.id: times[first.id] for output, first in pairs if first.id in times}


def windowed(array: Scalar) -> Iterator[Scalar]:
    """Yield what the calls are of that make an array of time windows."""
    for call in array.find_all(exp.Anonymous):
        if call.name.lower() in (WINDOW, SESSION):
            yield call.expressions[0]


def _time(scalar: Scalar, times: Mapping[str, EventTime]) -> EventTime | None:
    if scalar.meta.get(MARK) == SESSION:
        return EventTime.WINDOW if EventTime.WINDOW in times.values() else None
    scalar = scalar.unnest()
    if isinstance(scalar, exp.Column):
        return times.get(scalar.name)
    return EventTime.TIME if _is_last_moment(scalar, times) else None


def _is_last_moment(scalar: Scalar, times: Mapping[str, EventTime]) -> bool:
    """Return True if a scalar is a call of ``window_time`` as the binder rewrites it."""
    if not isinstance(scalar, exp.Sub) or not isinstance(scalar.this, exp.Dot):
        return False
    window = scalar.this.this.unnest()
    if not isinstance(window, exp.Column) or scalar.this.expression.name != "end":
        return False
    return times.get(window.name) is EventTime.WINDOW
