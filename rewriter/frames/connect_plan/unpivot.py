"""UNPIVOT of a Connect plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.items import kept_column
from rewriter.frames.connect_plan.scalars import Message, name_of
from rewriter.frames.writing.selects import Column, Stage
from rewriter.frames.writing.unpivot import Unpivot, of_expression, unpivoted

if TYPE_CHECKING:
    from rewriter.frames.connect_plan.plans import ConnectPlans


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
