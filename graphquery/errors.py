"""Errors of the provenance graph; all derive from :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from semiring.errors import LipstickError

__all__ = [
    "GraphDataError",
    "GraphError",
    "NotInGraphError",
    "SelectionError",
    "StaleValueError",
    "UnknownNameError",
    "ValuesError",
    "closest",
]


class GraphError(LipstickError):
    """A question that a provenance graph cannot answer."""


class GraphDataError(GraphError):
    """Stored segments, edges or columns that do not make a graph."""


class UnknownNameError(GraphError):
    """A name that no node, module or segment has."""


class NotInGraphError(GraphError):
    """A node that is stored, but was deleted, zoomed out or left out of a subgraph."""


class SelectionError(GraphError):
    """Conditions on nodes that cannot be checked."""


class ValuesError(GraphError):
    """A node without a value, or a value that cannot be read or computed."""


class StaleValueError(ValuesError):
    """A stale value: a deletion may have changed it, and its function would have to run again."""


def closest(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name: the most similar known names, or a few of all names."""
    names = sorted(known)
    likely = get_close_matches(name, names, n=3, cutoff=0.6)
    if likely:
        return f"Did you mean {_either(likely)}?"
    if not names:
        return "There are none."
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"There are {', '.join(names[:5])}{more}."


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
