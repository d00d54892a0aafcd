"""Groupings, PIVOT and UNPIVOT of a Connect plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.items import grouped, kept_column, select_list
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message, name_of
from rewriter.frames.writing.pivot import (
    Unpivot,
    of_expression,
    pivot_input,
    pivot_key,
    pivot_select,
    pivot_value,
    unpivoted,
)
from rewriter.frames.writing.selects import Column, Rows, Stage, unsupported

if TYPE_CHECKING:
    from rewriter.frames.connect_plan.plans import ConnectPlans


def pivot(
    plans: ConnectPlans, frame: ConnectFrame, message: Message, relation: Message
) -> ConnectFrame:
    """Write PIVOT; each value has a column for each aggregate, after the keys."""
    by = message["pivot"]
    if not by.get("values"):
        raise unsupported("a pivot without values has no rule", "Give pivot() the values.")
    keys, calls = message.get("grouping_expressions", []), message["aggregate_expressions"]
    parts = [*keys, *calls, by["col"]]
    used = {c for part in parts for c in ConnectScalars(frame).write(part).find_all(exp.Column)}
    ids = {column.id for column in frame.columns if column.scalar in used}
    frame = frame.over(pivot_input(plans.close, frame.rows, ids))
    scalars = ConnectScalars(frame)
    key_columns = [kept_column(frame, key) for key in keys]
    groups = [column for column in key_columns if column is not None]
    if len(groups) != len(key_columns):
        raise unsupported(
            "a pivot grouped by an expression has no rule", "Add it as a column before groupBy."
        )
    aggregates = [scalars.write(call) for call in calls]
    values = [scalars.write({"literal": value}) for value in by["values"]]
    group_keys = [column.scalar for column in groups]
    select = pivot_select(frame.rows, group_keys, aggregates, scalars.write(by["col"]), values)
    written = [pivot_key(scalar) for scalar in group_keys]
    for value in range(len(values)):
        written += [pivot_value(value, n, len(calls)) for n in range(len(calls))]
    pairs = zip(plans.names_of(relation), written, strict=True)
    columns = tuple(plans.column(name, scalar) for name, scalar in pairs)
    return plans.made(Rows(columns, select, Stage.ITEMS))


def unpivot(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return columns as rows: a name and a value each."""
    frame = plans.ready(plans.frame(message["input"]), Stage.ORDER, plain=False)
    kept = [_named_column(frame, part) for part in message.get("ids", [])]
    if "values" in message:
        values = [_named_column(frame, part) for part in message["values"].get("values", [])]
    else:
        ids = {column.id for column in kept}
        values = [column for column in frame.columns if column.id not in ids]
    outputs = (message["variable_column_name"], message["value_column_name"])
    parts = Unpivot(
        tuple(column.id for column in kept),
        tuple(column.name for column in values),
        tuple((column.id,) for column in values),
        tuple(plans.numbered(outputs)),
    )
    return plans.made(unpivoted(plans.close, parts, frame.rows))


def _named_column(frame: ConnectFrame, message: Message) -> Column:
    """Return a column under the name by which UNPIVOT means it."""
    column = kept_column(frame, message)
    if column is None:
        raise of_expression()
    return replace(column, name=name_of(message) or column.name)


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
