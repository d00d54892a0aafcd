"""Joins of two streams.

Both sides keep their rows for as long as a row may come that they are paired with, and drop rows
that are late. A row of an outer join without a partner is emitted when it is given up: when no row
may come any more that it is paired with. Which may is a condition between both event times; with
the watermark in the place of the other stream's time it tells when. Spark solves the condition in
milliseconds (``StreamingJoinHelper``): where both sides may be equal, a millisecond later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import (
    Filter,
    InnerJoin,
    Join,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    conjuncts,
    is_known,
    references,
)
from rewriter.streaming.context import Context
from rewriter.streaming.flow import EventTime, Flow, moment


@dataclass(frozen=True, slots=True)
class _Bound:
    """A condition that a time of the other stream is below one of this stream's, or equal."""

    other: Scalar
    own: Scalar
    inclusive: bool


def join_of_streams(
    context: Context,
    join: Join,
    left: tuple[Relation, Flow],
    right: tuple[Relation, Flow],
    needed: Set[str],
) -> tuple[Relation, Flow]:
    if not isinstance(join, InnerJoin | OuterJoin | SemiJoin):
        raise context.unsupported("an anti join of two streams is", join.span)
    if not isinstance(join, InnerJoin) and context.emission.batch is not None:
        raise context.unsupported(
            "which batch emits a row of an outer or semi join of streams is", join.span
        )
    flows = (left[1], right[1])
    if any(flow.grouped or flow.joined for flow in flows):
        raise context.unsupported("a join of streams above a grouping or a join is", join.span)
    sides = [context.in_time(below, flow, needed, join.span) for below, flow in (left, right)]
    own = flows[:1] if isinstance(join, SemiJoin) else flows
    times = {name: time for flow in own for name, time in flow.times.items()}
    if isinstance(join, OuterJoin):
        whole = _outer_join(context, join, sides, flows)
        return whole, Flow(True, times, joined=True)
    batches = tuple(batch for flow in own for batch in flow.batches)
    whole = replace(join, left=sides[0], right=sides[1])
    return whole, Flow(True, times, None, batches, joined=True)


def _outer_join(
    context: Context, join: OuterJoin, sides: Sequence[Relation], flows: Sequence[Flow]
) -> Relation:
    """Return pairs, and the rows of kept sides whose partner can come no more."""
    marks = [context.attribute("there") for _ in sides]
    left, right = (
        Project(
            side,
            (*side.attributes, mark),
            (*(attribute.column() for attribute in side.attributes), exp.true()),
        )
        for side, mark in zip(sides, marks, strict=True)
    )
    emitted = exp.and_(*(is_known(mark.column()) for mark in marks), copy=False)
    kept = (join.side.keeps_left, join.side.keeps_right)
    for place in (place for place in (0, 1) if kept[place]):
        over = _given_up(
            join.condition,
            flows[place].times,
            flows[1 - place].times,
            context.emission.watermark,
        )
        if over is None:
            raise context.unsupported(
                "an outer join of streams without one bound between their times is", join.span
            )
        context.by_time = True
        alone = exp.Is(this=marks[1 - place].column(), expression=exp.null())
        emitted = exp.or_(emitted, exp.and_(alone, over, copy=False), copy=False)
    return Filter(replace(join, left=left, right=right), emitted)


def _given_up(
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
