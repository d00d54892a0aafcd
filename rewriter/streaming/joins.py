"""Joins of two streams, and how long they keep rows.

Both sides keep their rows for as long as a row may come that they are paired with, and drop rows
that are late. The batch of the later row emits a pair, and that of its first partner a row of a
semi join. A row of an outer join without a partner is emitted by the batch that gives it up, which
may be its own: rows are late by the watermark of the batch before, and given up by that of the
batch (``StreamingSymmetricHashJoinExec``). If a condition on its own columns rules out a partner,
its batch emits it at once.

A row is given up when no row may come any more that it is paired with. A condition between both
event times decides it, with the watermark in the place of the other stream's time. Spark solves the
condition in milliseconds (``StreamingJoinHelper``): where both sides may be equal, a millisecond
later. The watermark of the joined rows is the least of those by which both sides are given up
(``StreamingSymmetricHashJoinExec.produceOutputWatermark``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
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
from rewriter.streaming.context import OutputMode, StreamContext, latest
from rewriter.streaming.flow import EventTime, Flow, moment

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
    """Return the condition that a row of one stream has no partner yet to come; None: unknown.

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
    """Return True if Spark reads a condition as an order of two times.

    A condition on one side's columns alone counts, too: Spark solves ``v > 2`` for a watermark of
    v, and takes it for the watermark of the event time, so that it keeps rows for ever.
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
    """Yield pairs of scalars, the smaller first, and whether they may be equal."""
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


def join_of_streams(
    context: StreamContext,
    join: Join,
    left: tuple[Relation, Flow],
    right: tuple[Relation, Flow],
    needed: Set[str],
) -> tuple[Relation, Flow]:
    """Return the rows of a join of two streams, and their flow.

    Raises
    ------
    UnsupportedError
        It is an anti join, which Spark has none of between streams; or it is above another operator
        with state, unless both are inner joins; or its condition does not decide when a row without
        a partner is emitted.
    """
    if not isinstance(join, InnerJoin | OuterJoin | SemiJoin):
        raise context.unsupported("an anti join of two streams, which Spark has not, is", join.span)
    flows = (left[1], right[1])
    _check_below(context, join, flows)
    late = [_with_operator_late(context, below, flow, flows) for below, flow in (left, right)]
    sides = [context.in_time(below, flow, needed, join.span) for below, flow in late]
    flows_kept = flows[:1] if isinstance(join, SemiJoin) else flows
    times = {name: time for flow in flows_kept for name, time in flow.times.items()}
    flow = _with_watermark(join, flows, Flow(True, times, joined=True, unordered=True))
    if isinstance(join, OuterJoin):
        return _outer_join(context, join, sides, flows), flow
    if isinstance(join, SemiJoin):
        return _semi_join(context, join, sides, flows), flow
    batches = (*flows[0].batches, *flows[1].batches)
    whole = replace(join, left=sides[0], right=sides[1])
    return _with_late(context, whole, flows, replace(flow, batches=batches))


def _check_below(context: StreamContext, join: Join, flows: Sequence[Flow]) -> None:
    if any(flow.grouped for flow in flows):
        raise context.unsupported("a join of streams above a grouping is", join.span)
    joined = [flow for flow in flows if flow.joined]
    inner = all(flow.batches and flow.batch_late is not None for flow in joined)
    if joined and not (inner and isinstance(join, InnerJoin)):
        problem = "a join of streams above another, unless both are inner joins, is"
        raise context.unsupported(problem, join.span)
    if any(flow.untold for flow in joined):
        problem = "a join of streams above one without one bound between its times is"
        raise context.unsupported(problem, join.span)


def _with_operator_late(
    context: StreamContext, below: Relation, flow: Flow, flows: Sequence[Flow]
) -> tuple[Relation, Flow]:
    """Return the rows of a side with the watermark by which a join above joins drops late ones.

    An operator has one watermark: the least of its inputs' watermarks.
    """
    of_batch = flow.batch_late or flow.late
    if of_batch is None or not any(each.joined for each in flows):
        return below, flow
    late = context.attribute("late")
    kept = below.attributes
    scalars = (*(attribute.column() for attribute in kept), _least(flows, of_batch.column()))
    return Project(below, (*kept, late), scalars), replace(flow, late=late, batch_late=of_batch)


def _least(flows: Sequence[Flow], watermark: Scalar) -> Scalar:
    """Return the watermark of an operator over inputs, by that of the query."""
    if not any(flow.joined for flow in flows):
        return watermark
    reached = [flow.reached(watermark.copy()) for flow in flows]
    return exp.Anonymous(this="least", expressions=reached)


def check_grouped(context: StreamContext, aggregate: Aggregate, flow: Flow) -> None:
    """Refuse a grouping of joined rows where it is not known which of them are late to it."""
    if context.mode is not OutputMode.APPEND:
        problem = f"a grouping above a join of streams in output mode {context.mode.value} is"
        raise context.unsupported(problem, aggregate.span)
    if len(flow.batches) > 2:
        problem = "a grouping above a join of three streams is"
        raise context.unsupported(problem, aggregate.span)
    if flow.untold:
        raise context.unsupported(
            "a grouping above a join of streams whose times have not one bound on either side is",
            aggregate.span,
        )


def _with_late(
    context: StreamContext, whole: Relation, flows: Sequence[Flow], flow: Flow
) -> tuple[Relation, Flow]:
    """Return pairs with the watermark by which an operator above drops them as late."""
    lates = [each.batch_late or each.late for each in flows]
    columns = [late.column() for late in lates if late is not None]
    if len(columns) < len(flows):
        return whole, flow
    late, batch_late = context.attribute("late"), context.attribute("batch_late")
    last = exp.Anonymous(this="greatest", expressions=columns)
    kept = whole.attributes
    scalars = (*(attribute.column() for attribute in kept), flow.reached(last), last.copy())
    whole = Project(whole, (*kept, late, batch_late), scalars)
    return whole, replace(flow, late=late, batch_late=batch_late)


def _with_watermark(join: Join, flows: Sequence[Flow], flow: Flow) -> Flow:
    """Return what is known of joined rows with their watermark: the least of both sides."""
    left, right = (each.times for each in flows)
    sides = ((left, right), (right, left))

    def of_sides(watermark: Scalar) -> list[Scalar | None]:
        watermark = _least(flows, watermark)
        return [state_watermark(join.condition, side, other, watermark) for side, other in sides]

    def reached(watermark: Scalar) -> Scalar:
        own = _least(flows, watermark)
        watermarks = [own.copy() if each is None else each for each in of_sides(watermark)]
        return exp.Anonymous(this="least", expressions=watermarks)

    try:
        bounded = None not in of_sides(moment(0))
    except ValueError:
        return replace(flow, untold=True)
    # Rows of outer and semi joins are never late where both streams give rows up.
    untold = not bounded and not isinstance(join, InnerJoin)
    return replace(flow, reached=reached, untold=untold)


def _semi_join(
    context: StreamContext, join: SemiJoin, sides: Sequence[Relation], flows: Sequence[Flow]
) -> Relation:
    """Return the rows with a partner; for a batch only rows that had none in earlier batches."""
    paired = replace(join, left=sides[0], right=sides[1])
    number = context.batch
    if number is None:
        return paired
    earlier = (_before(flow.batches, number) for flow in flows)
    condition = exp.and_(join.condition, *earlier)
    return AntiJoin(paired, sides[1], condition, span=join.span)


def _outer_join(
    context: StreamContext, join: OuterJoin, sides: Sequence[Relation], flows: Sequence[Flow]
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
    both = [is_known(mark.column()) for mark in marks]
    made = _made_in(context, (*flows[0].batches, *flows[1].batches))
    emitted = exp.and_(*both, *made, copy=False)
    kept = (join.side.keeps_left, join.side.keeps_right)
    for number in (number for number in (0, 1) if kept[number]):
        is_given_up = _given_up(context, join, flows[number], flows[1 - number])
        is_never_paired = _never_paired(context, join, sides[number])
        alone = exp.Is(this=marks[1 - number].column(), expression=exp.null())
        made = _made_in(context, flows[number].batches)
        if is_never_paired is not None and made:
            late = exp.and_(is_given_up, exp.Not(this=is_never_paired))
            is_given_up = exp.or_(late, exp.and_(is_never_paired, *made))
        elif is_never_paired is not None:
            is_given_up = exp.or_(is_given_up, is_never_paired)
        emitted = exp.or_(emitted, exp.and_(alone, is_given_up, copy=False), copy=False)
    return Filter(replace(join, left=left, right=right), emitted)


def _given_up(context: StreamContext, join: OuterJoin, kept_side: Flow, other_side: Flow) -> Scalar:
    """Return the condition that a row is given up; of a batch, that this one does."""
    emission = context.emission
    is_given_up = given_up(join.condition, kept_side.times, other_side.times, emission.watermark)
    if is_given_up is None:
        raise context.unsupported(
            "an outer join of streams without one bound between their times is", join.span
        )
    context.by_time = True
    if context.batch is None or emission.before is None:
        return is_given_up
    before = given_up(join.condition, kept_side.times, other_side.times, emission.before)
    assert before is not None
    kept = exp.Not(this=exp.paren(exp.Is(this=exp.paren(before), expression=exp.true())))
    return exp.and_(is_given_up, exp.or_(kept, *_made_in(context, kept_side.batches)))


def _made_in(context: StreamContext, batches: Sequence[Attribute]) -> list[Scalar]:
    """Return the condition that rows are of the batch that is asked for, if one is."""
    if context.batch is None:
        return []
    return [exp.EQ(this=latest(batches), expression=exp.Literal.number(context.batch))]


def _never_paired(context: StreamContext, join: OuterJoin, side: Relation) -> Scalar | None:
    """Return the condition that a row is emitted by its own batch, since it meets no condition."""
    side_columns = {attribute.id for attribute in side.attributes}
    parts = [
        part
        for part in (conjuncts(join.condition) if join.condition is not None else ())
        if (read := set(references(part))) and read <= side_columns
    ]
    if not parts:
        return None
    if any(is_comparison(part) for part in parts):
        problem = "an outer join of streams with a comparison of columns of the side it keeps, "
        problem += "which Spark takes for a bound of times, is"
        raise context.unsupported(problem, join.span)
    met = exp.paren(exp.and_(*(part.copy() for part in parts)))
    return exp.Not(this=exp.paren(exp.Is(this=met, expression=exp.true())))


def _before(batches: Sequence[Attribute], number: int) -> Scalar:
    return exp.LT(this=latest(batches), expression=exp.Literal.number(number))
