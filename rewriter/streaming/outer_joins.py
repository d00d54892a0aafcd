"""When Spark emits the rows of an outer join of two streams that have no partner.

A row is kept in the state of the join for as long as a row may come that it is paired with. Which
ones may is a condition between both event times; with the watermark in the place of the other
stream's time it tells when the row is given up, and emitted with NULLs. Spark solves the condition
in milliseconds (``StreamingJoinHelper``): where both sides may be equal, a millisecond later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from sqlglot import exp

from rewriter.algebra import Scalar, conjuncts, references
from rewriter.streaming.flow import EventTime


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition that a time of the other stream is below one of this stream's, or equal."""

    other: Scalar
    own: Scalar
    inclusive: bool


def given_up(
    condition: Scalar | None,
    own: Mapping[str, EventTime],
    other: Mapping[str, EventTime],
    watermark: int,
) -> Scalar | None:
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
    for part in conjuncts(condition):
        if isinstance(part, exp.EQ) and isinstance(part.this, exp.Column):
            names = {part.this.name, part.expression.name}
            keys = names & set(own)
            if keys and names & set(other):
                (key,) = keys
                return own[key].passed(key, moment(watermark))
    bounds = [
        bound for part in conjuncts(condition) for bound in _bounds(part, own.keys(), other.keys())
    ]
    if len(bounds) != 1:
        return None
    (bound,) = bounds
    latest = moment(watermark - 1 if bound.inclusive else watermark)
    reached = bound.other.transform(lambda node: latest if isinstance(node, exp.Column) else node)
    return exp.LTE(this=bound.own.copy(), expression=reached)


def moment(milliseconds: int) -> Scalar:
    """Return a time as a constant."""
    return exp.Anonymous(this="timestamp_millis", expressions=[exp.Literal.number(milliseconds)])


def _bounds(part: Scalar, own: Set[str], other: Set[str]) -> Iterator[Bound]:
    for lower, upper, inclusive in _orders(part):
        below, above = set(references(lower)), set(references(upper))
        if below and above and below <= other and above <= own:
            yield Bound(lower, upper, inclusive)


def _orders(part: Scalar) -> Iterator[tuple[Scalar, Scalar, bool]]:
    """Yield the pairs of which the first is below the second, and whether they may be equal."""
    if isinstance(part, exp.Between):
        yield part.args["low"], part.this, True
        yield part.this, part.args["high"], True
    elif isinstance(part, exp.LT | exp.LTE):
        yield part.this, part.expression, isinstance(part, exp.LTE)
    elif isinstance(part, exp.GT | exp.GTE):
        yield part.expression, part.this, isinstance(part, exp.GTE)
