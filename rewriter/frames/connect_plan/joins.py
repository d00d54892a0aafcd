"""Relations of two inputs of a Connect plan: joins, lateral joins and set operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.items import PlanItem, grouped, kept_column, select, select_list
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message, name_of
from rewriter.frames.writing import joins
from rewriter.frames.writing.literals import cast, sql_type
from rewriter.frames.writing.pivot import (
    Unpivot,
    of_expression,
    pivot_input,
    pivot_key,
    pivot_select,
    pivot_value,
    unpivoted,
)
from rewriter.frames.writing.selects import Column, FromRows, LastClause, call, unsupported

if TYPE_CHECKING:
    from rewriter.frames.connect_plan.plans import ConnectPlans


def join(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a join, by a condition or by common columns."""
    side, kind = _side_and_kind(message)
    frames = plans.frame(message["left"]), plans.frame(message["right"])
    left, right = joins.join_inputs(plans.close, *(frame.rows for frame in frames))
    left_frame, other = (
        frame.over(rows) for frame, rows in zip(frames, (left, right), strict=True)
    )
    both = left_frame.beside(other, replace(left, columns=left.columns + right.columns))
    using = message.get("using_columns", [])
    condition = None
    if "join_condition" in message:
        condition = plans.scalars(both).write(message["join_condition"])
    elif using:
        pairs = [(left_frame.only(name), other.only(name)) for name in using]
        equal = [exp.EQ(this=a.scalar.copy(), expression=b.scalar.copy()) for a, b in pairs]
        condition = exp.and_(*equal, copy=False)
    frame = both.over(joins.joined(left, right, side, kind, condition))
    return _using(plans, frame, left_frame, other, using, side) if using else frame


def _side_and_kind(message: Message) -> tuple[str | None, str | None]:
    type_ = message["join_type"].removeprefix("JOIN_TYPE_")
    return joins.JOINS[type_.replace("_", "").lower()]


def _using(
    plans: ConnectPlans,
    frame: ConnectFrame,
    left: ConnectFrame,
    right: ConnectFrame,
    using: Sequence[str],
    side: str | None,
) -> ConnectFrame:
    """Return a join with its common columns once, and first."""
    keys = [(left.only(name), right.only(name)) for name in using]
    columns = []
    for left_column, other in keys:
        if side == "FULL":
            both = call("coalesce", left_column.scalar.copy(), other.scalar.copy())
            columns.append(plans.column(left_column.name, both))
        else:
            columns.append(
                replace(other, name=left_column.name) if side == "RIGHT" else left_column
            )
    used = {column.id for pair in keys for column in pair}
    rest = [column for column in frame.columns if column.id not in used]
    return frame.over(replace(frame.rows, columns=(*columns, *rest)))


def lateral_join(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a join with a frame that refers to the columns of the left one."""
    left = plans.frame(message["left"])
    left = left.over(joins.left_input(plans.close, left.rows))
    right = plans.inside(left).frame(message["right"])
    side, kind = _side_and_kind(message)
    written = exp.Join(side=side, kind=kind)
    lateral, columns = joins.subquery_lateral(plans.steps.finished(right.rows))
    frame = left.beside(right, joins.lateral_join(left.rows, lateral, columns, written))
    if "join_condition" in message:
        written.set("on", plans.scalars(frame).write(message["join_condition"]))
    return frame


def set_operation(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a union, an intersection or a difference."""
    left, right = (plans.frame(message[side]) for side in ("left_input", "right_input"))
    if message.get("by_name"):
        if message.get("allow_missing_columns"):
            schemas = [plans.schema_of(message[side]) for side in ("left_input", "right_input")]
            completed = (
                _completed(plans, left, right, schemas[1]),
                _completed(plans, right, left, schemas[0]),
            )
            left, right = completed
        order = [right.only(column.name) for column in left.columns]
        right = select(plans, right, [PlanItem((column.name,), None, column) for column in order])
    inputs = [joins.operand(plans.close, frame.rows) for frame in (left, right)]
    operator = joins.SET_OPERATIONS[message["set_op_type"].removeprefix("SET_OP_TYPE_").lower()]
    return plans.made(joins.combined(operator, inputs, distinct=not message.get("is_all")))


def _completed(
    plans: ConnectPlans, frame: ConnectFrame, other: ConnectFrame, schema: Sequence[tuple[str, Any]]
) -> ConnectFrame:
    """Return a frame with the columns that only the other has, as NULLs of their types."""
    items = [PlanItem((column.name,), None, column) for column in frame.columns]
    for missing, (_, type_) in zip(other.columns, schema, strict=True):
        if not frame.named(missing.name):
            items.append(PlanItem((missing.name,), None, frame.columns[0], partial(_null, type_)))
    return select(plans, frame, items)


def _null(type_: Any, _: exp.Expr) -> exp.Expr:
    """Return NULL of a type, whatever column it is made beside."""
    return cast(exp.Null(), sql_type(type_), tried=False)


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
    return plans.made(FromRows(columns, select, LastClause.ITEMS))


def unpivot(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return columns as rows: a name and a value each."""
    frame = plans.ready(plans.frame(message["input"]), LastClause.ORDER, plain=False)
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
    frame = plans.ready(plans.frame(message["input"]), LastClause.WHERE)
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
