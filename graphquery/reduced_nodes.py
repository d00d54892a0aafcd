"""Reduced nodes: nodes whose operations, up to their ancestors, a reduction has dropped."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphquery.arrays import ArrayGraph
from graphquery.errors import GraphError
from graphquery.model import Segment
from semiring.base import Array

REDUCED = "reduced"
"""The label of reduced nodes."""


def is_reduced(segments: Iterable[Segment]) -> bool:
    """Return True if one of the segments has reduced nodes."""
    return any(segment.label == REDUCED for segment in segments)


def check_whole(graph: ArrayGraph, ids: Array) -> None:
    """Raise if a reduction has dropped the operations of one of some nodes.

    Raises
    ------
    GraphError
        It has.
    """
    storage = graph.storage
    labels = np.array([segment.label == REDUCED for segment in storage.segments], dtype=np.bool_)
    stored = ids[ids < storage.count]
    reduced_nodes = stored[labels[storage.segment_of(stored)]]
    made_nodes = reduced_nodes[graph.incoming(reduced_nodes).degrees > 0]
    if len(made_nodes):
        raise dropped(graph.name(int(made_nodes[0])))


def dropped(name: str) -> GraphError:
    """Return the error for a node whose operations were dropped."""
    return GraphError(
        f"{name} is in a reduced graph, which records ancestry without operations: deletions and"
        " annotations cannot be computed.\nAsk for ancestors, descendants or paths to see what may"
        " be affected."
    )
