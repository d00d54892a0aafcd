"""Aggregations of a Connect plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.items import select_list
from rewriter.frames.connect_plan.pivot import pivot
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message
from rewriter.frames.connect_plan.selected import grouped
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.selects import Stage

if TYPE_CHECKING:
    from rewriter.frames.connect_plan.plans import ConnectPlans

_GROUPINGS = {"GROUP_TYPE_CUBE": exp.Cube, "GROUP_TYPE_ROLLUP": exp.Rollup}


def aggregate(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return the groups of a frame's rows, or their PIVOT."""
    frame = plans.ready(plans.frame(message["input"]), Stage.WHERE)
    if message["group_type"] == "GROUP_TYPE_PIVOT":
        return pivot(plans, frame, message, relation)
    group = _group(plans.scalars(frame), message)
    keys, calls = (message.get(f"{part}_expressions", []) for part in ("grouping", "aggregate"))
    items = select_list(frame, [*keys, *calls], lambda _: plans.names_of(relation))
    return grouped(plans, frame, items, group)


def _group(scalars: ConnectScalars, message: Message) -> exp.Group | None:
    """Return GROUP BY; None where all rows are one group."""
    write, kind = scalars.write, message["group_type"]
    keys = [write(key) for key in message.get("grouping_expressions", [])]
    if kind == "GROUP_TYPE_GROUPING_SETS":
        sets = [map(write, group.get("grouping_set", [])) for group in message["grouping_sets"]]
        tuples = [exp.Tuple(expressions=[*group]) for group in sets]
        return exp.Group(expressions=[exp.GroupingSets(expressions=tuples)])
    if kind in _GROUPINGS:
        return exp.Group(expressions=[_GROUPINGS[kind](expressions=keys)])
    if kind != "GROUP_TYPE_GROUPBY":
        raise unsupported(f"{kind.removeprefix('GROUP_TYPE_')} has no rule")
    return exp.Group(expressions=keys) if keys else None
