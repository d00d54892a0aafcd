"""The relation from a segment to be exported to the crossing rows behind it.

The crossing rows are imported rows and rows exported before. The relation is the increment that an
export adds to the boundary graph of its store. The walk stops at rows exported before: their own
increments lead on from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from graphquery.build import build
from graphquery.federation.crossings.sketches import spread
from graphquery.graph import ProvenanceGraph
from graphquery.operations.reach import reached
from graphquery.store.crossing import Import, ImportPart, exports, imports
from graphquery.store.snapshot import Snapshot
from semiring.arrays.segments import ascending, index_of, mask_of
from semiring.base import Array

_MIXED = np.uint64(0x9E3779B97F4A7C15)


def contract(count: int, kept: Array, sources: Array, targets: Array) -> tuple[Array, Array]:
    """Eliminate the unneeded nodes whose elimination adds no edges, cheapest first.

    Parameters
    ----------
    count
        The nodes are 0 to count - 1.
    kept
        Boolean array over all nodes.
    sources, targets
        Edges; several between two nodes count once.

    Returns
    -------
    sources, targets
        Edges among the nodes that were not eliminated, sorted by target and source, each once.
        Reachability among kept nodes is unchanged.

    Notes
    -----
    A round eliminates pairwise non-adjacent nodes, so that rounds are few even in long
    chains: of two neighbours the one goes that is cheaper, or comes first in a fixed random order.
    O(edges · log edges) time a round.
    """
    sources, targets = _distinct(count, sources, targets)
    while True:
        into = np.bincount(targets, minlength=count)
        out = np.bincount(sources, minlength=count)
        cost = into * out
        candidates = ~kept & (into + out > 0) & (cost <= into + out)
        if not bool(candidates.any()):
            return sources, targets
        chosen = _independent(candidates, cost, sources, targets)
        sources, targets = _eliminate(count, chosen, out, sources, targets)


def _independent(candidates: Array, cost: Array, sources: Array, targets: Array) -> Array:
    """Return a mask of an independent set of the candidates, preferring low costs."""
    ids = np.arange(len(cost), dtype=np.uint64)
    order = index_of(np.lexsort((ids * _MIXED, cost)), len(cost))
    both = candidates[sources] & candidates[targets]
    first, other = sources[both], targets[both]
    chosen: Array = candidates.copy()
    chosen[np.where(order[first] > order[other], first, other)] = False
    return chosen


def _eliminate(
    count: int, chosen: Array, out: Array, sources: Array, targets: Array
) -> tuple[Array, Array]:
    """Replace the edges at chosen nodes by edges from their predecessors to their successors."""
    entering, leaving = chosen[targets], chosen[sources]
    left = np.flatnonzero(leaving)
    left = left[np.argsort(sources[left], kind="stable")]
    starts = np.cumsum(out * chosen) - out * chosen
    through = targets[entering]
    lengths = out[through]
    ends = targets[left][spread(starts[through], lengths)]
    stays = ~entering & ~leaving
    return _distinct(
        count,
        np.concatenate([sources[stays], np.repeat(sources[entering], lengths)]),
        np.concatenate([targets[stays], ends]),
    )


def _distinct(count: int, sources: Array, targets: Array) -> tuple[Array, Array]:
    keys = ascending(targets.astype(np.int64) * count + sources)
    return keys % max(1, count), keys // max(1, count)


@dataclass(frozen=True, slots=True, eq=False)
class BoundaryRelation:
    """Edges from crossing rows, and from hubs, to the rows of one channel and to its hubs.

    Parameters
    ----------
    channels
        Identities; the last one is the channel's own.
    count
        Rows of the channel; rows from there on are hubs, which have no meaning outside.
    source_channels
        uint16: the channel of each source, by its place among `channels`; of hubs, the last.
    sources, targets
        int64 rows; edges are ordered by target, channel and source.
    """

    channels: tuple[str, ...]
    count: int
    source_channels: Array
    sources: Array
    targets: Array


def relation_of(snapshot: Snapshot, segment: str, channel: str) -> BoundaryRelation:
    """Return the relation from a segment's nodes, as rows of a channel, to the crossing rows
    behind.

    Parameters
    ----------
    channel
        The channel that the segment is to be exported as; if the snapshot has it already, it and
        later exports do not count as exported before.

    Notes
    -----
    O(edges between earlier exports and the segment), in some rounds of sorting.
    """
    exported, taken = exports(snapshot.records), imports(snapshot.records)
    before: dict[str, str] = {}
    for name, export in exported.items():
        if name == channel:
            break
        before.setdefault(export.segment, name)
    count = snapshot.segment(segment).count
    if segment in before:
        rows = np.arange(count, dtype=np.int64)
        nothing = np.zeros(count, dtype=np.uint16)
        return BoundaryRelation((before[segment], channel), count, nothing, rows, rows)
    return _walked(snapshot, segment, channel, before, taken)


def _walked(
    snapshot: Snapshot,
    segment: str,
    channel: str,
    before: Mapping[str, str],
    taken: Mapping[str, Import],
) -> BoundaryRelation:
    parts = {part.segment: (name, part) for name, each in taken.items() for part in each.parts}
    kept = _behind(snapshot, segment, {*before, *parts})
    segments = [each for name, each in snapshot.segments.items() if name in kept]
    ends = (before.keys() | parts.keys()) - ({segment} - parts.keys())
    edge_sets = [e for e in snapshot.edges if e.target in kept and e.target not in ends]
    graph = ProvenanceGraph(build(segments, edge_sets, snapshot.column))
    storage = graph.storage
    names: list[str] = []
    rows = np.full(storage.count, -1, dtype=np.int64)
    owner = np.zeros(storage.count, dtype=np.uint16)
    for each in segments:
        if each.name in before or each.name in parts:
            name, numbers = _rows(snapshot, each.name, each.count, before, parts)
            ids = storage.ids_of(storage.position[each.name])
            if name not in names:
                names.append(name)
            rows[ids], owner[ids] = numbers, names.index(name)
    exported_ids = storage.ids_of(storage.position[segment])
    sources, targets, hubs = _contracted(graph, np.flatnonzero(rows >= 0), exported_ids)
    is_row = sources < storage.count
    clipped = np.minimum(sources, storage.count - 1)
    is_row &= rows[clipped] >= 0
    channels = np.where(is_row, owner[clipped], len(names)).astype(np.uint16)
    numbers = np.where(is_row, rows[clipped], hubs[clipped])
    order = np.lexsort((numbers, channels, targets))
    return BoundaryRelation(
        (*names, channel), len(exported_ids), channels[order], numbers[order], targets[order]
    )


def _contracted(
    graph: ProvenanceGraph, starts: Array, exported_ids: Array
) -> tuple[Array, Array, Array]:
    """Return the edges among crossing rows, hubs and exported rows, other nodes eliminated.

    Returns
    -------
    sources
        The ids of the source nodes.
    targets
        Row numbers: exported rows from 0, then hubs.
    hubs
        By node id, the number of its hub.
    """
    count = graph.storage.count
    back = mask_of(reached(graph, exported_ids, forwards=False), count)
    back[exported_ids] = True
    seen = mask_of(reached(graph, starts[back[starts]], forwards=True), count)
    seen[starts] = True
    between = np.flatnonzero(back & seen)
    adjacent = graph.outgoing(between)
    sources = np.repeat(between, adjacent.degrees)
    inside = (back & seen)[adjacent.nodes]
    ends = np.flatnonzero(seen[exported_ids])
    kept = mask_of(starts, count + len(exported_ids))
    kept[count:] = True
    sources, targets = contract(
        count + len(exported_ids),
        kept,
        np.concatenate([sources[inside], exported_ids[ends]]).astype(np.int64),
        np.concatenate([adjacent.nodes[inside], count + ends]).astype(np.int64),
    )
    left = ascending(targets[targets < count])
    left = left[~kept[left]]
    hubs = np.full(count, -1, dtype=np.int64)
    hubs[left] = len(exported_ids) + np.arange(len(left))
    # A row that is itself exported stays a source: nothing leads into imported rows.
    rows = np.where(targets >= count, targets - count, hubs[np.minimum(targets, count - 1)])
    return sources, rows, hubs


def _behind(snapshot: Snapshot, segment: str, ends: set[str]) -> set[str]:
    """Return a segment and all segments upstream of it, without going past the segments `ends`."""
    preceding: dict[str, set[str]] = {}
    for edges in snapshot.edges:
        preceding.setdefault(edges.target, set()).add(edges.source)
    kept, waiting = {segment}, [segment]
    while waiting:
        name = waiting.pop()
        if name in ends:
            continue
        for source in preceding.get(name, set()) - kept:
            kept.add(source)
            waiting.append(source)
    return kept


def _rows(
    snapshot: Snapshot,
    segment: str,
    count: int,
    before: Mapping[str, str],
    parts: Mapping[str, tuple[str, ImportPart]],
) -> tuple[str, Array]:
    """Return the channel behind a segment's nodes, and their row numbers in it."""
    if segment in before:
        return before[segment], np.arange(count, dtype=np.int64)
    name, part = parts[segment]
    return name, imported_rows(snapshot, segment, part.rows)


def imported_rows(snapshot: Snapshot, segment: str, column: str | None) -> Array:
    """Return the channel's row number of each node of an imported segment: int64, by ordinal."""
    imported_segment = snapshot.segment(segment)
    if column is None:
        return np.arange(imported_segment.count, dtype=np.int64)
    values = snapshot.values(imported_segment, [column]).column(column)
    rows: Array = values.to_numpy().astype(np.int64)
    return rows
