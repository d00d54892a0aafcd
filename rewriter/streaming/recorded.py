"""A streaming query as a query over the recorded rows of its streams.

What a streaming query yields up to a micro-batch is the query over the rows read so far, less
those that operators with state dropped as late; and in output mode append only the groups that the
watermark has passed. Both are conditions on single rows, which become filters of the plan: rows
have, beside their columns, their batch and the watermark that was in force then. So annotations,
values and hypothetical answers of a stream are those of this plan.

Followed are filters, projections, generators, unions, joins with relations that are no streams,
groupings (windows of time among their keys or not, one over another in mode append) and inner
joins of two streams. See Armbrust et al., "Structured Streaming: A Declarative API for Real-Time
Applications in Apache Spark", SIGMOD 2018, for the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import Enum

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    CorrelatedScalar,
    Filter,
    Generate,
    InnerJoin,
    Join,
    Limit,
    LocalSort,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    Scan,
    SemiJoin,
    Side,
    Sort,
    Unary,
    UnionAll,
    Windows,
    is_known,
    references,
    walk,
)
from rewriter.bind.catalog import SESSION
from rewriter.bind.columns.metadata import MARK
from rewriter.errors import UnsupportedError
from rewriter.position import Span
from rewriter.streaming.flow import (
    STATIC,
    EventTime,
    Flow,
    Streamed,
    generated_times,
    times_of,
    united_times,
)
from rewriter.streaming.outer_joins import given_up, moment


class OutputMode(Enum):
    """What a streaming query hands to its sink of a micro-batch."""

    APPEND = "append"
    """Rows that no later batch changes."""
    UPDATE = "update"
    """Groups that the batch changed."""
    COMPLETE = "complete"
    """All groups."""


@dataclass(frozen=True, slots=True)
class Emission:
    """Up to which watermark state was emitted, and of which batch the rows are asked for.

    Parameters
    ----------
    watermark
        In milliseconds since 1970.
    before
        The watermark of the batch before; only what was emitted after it is asked for.
    batch
        The batch whose rows are asked for.

    With neither ``before`` nor ``batch``, all rows so far are.
    """

    watermark: int
    before: int | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A streaming query over recorded rows.

    Parameters
    ----------
    root
        The query, with the attributes it had.
    stateless
        Each row is made of rows of one batch: those of a batch are the query over its rows alone.
    by_time
        Late rows are dropped: the answer depends on the watermarks.
    sessions
        It is the streaming query only where no row came after a watermark had passed its time: a
        session that was emitted is not merged with one that such a row begins.
    """

    root: Relation
    stateless: bool
    by_time: bool
    sessions: bool


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
    recording = _Recording(streams, mode, emission, sql)
    relation, flow = recording.visit(root, frozenset(a.id for a in root.attributes))
    if emission.batch is not None and flow.batches:
        relation = Filter(relation, _made_in(flow.batches, emission.batch))
    if relation.attributes != root.attributes:
        own = root.attributes
        relation = Project(relation, own, tuple(attribute.column() for attribute in own))
    stateless = not (flow.grouped or flow.joined or flow.deduplicated)
    return Reading(relation, stateless, recording.by_time, recording.sessions)


class _Recording:
    """One pass over a plan, inputs first; an input that two operators read is read once."""

    def __init__(
        self, streams: Mapping[str, Streamed], mode: OutputMode, emission: Emission, sql: str
    ) -> None:
        self._streams = streams
        self._mode = mode
        self._emission = emission
        self._sql = sql
        self._done: dict[tuple[int, frozenset[str]], tuple[Relation, Flow]] = {}
        self._made = 0
        self.by_time = False
        self.sessions = False

    def visit(self, relation: Relation, needed: frozenset[str]) -> tuple[Relation, Flow]:
        """Return an operator over recorded rows, and what is known of its rows.

        ``needed`` are the attributes that operators above read: Spark prunes the others, and drops
        no late rows by a column that is not there.
        """
        if not self._reads_stream(relation):
            return relation, STATIC
        key = (id(relation), needed)
        if key not in self._done:
            self._done[key] = self._operator(relation, needed)
        return self._done[key]

    def _reads_stream(self, relation: Relation) -> bool:
        scans = (one for one in walk(relation) if isinstance(one, Scan))
        return any(scan.relation in self._streams for scan in scans)

    def _operator(self, relation: Relation, needed: frozenset[str]) -> tuple[Relation, Flow]:
        match relation:
            case Scan():
                return self._scan(relation, needed)
            case Filter(predicate=predicate):
                return self._unary(relation, needed.union(references(predicate)))
            case Sort(keys=keys) | LocalSort(keys=keys):
                return self._unary(relation, needed.union(*(references(k.scalar) for k in keys)))
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
            case Limit() if self._mode is OutputMode.COMPLETE:
                return self._unary(relation, needed)
        raise self._refusal(relation)

    def _scan(self, scan: Scan, needed: frozenset[str]) -> tuple[Relation, Flow]:
        stream = self._streams[scan.relation]
        batch, late = self._attribute("batch"), self._attribute("late")
        columns = (*scan.columns, stream.batch, stream.late)
        by_column = dict(zip(scan.columns, scan.output, strict=True))
        times = {}
        if stream.time in by_column:
            times = {by_column[stream.time].id: EventTime.TIME}
        recorded = replace(scan, columns=columns, output=(*scan.output, batch, late))
        flow = Flow(True, times, late, (batch,))
        if not stream.distinct:
            return recorded, flow
        keys = [by_column[name] for name in stream.distinct]
        return self._first_rows(recorded, stream, keys, flow, needed)

    def _first_rows(
        self,
        scan: Scan,
        stream: Streamed,
        keys: Sequence[Attribute],
        flow: Flow,
        needed: frozenset[str],
    ) -> tuple[Relation, Flow]:
        """Return the first of the rows with equal keys, of those that are not late."""
        assert stream.place is not None
        place, number = self._attribute("place"), self._attribute("number")
        placed = replace(scan, columns=(*scan.columns, stream.place), output=(*scan.output, place))
        in_time = self._in_time(placed, flow, needed.union(key.id for key in keys), scan.span)
        order = exp.Order(expressions=[exp.Ordered(this=place.column(), nulls_first=True)])
        call = exp.Window(
            this=exp.RowNumber(),
            partition_by=[key.column() for key in keys],
            order=order,
            over="OVER",
        )
        numbered = Windows(in_time, (number,), (call,), scan.span)
        first = exp.EQ(this=number.column(), expression=exp.Literal.number(1))
        rows = _columns(Filter(numbered, first), scan.output)
        return rows, replace(flow, deduplicated=True)

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
        flow = replace(flow, times={**flow.times, **times})
        if generate.argument.meta.get(MARK) != SESSION:
            return relation, flow
        if self._mode is not OutputMode.COMPLETE:
            relation = self._in_time(
                relation, replace(flow, times=times), set(times), generate.span
            )
            self.sessions = True
        return relation, replace(flow, late=None, sessions=True)

    def _windows(self, windows: Windows, needed: frozenset[str]) -> tuple[Relation, Flow]:
        relation, flow = self._unary(windows, needed)
        if not flow.sessions:
            raise self._unsupported("a window function over a stream is", windows.span)
        return relation, flow

    def _union(self, union: UnionAll, needed: frozenset[str]) -> tuple[Relation, Flow]:
        places = [place for place, a in enumerate(union.output) if a.id in needed]
        done = [
            self.visit(branch, frozenset(branch.attributes[place].id for place in places))
            for branch in union.branches
        ]
        if any(not flow.streaming or flow.late is None for _, flow in done):
            raise self._unsupported("a union of a stream with what is none is", union.span)
        deduplicated = any(flow.deduplicated for _, flow in done)
        batch, late = self._attribute("batch"), self._attribute("late")
        branches = tuple(
            _columns(below, (*branch.attributes, *flow.batches, flow.late))
            for branch, (below, flow) in zip(union.branches, done, strict=True)
        )
        first = done[0][1]
        relation = replace(union, branches=branches, output=(*union.output, batch, late))
        times = united_times(union, first.times)
        return relation, Flow(True, times, late, (batch,), deduplicated=deduplicated)

    def _join(self, join: Join, needed: frozenset[str]) -> tuple[Relation, Flow]:
        if join.condition is not None:
            needed = needed.union(references(join.condition))
        left, of_left = self.visit(join.left, needed)
        right, of_right = self.visit(join.right, needed)
        if of_left.streaming and of_right.streaming:
            return self._join_of_streams(join, (left, of_left), (right, of_right), needed)
        if isinstance(join, OuterJoin):
            if join.side is not (Side.LEFT if of_left.streaming else Side.RIGHT):
                raise self._unsupported(
                    "an outer join that keeps the rows of what is no stream is", join.span
                )
        elif of_right.streaming and not isinstance(join, InnerJoin):
            raise self._unsupported("a stream that other rows are looked up in is", join.span)
        flow = of_left if of_left.streaming else of_right
        return replace(join, left=left, right=right), flow

    def _with_value(
        self, relation: ScalarSubquery | CorrelatedScalar, needed: frozenset[str]
    ) -> tuple[Relation, Flow]:
        if self._reads_stream(relation.query):
            raise self._unsupported("a subquery of a stream is", relation.span)
        below, flow = self.visit(relation.input, needed)
        return replace(relation, input=below), flow

    def _join_of_streams(
        self,
        join: Join,
        left: tuple[Relation, Flow],
        right: tuple[Relation, Flow],
        needed: Set[str],
    ) -> tuple[Relation, Flow]:
        if not isinstance(join, InnerJoin | OuterJoin | SemiJoin):
            raise self._unsupported("an anti join of two streams is", join.span)
        if not isinstance(join, InnerJoin) and self._emission.batch is not None:
            raise self._unsupported(
                "which batch emits a row of an outer or semi join of streams is", join.span
            )
        flows = (left[1], right[1])
        if any(flow.grouped or flow.joined for flow in flows):
            raise self._unsupported("a join of streams above a grouping or a join is", join.span)
        sides = [self._in_time(below, flow, needed, join.span) for below, flow in (left, right)]
        own = flows[:1] if isinstance(join, SemiJoin) else flows
        times = {name: time for flow in own for name, time in flow.times.items()}
        if isinstance(join, OuterJoin):
            whole = self._outer_join(join, sides, flows)
            return whole, Flow(True, times, joined=True)
        batches = tuple(batch for flow in own for batch in flow.batches)
        whole = replace(join, left=sides[0], right=sides[1])
        return whole, Flow(True, times, None, batches, joined=True)

    def _outer_join(
        self, join: OuterJoin, sides: Sequence[Relation], flows: Sequence[Flow]
    ) -> Relation:
        """Return pairs, and the rows of kept sides whose partner can come no more."""
        marks = [self._attribute("there") for _ in sides]
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
            over = given_up(
                join.condition,
                flows[place].times,
                flows[1 - place].times,
                self._emission.watermark,
            )
            if over is None:
                raise self._unsupported(
                    "an outer join of streams without one bound between their times is", join.span
                )
            self.by_time = True
            alone = exp.Is(this=marks[1 - place].column(), expression=exp.null())
            emitted = exp.or_(emitted, exp.and_(alone, over, copy=False), copy=False)
        return Filter(replace(join, left=left, right=right), emitted)

    def _aggregate(self, aggregate: Aggregate) -> tuple[Relation, Flow]:
        scalars = (*aggregate.keys, *aggregate.aggregates)
        below, flow = self.visit(aggregate.input, frozenset().union(*map(references, scalars)))
        if flow.joined:
            raise self._unsupported("a grouping above a join of streams is", aggregate.span)
        if aggregate.sets is not None:
            raise self._unsupported("grouping sets over a stream are", aggregate.span)
        if flow.grouped and self._mode is not OutputMode.APPEND:
            problem = f"a grouping of groups in output mode {self._mode.value} is"
            raise self._unsupported(problem, aggregate.span)
        keys = {key.name for key in aggregate.keys if isinstance(key, exp.Column)}
        timed = {name: time for name, time in flow.times.items() if name in keys}
        if self._mode is not OutputMode.COMPLETE:
            below = self._in_time(below, replace(flow, times=timed), keys, aggregate.span)
        if self._mode is OutputMode.APPEND:
            below = self._passed(below, timed, aggregate.span)
        times = times_of(aggregate.key_output, aggregate.keys, flow.times)
        whole: Relation = replace(aggregate, input=below)
        batch = self._emission.batch
        # A grouping without keys is emitted by every batch.
        if aggregate.keys and batch is not None and self._mode is OutputMode.UPDATE:
            whole = self._changed(replace(aggregate, input=below), flow.batches, batch)
        return whole, Flow(True, times, grouped=True)

    def _in_time(
        self, below: Relation, flow: Flow, needed: Set[str], span: Span | None
    ) -> Relation:
        """Return the rows that an operator with state does not drop as late."""
        times = {name: time for name, time in flow.times.items() if name in needed}
        if not times or flow.late is None:
            return below
        (name, time) = self._only(times, span)
        self.by_time = True
        dropped = exp.Is(
            this=exp.paren(time.passed(name, flow.late.column())), expression=exp.true()
        )
        return Filter(below, exp.Not(this=dropped))

    def _passed(
        self, below: Relation, times: Mapping[str, EventTime], span: Span | None
    ) -> Relation:
        """Return the rows of groups that the watermark has passed."""
        if not times:
            raise self._unsupported(
                "a grouping without an event time in output mode append is", span
            )
        (name, time) = self._only(times, span)
        self.by_time = True
        below = Filter(below, time.passed(name, moment(self._emission.watermark)))
        if self._emission.before is not None:
            before = time.passed(name, moment(self._emission.before))
            below = Filter(below, exp.Not(this=exp.paren(before)))
        return below

    def _changed(self, aggregate: Aggregate, batches: Sequence[Attribute], number: int) -> Relation:
        """Return the groups that have a row of a batch."""
        last = self._attribute("last")
        call = exp.Max(this=_latest(batches))
        whole = replace(
            aggregate,
            aggregate_output=(*aggregate.aggregate_output, last),
            aggregates=(*aggregate.aggregates, call),
        )
        return Filter(whole, exp.EQ(this=last.column(), expression=exp.Literal.number(number)))

    def _only(self, times: Mapping[str, EventTime], span: Span | None) -> tuple[str, EventTime]:
        if len(times) > 1:
            raise self._unsupported("several columns with a watermark in one operator are", span)
        ((name, time),) = times.items()
        return name, time

    def _attribute(self, name: str) -> Attribute:
        self._made += 1
        return Attribute(f"_stream_{name}_{self._made}", name)

    def _refusal(self, relation: Relation) -> UnsupportedError:
        kind = type(relation).__name__
        return self._unsupported(f"{kind} of a stream is", getattr(relation, "span", None))

    def _unsupported(self, problem: str, span: Span | None) -> UnsupportedError:
        advice = (
            "Ask it of what the stream has written: track the folder of its sink, and query that."
        )
        return UnsupportedError(f"{problem} not followed", advice, self._sql, span)


def _columns(relation: Relation, attributes: Sequence[Attribute | None]) -> Relation:
    chosen = tuple(attribute for attribute in attributes if attribute is not None)
    if relation.attributes == chosen:
        return relation
    return Project(relation, chosen, tuple(attribute.column() for attribute in chosen))


def _latest(batches: Sequence[Attribute]) -> Scalar:
    columns: list[Scalar] = [batch.column() for batch in batches]
    if len(columns) == 1:
        return columns[0]
    return exp.Anonymous(this="greatest", expressions=columns)


def _made_in(batches: Sequence[Attribute], number: int) -> Scalar:
    return exp.EQ(this=_latest(batches), expression=exp.Literal.number(number))
