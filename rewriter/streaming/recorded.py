"""A streaming query as a query over the recorded rows of its streams.

A streaming query yields, up to a micro-batch, the query over the rows read so far, less rows that
operators with state dropped as late; and in output mode append only the groups that the watermark
has passed. Both are conditions on single rows, which become filters of the plan: rows have, beside
their columns, their batch and the watermark that was in force then. So this plan gives the
annotations, values and hypothetical answers of a stream.

The plan may have filters, projections, generators, unions, joins with relations that are no
streams, deduplications, groupings (windows of time among their keys or not, one over another in
mode append) and joins of two streams. See Armbrust et al., "Structured Streaming: A Declarative API
for Real-Time Applications in Apache Spark", SIGMOD 2018, for the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    BagDifference,
    CorrelatedScalar,
    Draw,
    Filter,
    FirstRows,
    Generate,
    InnerJoin,
    Join,
    Limit,
    LocalSort,
    OuterJoin,
    Project,
    Relation,
    Sample,
    Scalar,
    ScalarSubquery,
    Scan,
    Side,
    Sort,
    Unary,
    UnionAll,
    Watermarked,
    Windows,
    is_known,
    references,
    walk,
)
from rewriter.bind.catalog import SESSION
from rewriter.bind.columns.types import MARK
from rewriter.scalars.aggregates import (
    EXTREMES,
    arguments,
    chooses,
    lists,
    name_of,
    sort_keys,
    without_filter,
)
from rewriter.streaming.context import Emission, OutputMode, Reading, StreamContext, columns, latest
from rewriter.streaming.deduplication import compared_by, first_rows
from rewriter.streaming.flow import (
    STATIC,
    EventTime,
    Flow,
    Streamed,
    generated_times,
    times_of,
    united_times,
    windowed,
)
from rewriter.streaming.joins import check_grouped, join_of_streams

_OF_ORDER = frozenset({"any_value", "first", "first_value", "last", "last_value"})


def tied_groups(context: StreamContext, aggregate: Aggregate) -> Iterator[tuple[Relation, Scalar]]:
    """Yield, for each aggregate that rows may tie in, a query of such groups, and its call."""
    for call in aggregate.aggregates:
        if chooses(call) or name_of(call) in _OF_ORDER:
            yield _tied(context, aggregate, call), call


def _tied(context: StreamContext, aggregate: Aggregate, call: Scalar) -> Relation:
    bare, condition = without_filter(call)
    rows = aggregate.input if condition is None else Filter(aggregate.input, condition)
    keys = aggregate.keys
    name = name_of(call)
    if name in EXTREMES:
        value, compared, *_ = arguments(bare)
        values = _grouped(context, rows, (*keys, compared), _different([value]))
        return _several(context, values, len(keys), name)
    if name == "mode":
        value, *_ = arguments(bare)
        rows = Filter(rows, is_known(value))
        counts = _grouped(context, rows, (*keys, value), exp.Count(this=exp.Star()))
        numbers = [a.column() for a in counts.attributes]
        same = (*numbers[: len(keys)], numbers[-1])
        equals = _grouped(context, counts, same, exp.Count(this=exp.Star()))
        return _several(context, equals, len(keys), "max_by")
    read = arguments(bare)
    ordered = [key.this for key in sort_keys(bare)] if lists(call) else []
    if name in _OF_ORDER:
        ignores = bare.find(exp.IgnoreNulls) is not None or exp.true() in read[1:]
        read = read[:1]
        rows = Filter(rows, is_known(read[0])) if ignores else rows
    found = _grouped(context, rows, (*keys, *ordered), _different(read))
    return Filter(found, _more_than_one(found.attributes[-1].column()))


def _several(context: StreamContext, counts: Aggregate, keys: int, extreme: str) -> Relation:
    """Return the groups with more than one of the counted values, if these are compared last."""
    columns = [attribute.column() for attribute in counts.attributes]
    *group, compared, number = columns
    assert len(group) == keys
    last = exp.AnonymousAggFunc(this=extreme, expressions=[number, compared])
    found = _grouped(context, counts, tuple(group), last)
    return Filter(found, _more_than_one(found.attributes[-1].column()))


def _grouped(
    context: StreamContext, rows: Relation, keys: tuple[Scalar, ...], call: Scalar
) -> Aggregate:
    names = tuple(context.attribute("key") for _ in keys)
    scalars = tuple(key.copy() for key in keys)
    return Aggregate(rows, names, scalars, (context.attribute("number"),), (call,))


def _different(values: list[Scalar]) -> Scalar:
    """Return the number of combinations of values, also of values that have no order."""
    fields: list[Scalar] = []
    for number, value in enumerate(values):
        fields += [exp.Literal.string(f"c{number}"), value.copy()]
    struct = exp.Anonymous(this="named_struct", expressions=fields)
    return exp.Count(this=exp.Distinct(expressions=[struct]))


def _more_than_one(number: Scalar) -> Scalar:
    return exp.GT(this=number, expression=exp.Literal.number(1))


def join_with_relation(
    context: StreamContext, join: Join, left: tuple[Relation, Flow], right: tuple[Relation, Flow]
) -> tuple[Relation, Flow]:
    """Return a join with a stream on one side.

    Spark may sort rows to join them, or look the stream's up: their order is not known any more.
    """
    (below, of_left), (other, of_right) = left, right
    if isinstance(join, OuterJoin):
        if join.side is not (Side.LEFT if of_left.streaming else Side.RIGHT):
            raise context.unsupported(
                "an outer join that keeps the rows of what is not a stream is", join.span
            )
    elif of_right.streaming and not isinstance(join, InnerJoin):
        raise context.unsupported("a stream that other rows are looked up in is", join.span)
    flow = of_left if of_left.streaming else of_right
    return replace(join, left=below, right=other), replace(flow, unordered=True)


def union_of_streams(
    context: StreamContext, union: UnionAll, branches: Sequence[tuple[Relation, Flow]]
) -> tuple[Relation, Flow]:
    """Return the union of several streams, whose recorded rows are ``branches``."""
    late_of = [flow.late for _, flow in branches if flow.late is not None]
    if len(late_of) < len(branches):
        raise context.unsupported("a union of a stream with what is none is", union.span)
    placed = len({len(flow.place) for _, flow in branches}) == 1 and bool(branches[0][1].place)
    names = ("branch", *("place" for _ in branches[0][1].place)) if placed else ()
    added = [context.attribute(name) for name in ("batch", "late", *names)]
    whole = []
    for number, (branch, (below, flow), late) in enumerate(
        zip(union.branches, branches, late_of, strict=True)
    ):
        rows, order = _ordered(context, below, flow, number) if placed else (below, ())
        whole.append(columns(rows, (*branch.attributes, *flow.batches, late, *order)))
    first = branches[0][1]
    flow = Flow(
        True,
        united_times(union, first.times),
        added[1],
        batches=(added[0],),
        place=tuple(added[2:]),
        delay=first.delay,
        bits=max(flow.bits for _, flow in branches),
        unordered=not placed or any(flow.unordered for _, flow in branches),
        deduplicated=any(flow.deduplicated for _, flow in branches),
        joined=any(flow.joined for _, flow in branches),
        untold=any(flow.joined for _, flow in branches),
    )
    return replace(union, branches=tuple(whole), output=(*union.output, *added)), flow


def _ordered(
    context: StreamContext, below: Relation, flow: Flow, number: int
) -> tuple[Relation, tuple[Attribute, ...]]:
    """Return the rows of a branch with its number, and what they come by in a batch."""
    branch = context.attribute("branch")
    numbered = Project(
        below,
        (*below.attributes, branch),
        (
            *(attribute.column() for attribute in below.attributes),
            exp.Literal.number(number),
        ),
    )
    return numbered, (branch, *flow.place)


_REFUSED = {
    BagDifference: "EXCEPT ALL or INTERSECT ALL of a stream is",
    Draw: "a value that chance or the partition of a row decides is",
    Limit: "LIMIT outside of output mode complete is",
    Sample: "TABLESAMPLE of a stream is",
}
"""The operators without a rule that a text has, as it calls them."""


def as_recorded(
    root: Relation,
    streams: Mapping[str, Streamed],
    mode: OutputMode,
    emission: Emission,
    sql: str = "",
) -> Reading:
    """Return a streaming query as one over the recorded rows of its streams.

    Parameters
    ----------
    root
        The query, whose scans of streams become scans of their recorded rows.
    streams
        By name, the relations that are streams.
    sql
        The user's text, for the excerpts of errors.

    Raises
    ------
    UnsupportedError
        The query has an operator that is not followed through a stream.
    """
    context = StreamContext(streams, mode, emission, sql)
    ordered = any(isinstance(operator, FirstRows) for operator in walk(root))
    ordered = ordered or any(stream.distinct for stream in streams.values())
    recording = _Recording(context, ordered=ordered)
    relation, flow = recording.visit(root, frozenset(a.id for a in root.attributes))
    if emission.batch is not None and flow.batches:
        relation = Filter(relation, _made_in(flow.batches, emission.batch))
    if relation.attributes != root.attributes:
        attributes = root.attributes
        relation = Project(
            relation, attributes, tuple(attribute.column() for attribute in attributes)
        )
    stateless = not (flow.grouped or flow.joined or flow.deduplicated)
    return Reading(
        relation,
        stateless,
        context.by_time,
        tuple(recording.sessions),
        tuple(context.undecided),
        tuple(context.ties),
    )


class _Recording:
    """One pass over a plan, inputs first; an input that two operators read is read once."""

    def __init__(self, context: StreamContext, *, ordered: bool) -> None:
        self._context = context
        self._done: dict[tuple[int, frozenset[str], int | None], tuple[Relation, Flow]] = {}
        self.sessions: list[Relation] = []
        self._ordered = ordered

    def visit(self, relation: Relation, needed: frozenset[str]) -> tuple[Relation, Flow]:
        """Return an operator over recorded rows, and what is known of its rows.

        ``needed`` are the attributes that operators above read: Spark prunes the others, and drops
        no late rows by a column that is not there.
        """
        if not self._reads_stream(relation):
            return relation, STATIC
        key = (id(relation), needed, self._context.batch)
        if key not in self._done:
            self._done[key] = self._operator(relation, needed)
        return self._done[key]

    def _reads_stream(self, relation: Relation) -> bool:
        scans = (operator for operator in walk(relation) if isinstance(operator, Scan))
        return any(scan.relation in self._context.streams for scan in scans)

    def _operator(self, relation: Relation, needed: frozenset[str]) -> tuple[Relation, Flow]:
        match relation:
            case Scan():
                return self._scan(relation, needed)
            case Filter(predicate=predicate):
                return self._unary(relation, needed.union(references(predicate)))
            case Sort(keys=keys) | LocalSort(keys=keys):
                return self._unary(relation, needed.union(*(references(k.scalar) for k in keys)))
            case FirstRows():
                return self._first_rows(relation, needed)
            case Watermarked():
                return self._watermarked(relation, needed)
            case Project():
                return self._project(relation, needed)
            case Generate():
                return self._generate(relation, needed)
            case UnionAll():
                return self._union(relation, needed)
            case Join():
                return self._join(relation, needed)
            case ScalarSubquery():
                return self._with_value(relation, needed)
            case CorrelatedScalar(pairs=pairs):
                outer = (references(scalar) for scalar, _ in pairs)
                return self._with_value(relation, needed.union(*outer))
            case Windows(calls=calls):
                return self._windows(relation, needed.union(*map(references, calls)))
            case Aggregate():
                return self._aggregate(relation)
            case Limit() if self._context.mode is OutputMode.COMPLETE:
                return self._unary(relation, needed)
        called = _REFUSED.get(type(relation), f"{type(relation).__name__} of a stream is")
        raise self._context.unsupported(called, getattr(relation, "span", None))

    def _scan(self, scan: Scan, needed: frozenset[str]) -> tuple[Relation, Flow]:
        stream = self._context.streams[scan.relation]
        batch, late = self._context.attribute("batch"), self._context.attribute("late")
        by_column = dict(zip(scan.columns, scan.output, strict=True))
        times = {}
        if stream.time in by_column:
            times = {by_column[stream.time].id: EventTime.TIME}
        placed = (stream.place,) if self._ordered and stream.place is not None else ()
        place_attributes = tuple(self._context.attribute("place") for _ in placed)
        recorded = replace(
            scan,
            columns=(*scan.columns, stream.batch, stream.late, *placed),
            output=(*scan.output, batch, late, *place_attributes),
        )
        flow = Flow(
            True,
            times,
            late,
            batches=(batch,),
            place=place_attributes,
            delay=stream.delay,
            bits=stream.bits,
            unordered=not place_attributes,
        )
        if not stream.distinct:
            return recorded, flow
        keys = tuple(by_column[name] for name in stream.distinct)
        first = FirstRows(scan, keys, stream.within, scan.span)
        wanted = compared_by(first, needed, times)
        return first_rows(self._context, first, recorded, flow, wanted)

    def _first_rows(self, first: FirstRows, needed: frozenset[str]) -> tuple[Relation, Flow]:
        wanted = compared_by(first, needed, {})
        below, flow = self.visit(first.input, wanted)
        if first.within:
            wanted = compared_by(first, needed, flow.times)
            below, flow = self.visit(first.input, wanted)
        return first_rows(self._context, first, below, flow, wanted)

    def _watermarked(self, marked: Watermarked, needed: frozenset[str]) -> tuple[Relation, Flow]:
        """Return the rows below a watermark: Spark passes no other's mark on through it."""
        below, flow = self.visit(marked.input, needed.union([marked.time.id]))
        if flow.grouped or flow.joined:
            problem = "a watermark above a grouping or a join of streams is"
            raise self._context.unsupported(problem, marked.span)
        return below, replace(flow, times={marked.time.id: EventTime.TIME}, delay=marked.delay)

    def _unary(self, relation: Unary, needed: frozenset[str]) -> tuple[Relation, Flow]:
        below, flow = self.visit(relation.input, needed)
        return replace(relation, input=below), flow

    def _project(self, project: Project, needed: frozenset[str]) -> tuple[Relation, Flow]:
        pairs = zip(project.output, project.scalars, strict=True)
        used = [references(scalar) for attribute, scalar in pairs if attribute.id in needed]
        below, flow = self.visit(project.input, frozenset().union(*used))
        carried = flow.carried
        relation = Project(
            below,
            (*project.output, *carried),
            (*project.scalars, *(attribute.column() for attribute in carried)),
        )
        return relation, replace(flow, times=times_of(project.output, project.scalars, flow.times))

    def _generate(self, generate: Generate, needed: frozenset[str]) -> tuple[Relation, Flow]:
        relation, flow = self._unary(generate, needed.union(references(generate.argument)))
        times = generated_times(generate, flow.times)
        flow = replace(flow, times={**flow.times, **times}, unordered=True)
        if generate.argument.meta.get(MARK) != SESSION:
            return relation, flow
        # Sessions drop late rows in every output mode; emitted ones are kept in complete alone.
        windows = replace(flow, times=times)
        if self._context.mode is not OutputMode.COMPLETE and times and flow.late is not None:
            time = next(windowed(generate.argument))
            passed = exp.LTE(this=time.copy(), expression=flow.late.column())
            shown = self._context.attribute("time")
            self.sessions.append(Project(Filter(relation, passed), (shown,), (time.copy(),)))
        relation = self._context.in_time(relation, windows, times.keys(), generate.span)
        return relation, replace(flow, late=None, batch_late=None, sessions=True)

    def _windows(self, windows: Windows, needed: frozenset[str]) -> tuple[Relation, Flow]:
        relation, flow = self._unary(windows, needed)
        if not flow.sessions:
            raise self._context.unsupported("a window function over a stream is", windows.span)
        return relation, flow

    def _union(self, union: UnionAll, needed: frozenset[str]) -> tuple[Relation, Flow]:
        places = [index for index, a in enumerate(union.output) if a.id in needed]
        done = [
            self.visit(branch, frozenset(branch.attributes[index].id for index in places))
            for branch in union.branches
        ]
        return union_of_streams(self._context, union, done)

    def _join(self, join: Join, needed: frozenset[str]) -> tuple[Relation, Flow]:
        if join.condition is not None:
            needed = needed.union(references(join.condition))
        left, right = (self.visit(side, needed) for side in join.inputs)
        if left[1].streaming and right[1].streaming:
            return join_of_streams(self._context, join, left, right, needed)
        return join_with_relation(self._context, join, left, right)

    def _with_value(
        self, relation: ScalarSubquery | CorrelatedScalar, needed: frozenset[str]
    ) -> tuple[Relation, Flow]:
        if self._reads_stream(relation.query):
            raise self._context.unsupported("a subquery of a stream is", relation.span)
        below, flow = self.visit(relation.input, needed)
        return replace(relation, input=below), flow

    def _aggregate(self, aggregate: Aggregate) -> tuple[Relation, Flow]:
        scalars = (*aggregate.keys, *aggregate.aggregates)
        with self._context.below_grouping():
            below, flow = self.visit(aggregate.input, frozenset().union(*map(references, scalars)))
        if flow.joined:
            check_grouped(self._context, aggregate, flow)
        if aggregate.sets is not None:
            raise self._context.unsupported("grouping sets over a stream are", aggregate.span)
        if flow.grouped and self._context.mode is not OutputMode.APPEND:
            problem = f"a grouping of groups in output mode {self._context.mode.value} is"
            raise self._context.unsupported(problem, aggregate.span)
        keys = {key.name for key in aggregate.keys if isinstance(key, exp.Column)}
        timed = {name: time for name, time in flow.times.items() if name in keys}
        if self._context.mode is not OutputMode.COMPLETE:
            below = self._context.in_time(below, replace(flow, times=timed), keys, aggregate.span)
        if self._context.mode is OutputMode.APPEND:
            below = self._context.passed(below, timed, flow.reached, aggregate.span)
        times = times_of(aggregate.key_output, aggregate.keys, flow.times)
        self._context.ties.extend(tied_groups(self._context, replace(aggregate, input=below)))
        whole: Relation = replace(aggregate, input=below)
        batch = self._context.emission.batch
        # A grouping without keys is emitted by every batch.
        if aggregate.keys and batch is not None and self._context.mode is OutputMode.UPDATE:
            whole = self._changed(replace(aggregate, input=below), flow.batches, batch)
        return whole, Flow(True, times, grouped=True, reached=flow.reached)

    def _changed(self, aggregate: Aggregate, batches: Sequence[Attribute], number: int) -> Relation:
        """Return the groups that have a row of a batch."""
        last = self._context.attribute("last")
        call = exp.Max(this=latest(batches))
        whole = replace(
            aggregate,
            aggregate_output=(*aggregate.aggregate_output, last),
            aggregates=(*aggregate.aggregates, call),
        )
        return Filter(whole, exp.EQ(this=last.column(), expression=exp.Literal.number(number)))


def _made_in(batches: Sequence[Attribute], number: int) -> Scalar:
    return exp.EQ(this=latest(batches), expression=exp.Literal.number(number))
