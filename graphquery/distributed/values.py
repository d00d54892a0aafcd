"""Effects of deletions on values, on Spark; requested values are computed on the driver."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from graphquery.distributed.levels import Levels
from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.reach import reached, step, within_distance
from graphquery.distributed.view import Rounds, SparkView
from graphquery.errors import GraphError, ValuesError
from graphquery.graph import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Segment
from graphquery.operations.paths import paths
from graphquery.storage import Columns
from graphquery.values import is_opaque
from graphquery.values import values as local_values
from graphquery.view import NO_IDS, DeletionEffects, GraphView, Operation, Overlay
from semiring.arrays.segments import ascending, mask_of
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph
    from graphquery.protocol import OfStale, Path


_MEMORY = "memory"


def brought(view: SparkView, nodes: NodeSet, columns: Columns, limit: int) -> ProvenanceGraph:
    """Collect some nodes of a graph and the edges between them as a graph in memory.

    Parameters
    ----------
    nodes
        Different nodes of the graph.
    columns
        Reads values.
    limit
        The limit on nodes, and on edges.

    Returns
    -------
    ProvenanceGraph
        Its names and their order are the graph's, its ids are not. It cannot be zoomed in.

    Raises
    ------
    GraphError
        More nodes or edges than the limit.
    """
    levels = view.levels
    ids = _checked(view, nodes, limit)
    edges = _edges(view, nodes, limit)
    numbers = set(ascending(levels.segment_of(ids)).tolist())
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
    visible = mask_of(here(ids), graph.storage.size)
    overlay = Overlay(here(edges[~plain][:, :2])) if len(view.zoomed) else None
    zoomed = MappingProxyType(dict.fromkeys(sorted(view.zoomed), NO_IDS))
    return ProvenanceGraph(graph.storage, GraphView(visible, zoomed, overlay))


def paths_between(
    whole: SparkGraph, starts: NodeSet, ends: NodeSet, limit: int, longest: int | None
) -> list[Path]:
    """Return paths from some nodes to others, searched on the driver between them only."""
    view, tables = whole.view, whole.tables
    if limit < 0 or (longest is not None and longest < 0):
        raise GraphError("Limits of paths cannot be negative.\nGive 0 or more.")
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
    graph = brought(view, between, whole.columns, whole.bring)
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
    """Return the edges between stored nodes as edge sets, and their ordinals by file."""
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


def effects(graph: SparkGraph) -> DeletionEffects[NodeSet] | None:
    """Return the cached effects of the deletions that led to a graph; None without deletions."""
    if graph.parent is None:
        return None
    if graph.effects is None:
        graph.effects = _effects(graph, graph.parent, effects(graph.parent))
    return graph.effects


def values(graph: SparkGraph, ids: Array, stale: OfStale) -> pa.Array:
    """Return the values of v-nodes, in the order given; see :func:`graphquery.values.values`.

    The tensors of aggregates that changed are brought to the driver, and must be within `bring`.
    """
    levels, tables = graph.view.levels, graph.tables
    segments = levels.segment_of(ids)
    for number in ascending(segments).tolist():
        if levels.segments[number].kind is not Kind.VALUE:
            raise ValuesError(
                f"{graph.name(int(ids[segments == number][0]))} has no value: it is not a v-node."
                "\nAsk for constants, aggregates or functions' results."
            )
    marks = effects(graph)
    wanted = tables.given(ascending(ids))
    needed = wanted if marks is None else _needed(graph, wanted, marks.changed)
    graph_here = brought(graph.view, needed, graph.columns, graph.bring)
    there = tables.ids(tables.rows(needed))
    own_ids = graph_here.ids[np.searchsorted(there, ids)]
    if marks is not None:
        masks = []
        for nodes in (marks.changed, marks.stale):
            mask = np.zeros(graph_here.storage.size, dtype=np.bool_)
            marked = tables.within(tables.rows(needed), nodes, needed.parts)
            mask[graph_here.ids[np.isin(there, tables.ids(marked))]] = True
            masks.append(mask)
        graph_here.parent = graph_here
        graph_here.effects = DeletionEffects(*masks)
    return local_values(graph_here, own_ids, stale)


def _effects(
    graph: SparkGraph, parent: SparkGraph, before: DeletionEffects[NodeSet] | None
) -> DeletionEffects[NodeSet] | None:
    operation = graph.steps[-1].operation
    tables = graph.tables
    if operation is Operation.DELETE:
        fresh = _deleted(graph, parent)
        if before is None:
            return fresh
        changed = tables.distinct(before.changed, fresh.changed)
        return DeletionEffects(changed, tables.distinct(before.stale, fresh.stale))
    if before is None or operation is not Operation.ZOOM_OUT:
        return before
    links = {link for edges in graph.view.edges[1:] for link in edges.links}
    outputs = {link for link in links if link[0] >= len(graph.view.levels.stored)}
    edges = graph.view.between(outputs)
    if edges is None:
        return before
    ends = {graph.view.levels.level[target] for _, target in outputs}
    used = tables.at(edges, "target", before.stale, ends)
    zoomed = tables.stored(tables.ends(used, "source"))
    return replace(before, stale=tables.distinct(before.stale, zoomed))


def _deleted(graph: SparkGraph, parent: SparkGraph) -> DeletionEffects[NodeSet]:
    """Return the effects of the last deletion."""
    view, tables, levels = graph.view, graph.tables, graph.view.levels
    assert graph.gone is not None  # the graph was made by a deletion
    gone = graph.gone
    links = {
        link
        for link in parent.view.links
        if link[0] in gone.whole or levels.level[link[0]] in gone.parts
    }
    edges = parent.view.read(links)
    if edges is None:
        return DeletionEffects(NodeSet(), NodeSet())
    lost = tables.at(edges, "source", gone, {levels.level[source] for source, _ in links})
    lost = view.shown_edges(lost, "target", {levels.level[target] for _, target in links})
    touched = tables.of_segments(
        tables.stored(tables.ends(tables.operands(lost), "target")), _not_sums(levels)
    )
    changed = tables.distinct(touched, reached(view, touched, forwards=True))
    opaque = frozenset(n for n, segment in enumerate(levels.segments) if is_opaque(segment))
    seeds = tables.distinct(
        tables.of_segments(changed, opaque),
        tables.stored(tables.ends(tables.subtrahends(lost), "target")),
    )
    return DeletionEffects(changed, tables.distinct(seeds, reached(view, seeds, forwards=True)))


def _not_sums(levels: Levels) -> frozenset[int]:
    return frozenset(n for n, segment in enumerate(levels.segments) if segment.label != "+")


def _needed(graph: SparkGraph, wanted: NodeSet, changed: NodeSet) -> NodeSet:
    """Return nodes and the nodes that their values are computed from."""
    tables, levels = graph.tables, graph.view.levels
    valued = frozenset(n for n, s in enumerate(levels.stored) if s.kind is Kind.VALUE)
    tensors = frozenset(number for number in valued if levels.stored[number].label == "⊗")
    rounds = Rounds(graph.view.limit)
    needed, frontier = wanted, wanted
    while True:
        anew = tables.stored(tables.within(tables.rows(frontier), changed, frontier.parts))
        open_ = tables.distinct(tables.of_segments(frontier, tensors), anew)
        if not open_.rows and not open_.whole:
            return needed
        rounds.spend()
        before = tables.of_segments(step(graph.view, open_, forwards=False), valued)
        frontier = tables.stored(tables.without(tables.rows(before), needed, before.parts))
        needed = needed | frontier
