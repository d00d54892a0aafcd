"""Select lists of a Connect plan: which columns they have, and under which names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sqlglot import exp

from rewriter.dialect import AGGREGATES, GENERATORS
from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message, kind_of, name_of
from rewriter.frames.writing.selects import Column

Made: TypeAlias = Callable[[exp.Expr], exp.Expr]
"""Makes another scalar of one."""
NamesOf: TypeAlias = Callable[[Sequence[Message]], Sequence[str]]
"""Asks Spark for the names of the columns of a select list."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a select list: a column as it is, or an expression; a generator may have names.

    ``made`` is what becomes of the column, if it is not taken as it is.
    """

    names: tuple[str, ...]
    message: Message | None
    kept: Column | None = None
    made: Made | None = None


def select_list(frame: ConnectFrame, messages: Sequence[Message], names_of: NamesOf) -> list[Item]:
    """Return the items of a select list; Spark is asked for names that are not written."""
    items: list[Item] = []
    for message in map(_star_in_text, messages):
        kind = kind_of(message)
        if kind == "unresolved_star":
            items += _starred(frame, message, names_of)
            continue
        names = message[kind]["name"] if kind == "alias" else [name_of(message) or ""]
        items.append(Item(tuple(names), message, kept_column(frame, message)))
    if any("" in item.names for item in items):
        return _called(items, names_of(messages))
    return items


def kept_column(frame: ConnectFrame, message: Message) -> Column | None:
    """Return the column that an item is, if it is one as it is."""
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
    """Tell whether an expression calls an aggregate, outside any window."""
    kind = kind_of(message)
    if kind in ("unresolved_function", "call_function"):
        if message[kind]["function_name"].lower() in AGGREGATES:
            return True
        return any(map(aggregates, message[kind].get("arguments", [])))
    return kind in ("alias", "cast") and aggregates(message[kind]["expr"])


def has_window(value: Any) -> bool:
    """Tell whether an expression has a function over a window."""
    if isinstance(value, Mapping):
        return "window" in value or any(map(has_window, value.values()))
    return isinstance(value, list) and any(map(has_window, value))


def _called(items: Sequence[Item], names: Sequence[str]) -> list[Item]:
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


def _starred(frame: ConnectFrame, message: Message, names_of: NamesOf) -> list[Item]:
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
            return [Item((name,), _field(struct, name)) for name in names_of([message])]
    return [Item((column.name,), None, column) for column in columns]


def _field(struct: Message, name: str) -> Message:
    """Return the expression of a field of a struct."""
    return {
        "unresolved_extract_value": {"child": struct, "extraction": {"literal": {"string": name}}}
    }
