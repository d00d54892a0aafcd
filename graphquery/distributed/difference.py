"""The difference of two executions of a workflow, on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphquery.distributed.selection import SparkSelection
from graphquery.errors import GraphError
from graphquery.operations.difference import ExecutionDifference, check_executions, unmatched
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph


def difference(graph: SparkGraph, left: int, right: int) -> ExecutionDifference[SparkSelection]:
    """Return the nodes of two executions that have no counterpart in the other.

    Segments that are shown whole are compared without asking Spark.

    Raises
    ------
    UnknownNameError
        An execution that the graph does not have.
    GraphError
        More nodes than are brought to the driver.
    """
    storage, tables = graph.storage, graph.tables
    check_executions(storage, left, right)
    nodes = graph.view.of(
        number
        for number, segment in enumerate(storage.segments)
        if segment.execution in (left, right)
    )
    if nodes.rows > graph.bring:
        raise GraphError(
            f"{nodes.rows:,} nodes are more than the {graph.bring:,} that are brought to the"
            " driver.\nGive the graph a greater `bring`, or compare executions that are whole."
        )
    frame = nodes.frame()
    ids = np.empty(0, dtype=np.int64) if frame is None else tables.ids(frame)

    def shown(position: int) -> Array:
        if position in nodes.whole:
            return storage.ids_of(position)
        start, end = storage.bases[position : position + 2].tolist()
        first, last = np.searchsorted(ids, [start, end])
        return ids[first:last]

    only_left, only_right, summary = unmatched(storage, left, right, shown)
    left_nodes, right_nodes = (graph.view.given(ids) for ids in (only_left, only_right))
    return ExecutionDifference(
        SparkSelection(graph, left_nodes), SparkSelection(graph, right_nodes), summary
    )
