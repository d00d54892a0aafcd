"""Errors of the reduction of provenance streams."""

from __future__ import annotations

from graphquery.errors import GraphError


class ReductionError(GraphError):
    """A stream of provenance edges that cannot be reduced as asked."""


class ReductionCycleError(ReductionError):
    """Edges that form a cycle, which a provenance graph cannot have."""
