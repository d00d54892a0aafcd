"""What is the same for all operators of a streaming query, and the conditions that they add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import count

from sqlglot import exp

from rewriter.algebra import Attribute, Filter, Project, Relation
from rewriter.errors import UnsupportedError
from rewriter.position import Span
from rewriter.streaming.emission import Emission, OutputMode
from rewriter.streaming.flow import EventTime, Flow, Streamed, moment


class Context:
    """A streaming query that is read.

    Attributes
    ----------
    by_time
        Whether a watermark decided so far which rows there are.
    """

    def __init__(
        self, streams: Mapping[str, Streamed], mode: OutputMode, emission: Emission, sql: str
    ) -> None:
        self.streams = streams
        self.mode = mode
        self.emission = emission
        self.by_time = False
        self._sql = sql
        self._numbers = count(1)

    def attribute(self, name: str) -> Attribute:
        """Return a new attribute, which is none of the query's."""
        return Attribute(f"_stream_{name}_{next(self._numbers)}", name)

    def unsupported(self, problem: str, span: Span | None) -> UnsupportedError:
        """Return the refusal of what is not followed."""
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
        self, below: Relation, times: Mapping[str, EventTime], span: Span | None
    ) -> Relation:
        """Return the rows of groups that the watermark has passed."""
        if not times:
            raise self.unsupported(
                "a grouping without an event time in output mode append is", span
            )
        (name, time) = self._only(times, span)
        self.by_time = True
        below = Filter(below, time.passed(name, moment(self.emission.watermark)))
        if self.emission.before is not None:
            before = time.passed(name, moment(self.emission.before))
            below = Filter(below, exp.Not(this=exp.paren(before)))
        return below

    def _only(self, times: Mapping[str, EventTime], span: Span | None) -> tuple[str, EventTime]:
        if len(times) > 1:
            raise self.unsupported("several columns with a watermark in one operator are", span)
        ((name, time),) = times.items()
        return name, time


def columns(relation: Relation, attributes: Sequence[Attribute]) -> Relation:
    """Return a relation with some of its attributes, in this order."""
    chosen = tuple(attributes)
    if relation.attributes == chosen:
        return relation
    return Project(relation, chosen, tuple(attribute.column() for attribute in chosen))
