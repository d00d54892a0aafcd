"""Relations of a Connect plan that name columns: added, renamed or dropped ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.items import Item, kept_column
from rewriter.frames.connect_plan.scalars import Message
from rewriter.frames.connect_plan.selected import select

if TYPE_CHECKING:
    from rewriter.frames.connect_plan.plans import ConnectPlans


def with_columns(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame with columns added, or replaced where they have the name of one."""
    frame = plans.input_of(message, relation)
    items = [Item((column.name,), None, column) for column in frame.columns]
    for alias in message["aliases"]:
        (name,) = alias["name"]
        item = Item((name,), alias["expr"])
        same = [n for n, item in enumerate(items) if item.names[0].lower() == name.lower()]
        for number in same:
            items[number] = item
        if not same:
            items.append(item)
    return select(plans, frame, items)


def renamed(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame whose columns of some names have others."""
    frame = plans.frame(message["input"])
    renames = {pair["col_name"].lower(): pair["new_col_name"] for pair in message["renames"]}
    names = [renames.get(column.name.lower(), column.name) for column in frame.columns]
    return _with_names(plans, frame, names)


def to_df(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame whose columns have other names, in order."""
    frame = plans.frame(message["input"])
    return _with_names(plans, frame, message["column_names"])


def _with_names(plans: ConnectPlans, frame: ConnectFrame, names: Sequence[str]) -> ConnectFrame:
    pairs = zip(frame.columns, names, strict=True)
    return select(plans, frame, [Item((name,), None, column) for column, name in pairs])


def dropped(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a frame without some columns."""
    frame = plans.frame(message["input"])
    names = {name.lower() for name in message.get("column_names", [])}
    gone = [kept_column(frame, part) for part in message.get("columns", [])]
    kept = [c for c in frame.columns if c.name.lower() not in names and c not in gone]
    return select(plans, frame, [Item((column.name,), None, column) for column in kept])
