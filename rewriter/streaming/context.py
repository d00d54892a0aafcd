"""The context of a streaming query: its output mode, its last batch, and added conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from itertools import count

from sqlglot import exp

from rewriter.algebra import Attribute, Filter, Project, Relation, Scalar
from rewriter.errors import UnsupportedError
from rewriter.position import Span
from rewriter.streaming.flow import EventTime, Flow, Streamed, Watermark, moment


class OutputMode(Enum):
    """The output modes: the rows of a micro-batch that a streaming query hands to its sink."""

    APPEND = "append"
    """Rows that no later batch changes."""
    UPDATE = "update"
    """Groups that the batch changed."""
    COMPLETE = "complete"
    """All groups."""


@dataclass(frozen=True, slots=True)
class Emission:
    """The watermark up to which state was emitted, and the batch whose rows are asked for.

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
        Each row is made of rows of one batch: the query over the rows of a batch alone yields them.
    by_time
        Late rows are dropped: the answer depends on the watermarks.
    sessions
        It is the streaming query only where none of these has a row, the time of one that came
        after a watermark had passed it: a session that was emitted is not merged with one that such
        a row begins.
    undecided
        It is the streaming query only where none of these has a row: each is a group of rows of one
        batch whose first row stays, and only Spark knows which came first.
    ties
        The same, of groups in which rows tie that an aggregate chooses from, with the aggregate.
    """

    root: Relation
    stateless: bool
    by_time: bool
    sessions: tuple[Relation, ...]
    undecided: tuple[Relation, ...] = ()
    ties: tuple[tuple[Relation, Scalar], ...] = ()


class StreamContext:
    """A streaming query that is read.

    Attributes
    ----------
    by_time
        Whether a watermark decided so far on the presence of rows.
    batch
        The batch whose rows are asked for; None: all, or a grouping above selects them.
    undecided
        Relations that have a row where Spark alone knows which of other rows came first.
    ties
        Relations whose rows are groups in which rows tie that an aggregate chooses from, and the
        aggregates.
    """

    def __init__(
        self, streams: Mapping[str, Streamed], mode: OutputMode, emission: Emission, sql: str
    ) -> None:
        self.streams = streams
        self.mode = mode
        self.emission = emission
        self.by_time = False
        self.batch = emission.batch
        self.undecided: list[Relation] = []
        self.ties: list[tuple[Relation, Scalar]] = []
        self._sql = sql
        self._numbers = count(1)

    @contextmanager
    def below_grouping(self) -> Iterator[None]:
        """Read operators whose rows are asked for whatever batch they are of."""
        before, self.batch = self.batch, None
        try:
            yield
        finally:
            self.batch = before

    def attribute(self, name: str) -> Attribute:
        """Return a new attribute, which is none of the query's."""
        return Attribute(f"_stream_{name}_{next(self._numbers)}", name)

    def unsupported(self, problem: str, span: Span | None) -> UnsupportedError:
        """Return the refusal of a query that is not followed."""
        advice = (
            "Ask it of what the stream has written: track the folder of its sink, and query that."
        )
        return UnsupportedError(f"{problem} not followed", advice, self._sql, span)

    def in_time(self, below: Relation, flow: Flow, needed: Set[str], span: Span | None) -> Relation:
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

    def passed(
        self,
        below: Relation,
        times: Mapping[str, EventTime],
        reached: Watermark,
        span: Span | None,
    ) -> Relation:
        """Return the rows of groups that the watermark has passed, as it reaches these rows."""
        if not times:
            raise self.unsupported(
                "a grouping without an event time in output mode append is", span
            )
        (name, time) = self._only(times, span)
        self.by_time = True
        below = Filter(below, time.passed(name, reached(moment(self.emission.watermark))))
        if self.emission.before is not None:
            before = time.passed(name, reached(moment(self.emission.before)))
            below = Filter(below, exp.Not(this=exp.paren(before)))
        return below

    def _only(self, times: Mapping[str, EventTime], span: Span | None) -> tuple[str, EventTime]:
        if len(times) > 1:
            raise self.unsupported("several columns with a watermark in one operator are", span)
        ((name, time),) = times.items()
        return name, time


def latest(batches: Sequence[Attribute]) -> Scalar:
    """Return the last of the micro-batches of the rows that a row was made of."""
    numbers: list[Scalar] = [batch.column() for batch in batches]
    if len(numbers) == 1:
        return numbers[0]
    return exp.Anonymous(this="greatest", expressions=numbers)


def columns(relation: Relation, attributes: Sequence[Attribute]) -> Relation:
    """Return a relation with some of its attributes, in this order."""
    chosen = tuple(attributes)
    if relation.attributes == chosen:
        return relation
    return Project(relation, chosen, tuple(attribute.column() for attribute in chosen))
