"""Select lists of a Connect plan: which columns they have, and under which names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rewriter.catalyst.selects import Column
from rewriter.connect_plan.frame import Frame
from rewriter.connect_plan.scalars import Message, Scalars, kind_of, name_of
from rewriter.dialect import AGGREGATES, GENERATORS


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a select list: a column as it is, or an expression; a generator may have names."""

    names: tuple[str, ...]
    message: Message | None
    kept: Column | None = None


def select_list(
    frame: Frame, messages: Sequence[Message], names_of: Callable[[], Sequence[str]]
) -> list[Item]:
    """Return the items of a select list; Spark is asked for names that are not written."""
    found: list[Item] = []
    for message in messages:
        kind = kind_of(message)
        if kind == "unresolved_star":
            found += [Item((one.name,), None, one) for one in _starred(frame, message[kind])]
            continue
        names = message[kind]["name"] if kind == "alias" else [name_of(message) or ""]
        found.append(Item(tuple(names), message, kept_column(frame, message)))
    if any("" in item.names for item in found):
        return _called(found, names_of())
    return found


def kept_column(frame: Frame, message: Message) -> Column | None:
    """Return the column that an item is, if it is one as it is."""
    if kind_of(message) != "unresolved_attribute":
        return None
    written = Scalars(frame).write(message)
    return next((one for one in frame.columns if one.scalar == written), None)


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
    found = []
    for item in items:
        own = len(item.names)
        if item.names == ("",) and generator(item.message):
            own += more
        found.append(replace(item, names=tuple(next(rest) for _ in range(own))))
    return found


def _starred(frame: Frame, star: Message) -> Sequence[Column]:
    """Return the columns that a star means."""
    if star.get("plan_id") is not None:
        ids = frame.plans.get(int(star["plan_id"]), frozenset())
        return [one for one in frame.columns if one.id in ids]
    target = star.get("unparsed_target")
    if target is None:
        return frame.columns
    name = target.removesuffix(".*").strip("`").lower()
    return [one for one in frame.columns if frame.qualifiers.get(one.id, "").lower() == name]
