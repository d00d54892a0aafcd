"""``dropDuplicates`` and ``dropDuplicatesWithinWatermark`` of a stream: the first row stays.

The state of the operator keeps the keys it has seen. Of ``dropDuplicates`` it keeps them for ever,
or, where the event time is one of them, for as long as a row with it is not late: which row is the
first does not depend on what was evicted. Of ``dropDuplicatesWithinWatermark`` it keeps a key until
a batch ends whose watermark has reached the time of the row that stayed and the delay; of the rows
that come in later batches the first stays again (``StreamingDeduplicateWithinWatermarkExec``). That
watermark is, to a later batch, the one by which it drops late rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import Aggregate, Attribute, Filter, FirstRows, Relation, Scalar, Windows
from rewriter.position import Span
from rewriter.scalars.windows import CURRENT_ROW, UNBOUNDED
from rewriter.streaming.context import StreamContext, columns, latest
from rewriter.streaming.flow import EventTime, Flow

_SO_FAR = exp.WindowSpec(
    kind="ROWS", start=UNBOUNDED, start_side="PRECEDING", end=CURRENT_ROW, end_side=None
)
_STATE, _ROW = "seen", "row"


def compared_by(
    first: FirstRows, needed: frozenset[str], times: Mapping[str, EventTime]
) -> frozenset[str]:
    """Return the attributes that are read of rows: the event time only within a watermark."""
    keys = needed.union(key.id for key in first.keys)
    return keys.union(a.id for a in first.attributes if first.within and a.id in times)


def first_rows(
    context: StreamContext, first: FirstRows, below: Relation, flow: Flow, needed: frozenset[str]
) -> tuple[Relation, Flow]:
    """Return the first row of each key among the rows that are not late.

    Parameters
    ----------
    below
        The rows, which ``flow`` describes.
    needed
        The attributes that are read of them.
    """
    _check(context, first, flow, needed)
    others = [a for a in first.attributes if a.id in needed and a not in first.keys]
    if others:
        context.undecided.append(_undecided(context, first, below, flow, others))
    rows = context.in_time(below, flow, needed, first.span)
    keys = [key.column() for key in first.keys]
    if first.within:
        rows = _within_watermark(context, first, rows, flow, keys)
    else:
        rows = _first(context, rows, keys, _order(flow), first.span)
    kept = (*first.attributes, *flow.carried)
    return columns(rows, kept), replace(flow, deduplicated=True, unordered=True)


def _check(context: StreamContext, first: FirstRows, flow: Flow, needed: frozenset[str]) -> None:
    """Refuse what stands above another operator with state, but for an inner join of streams.

    Of its pairs it is known which batch made them, and which are late.
    """
    if flow.grouped or (flow.joined and not flow.batches):
        problem = "dropDuplicates above a grouping, or above an outer or semi join of streams, is"
        raise context.unsupported(problem, first.span)
    if flow.joined and first.within:
        problem = "dropDuplicatesWithinWatermark above a join of streams is"
        raise context.unsupported(problem, first.span)
    if flow.untold and needed & set(flow.times):
        problem = "dropDuplicates above a join of streams without one bound between their times is"
        raise context.unsupported(problem, first.span)


def _undecided(
    context: StreamContext,
    first: FirstRows,
    below: Relation,
    flow: Flow,
    others: Sequence[Attribute],
) -> Relation:
    """Return groups of different rows of one batch: only Spark knows their first row.

    It knows more than the places of rows where they are of several files, which tasks of their own
    may read, or where an operator below may have changed their order.
    """
    names = ("batch", "different", "files")
    batch, *numbers = (context.attribute(name) for name in names)
    places: list[Scalar] = [attribute.column() for attribute in flow.place]
    *before, last_place = places or [exp.Literal.number(0)]
    file = _call("shiftright", last_place, exp.Literal.number(flow.bits))
    calls = (_different([a.column() for a in others]), _different([*before, file]))
    grouped = Aggregate(
        below,
        (*(context.attribute(key.name) for key in first.keys), batch),
        (*(key.column() for key in first.keys), latest(flow.batches)),
        tuple(numbers),
        calls,
        span=first.span,
    )
    several = [
        exp.GT(this=number.column(), expression=exp.Literal.number(1))
        for number in numbers[: 1 if flow.unordered else 2]
    ]
    return Filter(grouped, exp.and_(*several))


def _different(values: Sequence[Scalar]) -> Scalar:
    """Return how many combinations of values there are."""
    fields = {f"c{number}": value for number, value in enumerate(values)}
    return exp.Count(this=exp.Distinct(expressions=[_struct(**fields)]))


def _first(
    context: StreamContext,
    rows: Relation,
    keys: Sequence[Scalar],
    order: Sequence[Scalar],
    span: Span | None,
) -> Relation:
    number = context.attribute("number")
    call = _over(exp.Anonymous(this="ROW_NUMBER"), keys, order)
    return Filter(
        Windows(rows, (number,), (call,), span),
        exp.EQ(this=number.column(), expression=exp.Literal.number(1)),
    )


def _within_watermark(
    context: StreamContext, first: FirstRows, rows: Relation, flow: Flow, keys: Sequence[Scalar]
) -> Relation:
    """Return the rows that stay, one after the other: of a batch only its first row can."""
    times = [a for a in first.attributes if flow.times.get(a.id) is EventTime.TIME]
    if len(times) != 1 or flow.late is None:
        raise context.unsupported(
            "dropDuplicatesWithinWatermark without one column with a watermark is", first.span
        )
    in_batch = [*keys, latest(flow.batches)]
    rows = _first(context, rows, in_batch, _order(flow), first.span)
    seen = exp.AnonymousAggFunc(
        this="collect_list", expressions=[_seen(times[0], flow.late, flow.delay)]
    )
    so_far = context.attribute("so_far")
    call = _over(seen, keys, _order(flow))
    call.set("spec", _SO_FAR.copy())
    return Filter(Windows(rows, (so_far,), (call,), first.span), _stays(so_far))


def _order(flow: Flow) -> list[Scalar]:
    """Return the sort keys of the order of arrival: the batch, then the place in it, if known."""
    return [latest(flow.batches), *(attribute.column() for attribute in flow.place)]


def _over(call: exp.Expr, keys: Sequence[Scalar], by: Sequence[Scalar]) -> exp.Window:
    order = [exp.Ordered(this=each.copy(), nulls_first=True) for each in by]
    return exp.Window(
        this=call,
        partition_by=[key.copy() for key in keys],
        order=exp.Order(expressions=order),
        over="OVER",
    )


def _seen(time: Attribute, late: Attribute, delay: int) -> Scalar:
    """Return what decides about a row and those after it, in microseconds since 1970.

    To Spark a time that is not known is that of the beginning.
    """
    since = exp.Coalesce(
        this=_call("unix_micros", time.column()), expressions=[exp.Literal.number(0)]
    )
    expires = exp.Add(this=since, expression=exp.Literal.number(delay * 1000))
    return _struct(late=_call("unix_micros", late.column()), expires=expires)


def _stays(so_far: Attribute) -> Scalar:
    """Return whether the last of the rows so far stays: the state has its key no longer."""
    expires = _field(_STATE, "expires")
    forgotten = exp.or_(
        exp.Is(this=expires, expression=exp.null()),
        exp.GTE(this=_field(_ROW, "late"), expression=expires.copy()),
    )
    state = exp.If(
        this=forgotten,
        true=_struct(expires=_field(_ROW, "expires"), stays=exp.true()),
        false=_struct(expires=expires.copy(), stays=exp.false()),
    )
    nothing = _struct(expires=exp.cast(exp.null(), "BIGINT"), stays=exp.false())
    return _call(
        "aggregate",
        so_far.column(),
        nothing,
        exp.Lambda(this=state, expressions=[_variable(_STATE), _variable(_ROW)]),
        exp.Lambda(this=_field(_STATE, "stays"), expressions=[_variable(_STATE)]),
    )


def _struct(**fields: exp.Expr) -> Scalar:
    return _call(
        "named_struct",
        *(part for name, value in fields.items() for part in (exp.Literal.string(name), value)),
    )


def _call(name: str, *arguments: exp.Expr) -> Scalar:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _field(variable: str, name: str) -> exp.Dot:
    return exp.Dot(this=_variable(variable), expression=exp.to_identifier(name))


def _variable(name: str) -> exp.Identifier:
    return exp.to_identifier(name)
