"""Provenance graphs of workflows: built from what executions stored, zoomed, queried, drawn."""

from __future__ import annotations

from graphquery.arrays import Selection
from graphquery.build import Around
from graphquery.errors import GraphError, UnknownNameError, ValuesError
from graphquery.graph import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Ordinals, Port, Segment
from graphquery.operations.delete import delete
from graphquery.operations.depends import dependents, depends
from graphquery.operations.difference import difference
from graphquery.operations.evaluate import GraphEvaluation, evaluate
from graphquery.operations.inputs import inputs
from graphquery.operations.paths import paths
from graphquery.operations.reach import ancestors, descendants
from graphquery.operations.subgraph import subgraph
from graphquery.operations.zoom import zoom_in, zoom_out
from graphquery.protocol import Annotations, ExecutionDifference, GraphEngine, NodeSelection
from graphquery.select import select
from graphquery.values import stale, value, values

__all__ = [
    "Annotations",
    "Around",
    "EdgeSet",
    "ExecutionDifference",
    "GraphEngine",
    "GraphError",
    "GraphEvaluation",
    "Kind",
    "NodeSelection",
    "Ordinals",
    "Port",
    "ProvenanceGraph",
    "Segment",
    "Selection",
    "UnknownNameError",
    "ValuesError",
    "ancestors",
    "delete",
    "dependents",
    "depends",
    "descendants",
    "difference",
    "evaluate",
    "inputs",
    "paths",
    "select",
    "stale",
    "subgraph",
    "value",
    "values",
    "zoom_in",
    "zoom_out",
]
