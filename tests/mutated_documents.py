"""Documents in JSON with one thing changed: what somebody else may have written."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

VALUES: tuple[Any, ...] = (None, True, 5, 0.5, "x", [], {}, 10**19, [[["x"]]], {"x": {"y": 1}})
"""Values of all types, of which a field gets those of other types than its own."""


def deep(levels: int) -> Any:
    """Return a list in lists."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def mutated(document: Any, every: int = 1, start: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield copies of a document with a field deleted, of another type, deep, or there twice.

    Parameters
    ----------
    every, start
        Take one change in so many, beginning with that of this number.

    Yields
    ------
    str
        What was changed.
    Any
        The document.
    """
    for number, (what, path, change) in enumerate(_changes(document, ())):
        if number % every == start % every:
            changed = copy.deepcopy(document)
            parent = changed
            for step in path[:-1]:
                parent = parent[step]
            change(parent, path[-1])
            yield f"{'.'.join(map(str, path))} {what}", changed


def _changes(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...], Any]]:
    if path:
        if isinstance(path[-1], int):
            yield "twice", path, lambda parent, at: parent.insert(at, parent[at])
        else:
            yield "deleted", path, lambda parent, at: parent.__delitem__(at)
            yield "unknown beside", path, lambda parent, at: parent.__setitem__(f"{at}_", 1)
        for other in (*VALUES, deep(300)):
            if type(other) is not type(value) or other == 10**19:
                yield f"= {str(other)[:40]}", path, _setting(other)
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict | list):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
    for step, part in parts:
        yield from _changes(part, (*path, step))


def _setting(value: Any) -> Any:
    def change(parent: Any, at: Any) -> None:
        parent[at] = copy.deepcopy(value)

    return change
