"""The nodes, edges and values of a graph as tables, from which every format is written."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.graph import ProvenanceGraph
from graphquery.model import Kind, Segment
from graphquery.values import current
from semiring.base import Array


def located(graph: ProvenanceGraph) -> tuple[list[Segment], Array, Array]:
    """Return the segment and the ordinal of each node of a graph.

    Returns
    -------
    segments
        The stored segments, and one for each zoomed node.
    positions, ordinals
        int64, for each node, ascending by id: the position of its segment, and its ordinal there.
    """
    storage = graph.storage
    stored = graph.ids[graph.ids < storage.count]
    zoomed = graph.ids[graph.ids >= storage.count]
    segments = [*storage.segments, *(graph.segment(int(node)) for node in zoomed)]
    positions = storage.segment_of(stored)
    ordinals = stored - storage.bases[positions]
    extra = len(storage.segments) + np.arange(len(zoomed))
    return (
        segments,
        np.concatenate([positions, extra]),
        np.concatenate([ordinals, np.zeros(len(zoomed), dtype=np.int64)]),
    )


def node_table(graph: ProvenanceGraph) -> pa.Table:
    """Return a table with a row per node, ascending by id.

    Returns
    -------
    pyarrow.Table
        `id` int64, `name` string, `segment` string and `ordinal` int64 (its place there), `kind`,
        `label`, `module`, `invocation` int64, `execution` int64, `relation`. Strings other than
        names are dictionaries; what does not apply is NULL.
    """
    segments, positions, ordinals = located(graph)
    indices = pa.array(positions)

    def spread(values: list[Any], kind: pa.DataType) -> pa.Array:
        array = pa.array(values, kind)
        return (array.dictionary_encode() if kind == pa.string() else array).take(indices)

    return pa.table(
        {
            "id": pa.array(graph.ids, pa.int64()),
            "name": pa.array(graph.names(graph.ids), pa.string()),
            "segment": spread([each.name for each in segments], pa.string()),
            "ordinal": pa.array(ordinals, pa.int64()),
            "kind": spread([each.kind.value for each in segments], pa.string()),
            "label": spread([each.label for each in segments], pa.string()),
            "module": spread([each.module for each in segments], pa.string()),
            "invocation": spread([each.invocation for each in segments], pa.int64()),
            "execution": spread([each.execution for each in segments], pa.int64()),
            "relation": spread([each.relation for each in segments], pa.string()),
        }
    )


def edge_table(graph: ProvenanceGraph) -> pa.Table:
    """Return a table of edges: `source` and `target` int64, ids of nodes, and `port` uint8."""
    sources, targets, ports = graph.edges()
    return pa.table(
        {
            "source": pa.array(sources, pa.int64()),
            "target": pa.array(targets, pa.int64()),
            "port": pa.array(np.zeros(len(sources)) if ports is None else ports, pa.uint8()),
        }
    )


def has_value(segment: Segment) -> bool:
    """Return True if the nodes of a segment are v-nodes with values."""
    return segment.kind is Kind.VALUE and segment.file is not None


def node_values(graph: ProvenanceGraph) -> dict[int, Any]:
    """Return the values of all v-nodes that have one, by id; None if a deletion made it unknown."""
    values: dict[int, Any] = {}
    storage = graph.storage
    stored = graph.ids[graph.ids < storage.count]
    for segment, places, _ in storage.by_segment(stored):
        if has_value(segment):
            ids = stored[places]
            values.update(zip(ids.tolist(), current(graph, segment, ids).to_pylist(), strict=True))
    return values


def unique_names(nodes: pa.Table) -> list[str]:
    """Return the names of the nodes of a `node_table`; `segment[ordinal]` for duplicate names."""
    names: list[str] = nodes["name"].to_pylist()
    often = {name for name, count in Counter(names).items() if count > 1}
    if not often:
        return names
    places = zip(nodes["segment"].to_pylist(), nodes["ordinal"].to_pylist(), strict=True)
    return [
        f"{segment}[{ordinal}]" if name in often else name
        for name, (segment, ordinal) in zip(names, places, strict=True)
    ]
