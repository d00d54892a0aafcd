"""Select lists of a Connect plan: their columns and names; generators become lateral views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlglot import exp

from rewriter.dialect import AGGREGATES, GENERATORS
from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message, kind_of, name_of
from rewriter.frames.writing import clauses
from rewriter.frames.writing.selects import (
    Column,
    FromRows,
    LastClause,
    call,
    is_long,
    lateral_view,
)

if TYPE_CHECKING:
    from rewriter.frames.connect_plan.plans import ConnectPlans


Made: TypeAlias = Callable[[exp.Expr], exp.Expr]
"""Makes another scalar of one."""
NamesOf: TypeAlias = Callable[[Sequence[Message]], Sequence[str]]
"""Asks Spark for the names of the columns of a select list."""


@dataclass(frozen=True, slots=True)
class PlanItem:
    """An item of a select list: a column as it is, or an expression; a generator may have names.

    ``made`` is what becomes of the column, if it is not taken as it is.
    """

    names: tuple[str, ...]
    message: Message | None
    kept: Column | None = None
    made: Made | None = None


def select_list(
    frame: ConnectFrame, messages: Sequence[Message], names_of: NamesOf
) -> list[PlanItem]:
    """Return the items of a select list; Spark is asked for names that are not written."""
    items: list[PlanItem] = []
    for message in map(_star_in_text, messages):
        kind = kind_of(message)
        if kind == "unresolved_star":
            items += _starred(frame, message, names_of)
            continue
        names = message[kind]["name"] if kind == "alias" else [name_of(message) or ""]
        items.append(PlanItem(tuple(names), message, kept_column(frame, message)))
    if any("" in item.names for item in items):
        return _called(items, names_of(messages))
    return items


def kept_column(frame: ConnectFrame, message: Message) -> Column | None:
    """Return the column if the item is a bare column reference, else None."""
    if kind_of(message) != "unresolved_attribute":
        return None
    written = ConnectScalars(frame).write(message)
    return next((column for column in frame.columns if column.scalar == written), None)


def generator(message: Message | None) -> Mapping[str, Any] | None:
    """Return the call of a generator that an item is."""
    if message is None:
        return None
    inner = message["alias"]["expr"] if kind_of(message) == "alias" else message
    function = inner.get("unresolved_function")
    if function is not None and function["function_name"].lower() in GENERATORS:
        return dict(function)
    return None


def aggregates(message: Message) -> bool:
    """Return True if an expression calls an aggregate, outside any window."""
    kind = kind_of(message)
    if kind in ("unresolved_function", "call_function"):
        if message[kind]["function_name"].lower() in AGGREGATES:
            return True
        return any(map(aggregates, message[kind].get("arguments", [])))
    return kind in ("alias", "cast") and aggregates(message[kind]["expr"])


def has_window(value: Any) -> bool:
    """Return True if an expression has a function over a window."""
    if isinstance(value, Mapping):
        return "window" in value or any(map(has_window, value.values()))
    return isinstance(value, list) and any(map(has_window, value))


def _called(items: Sequence[PlanItem], names: Sequence[str]) -> list[PlanItem]:
    """Return items under Spark's names; a generator has as many as are left."""
    more = len(names) - sum(len(item.names) for item in items)
    rest = iter(names)
    named = []
    for item in items:
        size = len(item.names)
        if item.names == ("",) and generator(item.message):
            size += more
        named.append(replace(item, names=tuple(next(rest) for _ in range(size))))
    return named


def _star_in_text(message: Message) -> Message:
    """Return a star that was given as text as the star that it is."""
    text = message.get("expression_string", {}).get("expression", "").strip()
    if text == "*":
        return {"unresolved_star": {}}
    return {"unresolved_star": {"unparsed_target": text}} if text.endswith(".*") else message


def _starred(frame: ConnectFrame, message: Message, names_of: NamesOf) -> list[PlanItem]:
    """Return the items that a star means: columns, or the fields of a struct."""
    star = message["unresolved_star"]
    columns = frame.columns
    if star.get("plan_id") is not None:
        columns = frame.of_plan(int(star["plan_id"]))
    elif "unparsed_target" in star:
        target = star["unparsed_target"].removesuffix(".*")
        name = target.strip("`").lower()
        columns = tuple(
            column for column in columns if frame.qualifiers.get(column.id, "").lower() == name
        )
        if not columns:
            struct = {"unresolved_attribute": {"unparsed_identifier": target}}
            return [PlanItem((name,), _field(struct, name)) for name in names_of([message])]
    return [PlanItem((column.name,), None, column) for column in columns]


def _field(struct: Message, name: str) -> Message:
    """Return the expression of a field of a struct."""
    return {
        "unresolved_extract_value": {"child": struct, "extraction": {"literal": {"string": name}}}
    }


def select(plans: ConnectPlans, frame: ConnectFrame, items: Sequence[PlanItem]) -> ConnectFrame:
    """Return the frame with the columns of a select list."""
    items, frame = _generated(plans, items, frame)
    if any(aggregates(item.message) for item in items if item.message):
        return grouped(plans, plans.ready(frame, LastClause.WHERE), items, None)
    windows = any(has_window(item.message) for item in items if item.message)
    if windows:
        frame = plans.ready(frame, LastClause.WHERE)
    columns = _columns(plans, frame, items)
    if not _fits(frame.rows, columns) or (not frame.rows.is_plain() and any(map(is_long, columns))):
        frame = plans.closed(frame)
        columns = _columns(plans, frame, items)
    stage = max(frame.rows.stage, LastClause.ITEMS) if windows else frame.rows.stage
    return frame.over(replace(frame.rows, columns=tuple(columns), stage=stage))


def grouped(
    plans: ConnectPlans, frame: ConnectFrame, items: Sequence[PlanItem], group: exp.Group | None
) -> ConnectFrame:
    """Return the columns that a select list makes of groups; None: all rows are one group."""
    return frame.over(clauses.grouped(frame.rows, group, _columns(plans, frame, items)))


def _columns(plans: ConnectPlans, frame: ConnectFrame, items: Sequence[PlanItem]) -> list[Column]:
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
    plans: ConnectPlans, items: Sequence[PlanItem], frame: ConnectFrame
) -> tuple[Sequence[PlanItem], ConnectFrame]:
    """Make a lateral view of a generator among the items."""
    for index, item in enumerate(items):
        function = generator(item.message)
        if function is None:
            continue
        frame = plans.ready(frame, LastClause.WHERE)
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
        kept = [PlanItem((column.name,), None, column) for column in added]
        return [*items[:index], *kept, *items[index + 1 :]], frame
    return items, frame


def _fits(rows: FromRows, columns: Sequence[Column]) -> bool:
    """Return True if a select list goes into the SELECT that its rows are."""
    if (
        rows.query is not None
        or rows.stage >= LastClause.OFFSET
        or rows.select.args.get("distinct")
    ):
        return list(columns) == list(rows.columns)
    if rows.stage is LastClause.ORDER:
        return all(column.kept for column in columns)
    known = [column.scalar for column in rows.columns]
    return rows.stage < LastClause.ITEMS or all(column.scalar in known for column in columns)
