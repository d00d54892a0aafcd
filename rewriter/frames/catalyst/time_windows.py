"""Time windows, which a plan has as a column computed under the operator that uses it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.catalyst.outputs import references
from rewriter.frames.catalyst.scalars import CatalystScalars, attribute_id
from rewriter.frames.catalyst.tree import Node, tree
from rewriter.frames.writing.calls import call
from rewriter.frames.writing.clauses import ready
from rewriter.frames.writing.selects import Column, Rows, Stage

if TYPE_CHECKING:
    from rewriter.frames.catalyst.plans import CatalystPlans

_STRUCT, _TIME = "CreateNamedStruct", "PreciseTimestampConversion"
_ADDED = ("TimeAdd", "TimestampAddInterval")
"""The sum of a time and a length; the latter since Spark 4.1."""


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The rows of an operator, each with a window that its time is in; lengths in microseconds.

    Sessions have a gap instead of lengths.
    """

    input: Node
    attribute: Node
    time: Node
    lengths: tuple[int, ...] = ()
    gap: Node | None = None

    @property
    def used(self) -> tuple[Node, ...]:
        """The expressions over the operator's rows."""
        return (self.time,) if self.gap is None else (self.time, self.gap)

    def column(self, scalars: CatalystScalars) -> Column:
        """Return the column of the window."""
        if self.gap is None:
            texts = [exp.Literal.string(f"{length} microseconds") for length in self.lengths]
            scalar = call("window", scalars.write(self.time), *texts)
        else:
            scalar = call("session_window", *map(scalars.write, self.used))
        return Column(attribute_id(self.attribute), self.attribute.name, scalar)


def windowed(plans: CatalystPlans, window: TimeWindow) -> Rows:
    """Return a step with the window, which is kept where nothing reads it: it repeats rows."""
    used = frozenset[int]().union(*map(references, window.used))
    rows = ready(plans.close, plans.rows(window.input), Stage.WHERE, used)
    time_column = window.column(plans.scope(rows))
    plans.steps.need([time_column.id])
    return plans.close(replace(rows, columns=(time_column, *rows.columns), stage=Stage.ITEMS))


def time_window_of(node: Node) -> TimeWindow | None:
    """Return the time window that an operator makes with the one below it; None if it does not.

    It is a projection of rows that have a time where the windows do not overlap, and else a filter
    of copies of rows; of sessions, a filter of a projection. What is read here wrongly makes
    another plan, and is found out by that.
    """
    if not node.children or not node.children[0].children:
        return None
    below = node.children[0]
    if node.kind == "Project" and below.kind == "Filter":
        attribute = node.many("projectList")[0]
    elif node.kind == "Filter" and below.kind == "Project":
        attribute = below.many("projectList")[0]
    elif node.kind == "Filter" and below.kind == "Expand" and below.fields.get("projections"):
        attribute = below.many("output")[0]
    else:
        return None
    struct = attribute.child if attribute.kind == "Alias" else attribute
    if below.kind == "Expand":
        struct = tree(below.fields["projections"][0][0])
    times = [part.child for part in struct.walk() if part.kind == _TIME and _is_long(part)]
    if struct.kind != _STRUCT or not times:
        return None
    within = next((part for part in struct.walk() if part.kind == "Remainder"), None)
    if below.kind == "Project":
        added = next((part for part in struct.children[-1].walk() if part.kind in _ADDED), None)
        if within is not None or added is None:
            return None
        time, gap = added.children
        return TimeWindow(below.children[0], attribute, time, gap=_without_conversion(gap))
    if within is None:
        return None
    return TimeWindow(below.children[0], attribute, times[0], _lengths(struct, within))


def _without_conversion(gap: Node) -> Node:
    """Return a length without its conversion, which Spark adds to a text."""
    return gap.child if gap.kind == "Cast" else gap


def _is_long(conversion: Node) -> bool:
    return conversion.fields.get("toType") == "long"


def _lengths(struct: Node, within: Node) -> tuple[int, int, int]:
    """Return width, slide and start, of ``... + width`` and ``(time - start) % slide``."""
    end = next(part for part in struct.children[3].walk() if part.kind == "Add")
    width, slide = _number(end.children[1]), _number(within.children[1])
    return width, slide, _number(within.children[0].children[1])


def _number(literal: Node) -> int:
    return int(literal.fields["value"])
