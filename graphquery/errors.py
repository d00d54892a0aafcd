"""Errors of the provenance graph; all derive from :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

from semiring.errors import LipstickError, closest

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
