"""Streams of provenance edges, reduced while they come to who came from whom.

Parallel reducers eliminate activities and intermediate entities and keep the paths between inputs
and outputs. See Suriarachchi, Withana and Plale, *Big Provenance Stream Processing for Data
Intensive Computations*; ours is exact, and `benchmark_workflowgen` has the algorithm as printed.
"""

from __future__ import annotations

from graphquery.reduction.closure import Evidence
from graphquery.reduction.edges import Edges
from graphquery.reduction.errors import CycleError, LabelError, ReductionError
from graphquery.reduction.function_inputs import Function
from graphquery.reduction.partial import EdgeType, Partial, merge
from graphquery.reduction.reduce import Final, Reduced, reduce
from graphquery.reduction.reducer import Reducer, Report, final_table
from graphquery.reduction.vertices import UNKNOWN, Role, Vertices

__all__ = [
    "UNKNOWN",
    "CycleError",
    "EdgeType",
    "Edges",
    "Evidence",
    "Final",
    "Function",
    "LabelError",
    "Partial",
    "Reduced",
    "Reducer",
    "ReductionError",
    "Report",
    "Role",
    "Vertices",
    "final_table",
    "merge",
    "reduce",
]
