"""Texts over views that are written once, whichever names the views have."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from rewriter.statements.model import Statement

P = ParamSpec("P")
T = TypeVar("T")

VIEW: Final = re.compile(r"_lipstick_replay_\w{12}")
"""Names of views of a replay. A view has the same rows for ever."""
_MOST: Final = 2_000
"""Texts of a function that are kept."""
_LONG: Final = 20_000
"""Letters of arguments from which on nothing is kept."""


def for_all_views(write: Callable[P, T]) -> Callable[P, T]:
    """Let a function write SQL once for arguments that differ in the names of views alone.

    Each replay of a statement makes new views, over which it writes the same queries. The function
    gives a text, None, or tuples or a dataclass of these. A statement is known by its identity.
    """
    known: dict[tuple[object, ...], tuple[object, T]] = {}

    @wraps(write)
    def written(*args: P.args, **kwargs: P.kwargs) -> T:
        names: dict[str, str] = {}

        def numbered(name: re.Match[str]) -> str:
            return names.setdefault(name[0], f"_lipstick_replay_{len(names):012}")

        own = [arg for arg in args if isinstance(arg, Statement)]
        others = [arg for arg in args if not isinstance(arg, Statement)]
        text = VIEW.sub(numbered, repr((others, sorted(kwargs.items()))))
        if len(text) > _LONG:
            return write(*args, **kwargs)
        key = (text, *map(id, own))
        if key not in known:
            found = _renamed(write(*args, **kwargs), lambda name: names[name[0]])
            if len(known) >= _MOST:
                known.clear()
            known[key] = own, found  # with the statements, so that no other has their identity
        given = {number: name for name, number in names.items()}
        result: T = _renamed(known[key][1], lambda number: given[number[0]])
        return result

    return written


def _renamed(value: Any, name: Callable[[re.Match[str]], str]) -> Any:
    """Return a text, or texts in tuples and dataclasses, with other names of views."""
    if isinstance(value, str):
        return VIEW.sub(name, value)
    if isinstance(value, tuple):
        return tuple(_renamed(each, name) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(*(_renamed(getattr(value, f.name), name) for f in fields(value)))
    return value
