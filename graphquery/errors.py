"""Errors of graphs, stores and federations; all are :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

from semiring.errors import LipstickError, closest

__all__ = [
    "FederationError",
    "GraphError",
    "MissingColumnError",
    "ReductionCycleError",
    "StoreDamagedError",
    "StoreError",
    "StoreFormatError",
    "UnknownNameError",
    "ValuesError",
    "WireError",
    "closest",
]


class GraphError(LipstickError):
    """A question that a provenance graph cannot answer, or a graph that a format cannot hold."""


class UnknownNameError(GraphError):
    """A name that no node, module or segment has, or a node that was deleted or zoomed out."""


class ValuesError(GraphError):
    """A node without a value, or a value that cannot be read or computed."""


class StoreError(LipstickError):
    """A missing store, or an operation or content that a store does not support."""


class StoreFormatError(StoreError):
    """A store written in a format that this version does not read."""


class StoreDamagedError(StoreError):
    """A store whose files contradict its log, or make no graph; ``fsck`` lists all damage."""


class MissingColumnError(StoreError, KeyError):
    """A column that a file does not have."""

    __str__ = StoreError.__str__


class FederationError(LipstickError):
    """A federation that cannot be opened, whose ends contradict each other, or cannot answer."""


class WireError(FederationError):
    """Bytes that are not a message, end early, or exceed the limits.

    Attributes
    ----------
    reason
        The reason, as an answer's `missing` has it.
    """

    def __init__(self, message: str, reason: str = "damaged") -> None:
        super().__init__(message)
        self.reason = reason


class ReductionCycleError(GraphError):
    """Edges that form a cycle, which a provenance graph cannot have."""
