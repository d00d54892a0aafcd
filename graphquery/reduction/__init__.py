"""The reduction of provenance edge streams to the paths between inputs and outputs.

Parallel reducers eliminate activities and intermediate entities and keep the paths between inputs
and outputs. See Suriarachchi, Withana and Plale, *Big Provenance Stream Processing for Data
Intensive Computations*; ours is exact, and `benchmark_workflowgen` has the algorithm as printed.
"""

from __future__ import annotations

from graphquery.errors import ReductionCycleError
from graphquery.reduction.closure import Evidence
from graphquery.reduction.edges import Edges
from graphquery.reduction.function_inputs import FunctionCounts
from graphquery.reduction.partial import EdgeType, Partial, merge
from graphquery.reduction.reduce import Final, ReducedParts, reduce
from graphquery.reduction.reducer import Reducer, Report, final_table
from graphquery.reduction.vertices import UNKNOWN, VertexRole, Vertices

__all__ = [
    "UNKNOWN",
    "EdgeType",
    "Edges",
    "Evidence",
    "Final",
    "FunctionCounts",
    "Partial",
    "ReducedParts",
    "Reducer",
    "ReductionCycleError",
    "Report",
    "VertexRole",
    "Vertices",
    "final_table",
    "merge",
    "reduce",
]
