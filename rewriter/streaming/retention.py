"""How long a join of two streams keeps rows, and what the watermark of its rows is.

A row is given up when no row may come any more that it is paired with. Which may is a condition
between both event times; with the watermark in the place of the other stream's time it tells when.
Spark solves the condition in milliseconds (``StreamingJoinHelper``): where both sides may be equal,
a millisecond later. The watermark of the joined rows is the least of those by which both sides are
given up (``StreamingSymmetricHashJoinExec.produceOutputWatermark``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar, conjuncts, references
from rewriter.streaming.flow import EventTime, moment

Times = Mapping[str, EventTime]
"""The columns with a watermark, and what they hold."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """A condition that a time of the other stream is below one of this stream's, or equal."""

    other: Scalar
    own: Scalar
    inclusive: bool

    def reached(self, watermark: Scalar) -> Scalar:
        """Return what the own side must not exceed to be given up."""
        if self.inclusive:
            watermark = exp.Sub(this=watermark, expression=_millisecond())
        value = exp.paren(watermark)
        return self.other.transform(
            lambda node: value.copy() if isinstance(node, exp.Column) else node
        )


def given_up(condition: Scalar | None, own: Times, other: Times, watermark: int) -> Scalar | None:
    """Return when a row of one stream is paired with none that may come; None: that is not told.

    Parameters
    ----------
    condition
        Of the join.
    own, other
        The columns with a watermark of the stream of the row, and of the other.
    watermark
        In milliseconds since 1970.
    """
    for names in _equal(condition):
        keys = names & set(own)
        if keys and names & set(other):
            (key,) = keys
            return own[key].passed(key, moment(watermark))
    bound = _bound(condition, own.keys(), other.keys())
    if bound is None:
        return None
    latest = moment(watermark - 1 if bound.inclusive else watermark)
    reached = bound.other.transform(lambda node: latest if isinstance(node, exp.Column) else node)
    return exp.LTE(this=bound.own.copy(), expression=reached)


def state_watermark(
    condition: Scalar | None, own: Times, other: Times, watermark: Scalar
) -> Scalar | None:
    """Return up to which time rows of a stream are given up; None: they are kept for ever.

    Raises
    ------
    ValueError
        The condition is not one between times and intervals.
    """
    if any(names & (set(own) | set(other)) for names in _equal(condition)):
        return watermark
    bound = _bound(condition, own.keys(), other.keys())
    return None if bound is None else _solved(bound.own, bound.reached(watermark))


def is_comparison(part: Scalar) -> bool:
    """Tell whether Spark reads a condition as one of what comes before what.

    Of one side's columns alone, too: it solves ``v > 2`` for a watermark of v, and takes it for
    that of the event time, so that it keeps rows for ever.
    """
    return any(True for _ in _orders(part))


def _equal(condition: Scalar | None) -> Iterator[set[str]]:
    """Yield the columns that a join is by."""
    for part in conjuncts(condition) if condition is not None else ():
        if isinstance(part, exp.EQ) and isinstance(part.this, exp.Column):
            yield {part.this.name, part.expression.name}


def _bound(condition: Scalar | None, own: Set[str], other: Set[str]) -> _Bound | None:
    parts = conjuncts(condition) if condition is not None else ()
    bounds = [bound for part in parts for bound in _bounds(part, own, other)]
    return bounds[0] if len(bounds) == 1 else None


def _bounds(part: Scalar, own: Set[str], other: Set[str]) -> Iterator[_Bound]:
    for lower, upper, inclusive in _orders(part):
        below, above = set(references(lower)), set(references(upper))
        if below and above and below <= other and above <= own:
            yield _Bound(lower, upper, inclusive)


def _orders(part: Scalar) -> Iterator[tuple[Scalar, Scalar, bool]]:
    """Yield the pairs of which the first is below the second, and whether they may be equal."""
    if isinstance(part, exp.Between):
        yield part.args["low"], part.this, True
        yield part.this, part.args["high"], True
    elif isinstance(part, exp.LT | exp.LTE):
        yield part.this, part.expression, isinstance(part, exp.LTE)
    elif isinstance(part, exp.GT | exp.GTE):
        yield part.expression, part.this, isinstance(part, exp.GTE)


def _solved(scalar: Scalar, value: Scalar) -> Scalar:
    """Return the time at which a scalar of it has a value."""
    scalar = scalar.unnest()
    if isinstance(scalar, exp.Column):
        return value
    if isinstance(scalar, exp.Add | exp.Sub) and not set(references(scalar.expression)):
        inverse = exp.Sub if isinstance(scalar, exp.Add) else exp.Add
        moved = inverse(this=exp.paren(value), expression=exp.paren(scalar.expression.copy()))
        return _solved(scalar.this, moved)
    raise ValueError("no sum of a time and intervals")


def _millisecond() -> Scalar:
    return exp.Interval(this=exp.Literal.string("1"), unit=exp.Var(this="MILLISECOND"))
