"""Parts of a distributed graph brought into memory, where they are small enough."""

from __future__ import annotations

from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.reach import reached, within_distance
from graphquery.distributed.view import SparkView
from graphquery.errors import GraphError
from graphquery.graph import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Segment
from graphquery.operations.paths import paths
from graphquery.storage import Columns
from graphquery.view import NO_IDS, GraphView, Overlay
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.operations.paths import Path

_MEMORY = "memory"


def brought(view: SparkView, nodes: NodeSet, columns: Columns, limit: int) -> ProvenanceGraph:
    """Some nodes of a graph and the edges between them as a graph in memory.

    Parameters
    ----------
    nodes
        Different nodes of the graph.
    columns
        Reads values.
    limit
        How many nodes, and edges, at most.

    Returns
    -------
    ProvenanceGraph
        Its ids are other ones, in the same order; names are the same. It cannot be zoomed in.

    Raises
    ------
    GraphError
        More nodes or edges than the limit.
    """
    levels = view.levels
    ids = _checked(view, nodes, limit)
    edges = _edges(view, nodes, limit)
    numbers = set(np.unique(levels.segment_of(ids)).tolist())
    stored_of = {zoomed: number for number, zoomed in levels.zoomed_of.items()}
    kept = sorted({stored_of.get(number, number) for number in numbers})
    segments = [levels.stored[number] for number in kept]
    counts = [segment.count for segment in segments]
    counts += [s.count for s in segments if s.kind is Kind.INVOCATION]
    at = [*kept, *(levels.zoomed_of[n] for n in kept if n in levels.zoomed_of)]
    bases = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    moved = np.zeros(len(levels.segments), dtype=np.int64)
    moved[at] = bases[:-1] - levels.bases[at]

    def here(ids: Array) -> Array:
        return ids + moved[levels.segment_of(ids)]

    stored = levels.node_count
    plain = (edges[:, 0] < stored) & (edges[:, 1] < stored)
    sets, ordinals = _edge_sets(view, edges[plain])

    def read(file: str, column: str) -> object:
        if file.startswith(_MEMORY):
            return ordinals[file][column]
        return columns(file, column)

    graph = ProvenanceGraph.build(segments, sets, read)
    visible = np.zeros(graph.storage.size, dtype=np.bool_)
    visible[here(ids)] = True
    overlay = Overlay(here(edges[~plain][:, :2])) if len(view.zoomed) else None
    zoomed = MappingProxyType(dict.fromkeys(sorted(view.zoomed), NO_IDS))
    return ProvenanceGraph(graph.storage, GraphView(visible, zoomed, overlay))


def paths_between(
    view: SparkView,
    starts: NodeSet,
    ends: NodeSet,
    columns: Columns,
    limit: int,
    longest: int | None,
    bring: int,
) -> list[Path]:
    """Paths from some nodes to others, among the nodes that are on any."""
    tables = view.tables
    if limit < 0 or (longest is not None and longest < 0):
        raise GraphError("Limits of paths are not negative.\nGive 0 or more.")
    if longest is None:
        below = reached(view, starts, forwards=True)
        above = reached(view, ends, forwards=False)
    else:
        below = within_distance(view, starts, longest, forwards=True)
        above = within_distance(view, ends, longest, forwards=False)
    below = tables.distinct(starts, below)
    above = tables.distinct(ends, above)
    levels = {view.levels.level[n] for n in above.whole} | set(above.parts)
    between = tables.stored(tables.within(tables.rows(below), above, levels))
    graph = brought(view, between, columns, bring)
    there = tables.ids(tables.rows(between))
    back = dict(zip(graph.ids.tolist(), there.tolist(), strict=True))

    def local(nodes: NodeSet) -> Array:
        ids = tables.ids(tables.rows(nodes))
        chosen: Array = graph.ids[np.isin(there, ids)]
        return chosen

    named = paths(graph, local(starts), local(ends), limit, longest)
    return [tuple(back[node] for node in path) for path in named]


def _checked(view: SparkView, nodes: NodeSet, limit: int) -> Array:
    size = view.tables.count(nodes)
    if size > limit:
        raise GraphError(
            f"{size:,} nodes are more than the {limit:,} that are brought into memory.\nAsk for a"
            " smaller part, or give a greater limit."
        )
    return view.tables.ids(view.tables.rows(nodes))


def _edges(view: SparkView, nodes: NodeSet, limit: int) -> Array:
    """Return the edges between nodes: columns of sources, targets and ports."""
    levels = {view.levels.level[n] for n in nodes.whole} | set(nodes.parts)
    level = view.levels.level
    links = [link for link in view.links if level[link[0]] in levels and level[link[1]] in levels]
    edges = view.read(links)
    if edges is None:
        return np.empty((0, 3), dtype=np.int64)
    edges = view.tables.at(edges, "source", nodes, levels)
    edges = view.tables.at(edges, "target", nodes, levels)
    table = view.tables.to_arrow(edges, limit)
    if table.num_rows > limit:
        raise GraphError(
            f"There are more than {limit:,} edges between the nodes, which are not brought into"
            " memory.\nAsk for a smaller part, or give a greater limit."
        )
    return np.column_stack([column.to_numpy().astype(np.int64) for column in table.columns])


def _edge_sets(view: SparkView, edges: Array) -> tuple[list[EdgeSet], dict[str, dict[str, Array]]]:
    """Edges between stored nodes as edge sets, and their ordinals by file."""
    levels = view.levels
    source, target = levels.segment_of(edges[:, 0]), levels.segment_of(edges[:, 1])
    keys = np.column_stack([source, target, edges[:, 2]])
    order = np.lexsort(keys.T[::-1])
    distinct_keys, starts = np.unique(keys[order], axis=0, return_index=True)
    sets: list[EdgeSet] = []
    ordinals: dict[str, dict[str, Array]] = defaultdict(dict)
    for number, (key, rows) in enumerate(
        zip(distinct_keys.tolist(), np.split(order, starts[1:]), strict=True)
        if len(distinct_keys)
        else ()
    ):
        file = f"{_MEMORY}:{number}"
        ends: list[Segment] = [levels.stored[key[0]], levels.stored[key[1]]]
        for column, name in enumerate(("source", "target")):
            ordinals[file][name] = edges[rows, column] - levels.bases[key[column]]
        sets.append(EdgeSet(ends[0].name, ends[1].name, len(rows), file=file, port=key[2]))
    return sets, ordinals
