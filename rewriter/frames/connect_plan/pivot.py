"""PIVOT of a Connect plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.items import kept_column
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.pivot import pivot_input, pivot_key, pivot_select, pivot_value
from rewriter.frames.writing.selects import Rows, Stage

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
