"""Effects of deletions on values, on Spark; requested values are computed on the driver."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from graphquery.distributed.levels import Levels
from graphquery.distributed.local import brought
from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.reach import reached, step
from graphquery.distributed.view import Rounds
from graphquery.errors import ValuesError
from graphquery.model import Kind
from graphquery.values import DeletionEffects, is_opaque
from graphquery.values import values as local_values
from graphquery.view import Operation
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph
    from graphquery.protocol import OfStale


def effects(graph: SparkGraph) -> DeletionEffects[NodeSet] | None:
    """Return the effects of the deletions that led to a graph; None without any. Computed once."""
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
    for number in np.unique(segments).tolist():
        if levels.segments[number].kind is not Kind.VALUE:
            raise ValuesError(
                f"{graph.name(int(ids[segments == number][0]))} has no value: it is no v-node.\nAsk"
                " for constants, aggregates or functions' results."
            )
    marks = effects(graph)
    wanted = tables.given(np.unique(ids))
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
