"""Errors of the reduction of provenance streams."""

from __future__ import annotations

from graphquery.errors import GraphError


class ReductionError(GraphError):
    """A stream of provenance edges that cannot be reduced as asked."""


class ReductionCycleError(ReductionError):
    """Edges that lead from a vertex back to it: no provenance graph has them."""


class LabelError(ReductionError):
    """Labels that are there where none are expected, or the other way round."""
