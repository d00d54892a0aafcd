"""Select lists of a Connect plan as those of SELECTs, their generators as lateral views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.items import Item, aggregates, generator, has_window
from rewriter.frames.writing import clauses
from rewriter.frames.writing.calls import call
from rewriter.frames.writing.selects import Column, Rows, Stage, is_long, lateral_view

if TYPE_CHECKING:
    from rewriter.frames.connect_plan.plans import ConnectPlans


def select(plans: ConnectPlans, frame: ConnectFrame, items: Sequence[Item]) -> ConnectFrame:
    """Return the frame with the columns of a select list."""
    items, frame = _generated(plans, items, frame)
    if any(aggregates(item.message) for item in items if item.message):
        return grouped(plans, plans.ready(frame, Stage.WHERE), items, None)
    windows = any(has_window(item.message) for item in items if item.message)
    if windows:
        frame = plans.ready(frame, Stage.WHERE)
    columns = _columns(plans, frame, items)
    if not _fits(frame.rows, columns) or (not frame.rows.is_plain() and any(map(is_long, columns))):
        frame = plans.closed(frame)
        columns = _columns(plans, frame, items)
    stage = max(frame.rows.stage, Stage.ITEMS) if windows else frame.rows.stage
    return frame.over(replace(frame.rows, columns=tuple(columns), stage=stage))


def grouped(
    plans: ConnectPlans, frame: ConnectFrame, items: Sequence[Item], group: exp.Group | None
) -> ConnectFrame:
    """Return the columns that a select list makes of groups; None: all rows are one group."""
    return frame.over(clauses.grouped(frame.rows, group, _columns(plans, frame, items)))


def _columns(plans: ConnectPlans, frame: ConnectFrame, items: Sequence[Item]) -> list[Column]:
    """Return the columns that a select list makes of a frame."""
    known = {column.id: column for column in frame.columns}
    scalars = plans.scalars(frame)
    columns = []
    for item in items:
        if item.kept is not None:
            kept = replace(known[item.kept.id], name=item.names[0])
            if item.made is not None:
                kept = plans.column(kept.name, item.made(kept.scalar.copy()))
            columns.append(kept)
        else:
            assert item.message is not None
            scalar = scalars.write(item.message)
            columns.append(plans.column(item.names[0], scalar))
    return columns


def _generated(
    plans: ConnectPlans, items: Sequence[Item], frame: ConnectFrame
) -> tuple[Sequence[Item], ConnectFrame]:
    """Make a lateral view of a generator among the items."""
    for index, item in enumerate(items):
        function = generator(item.message)
        if function is None:
            continue
        frame = plans.ready(frame, Stage.WHERE)
        name = function["function_name"]
        scalars = plans.scalars(frame)
        written = call(
            name.removesuffix("_outer"),
            *(scalars.write(argument) for argument in function.get("arguments", [])),
        )
        outer = name.endswith("_outer")
        rows, generated = lateral_view(frame.rows, written, item.names, outer=outer)
        pairs = zip(item.names, generated, strict=True)
        added = [plans.column(name, scalar) for name, scalar in pairs]
        frame = frame.over(replace(rows, columns=(*rows.columns, *added)))
        kept = [Item((column.name,), None, column) for column in added]
        return [*items[:index], *kept, *items[index + 1 :]], frame
    return items, frame


def _fits(rows: Rows, columns: Sequence[Column]) -> bool:
    """Tell whether a select list goes into the SELECT that its rows are."""
    if rows.query is not None or rows.stage >= Stage.OFFSET or rows.select.args.get("distinct"):
        return list(columns) == list(rows.columns)
    if rows.stage is Stage.ORDER:
        return all(column.kept for column in columns)
    known = [column.scalar for column in rows.columns]
    return rows.stage < Stage.ITEMS or all(column.scalar in known for column in columns)
