"""The order in which segments can be computed: every one after those its edges come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graphquery.errors import GraphDataError
from semiring.base import Array

if TYPE_CHECKING:
    from graphquery.graph import ProvenanceGraph

_LARGE = 1 << 15
"""Nodes from which on a segment is worked on alone: its edges are then read as a slice."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Groups of segments in topological order.

    Attributes
    ----------
    groups
        Positions of segments, ascending in each group. Edges inside a group are only in those
        that are `cyclic`.
    cyclic
        For each group, whether its segments feed one another or themselves.
    """

    groups: tuple[tuple[int, ...], ...]
    cyclic: tuple[bool, ...]


def stages(count: int, links: Iterable[tuple[int, int]]) -> Stages:
    """Group segments so that edges lead from earlier groups to later ones.

    Parameters
    ----------
    count
        The segments are 0 to count - 1.
    links
        Pairs that edges join.

    Returns
    -------
    Stages
        As few groups as possible, but for segments that feed one another, a group each. O(segments
        + links).
    """
    following: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    looped = set()
    for source, target in links:
        if source == target:
            looped.add(source)
        else:
            following[source].append(target)
            waiting[target] += 1
    if len(_sorted(following, list(waiting))) == count:
        parts = [[position] for position in range(count)]
    else:
        from networkx import DiGraph, strongly_connected_components

        graph = DiGraph()
        graph.add_nodes_from(range(count))
        graph.add_edges_from(links)
        parts = [sorted(part) for part in strongly_connected_components(graph)]
    return _leveled(parts, following, looped)


def layers(graph: ProvenanceGraph, backwards: bool = False) -> Iterator[Array]:
    """All nodes of a graph, each after (`backwards`: before) the nodes its edges come from.

    Yields
    ------
    Array
        Ascending ids of nodes without edges among them.

    Raises
    ------
    GraphDataError
        If edges form a cycle.
    """
    storage = graph.storage
    order = storage.stages if not graph.zoomed else _zoomed_stages(graph)
    everything = range(len(storage.segments) + len(storage.invocations))
    yield from staged(graph, order, everything, backwards)


def staged(
    graph: ProvenanceGraph, order: Stages, positions: Iterable[int], backwards: bool = False
) -> Iterator[Array]:
    """Yield the nodes of some segments in layers; positions behind the last are zoomed nodes."""
    wanted = set(positions)
    step = -1 if backwards else 1
    groups = list(zip(order.groups, order.cyclic, strict=True))
    for group, cyclic in groups[::step]:
        chosen = [position for position in group if position in wanted]
        if not chosen:
            continue
        if cyclic:
            inner = list(_node_layers(graph, np.concatenate([_ids(graph, p) for p in chosen])))
            yield from inner[::step]
            continue
        small: list[Array] = []
        for position in chosen:
            ids = _ids(graph, position)
            if len(ids) >= _LARGE:
                yield ids
            elif len(ids):
                small.append(ids)
        if small:
            yield np.concatenate(small)


def _ids(graph: ProvenanceGraph, position: int) -> Array:
    storage = graph.storage
    extra = position - len(storage.segments)
    ids = storage.ids_of(position) if extra < 0 else np.array([storage.count + extra])
    return ids if graph.visible is None and extra < 0 else ids[graph.has(ids)]


def _sorted(following: list[list[int]], waiting: list[int]) -> list[int]:
    """As much of a topological order as there is before a cycle."""
    order = [position for position, count in enumerate(waiting) if count == 0]
    for position in order:
        for target in following[position]:
            waiting[target] -= 1
            if waiting[target] == 0:
                order.append(target)
    return order


def _leveled(parts: list[list[int]], following: list[list[int]], looped: set[int]) -> Stages:
    part_of = {position: number for number, part in enumerate(parts) for position in part}
    edges: list[list[int]] = [[] for _ in parts]
    waiting = [0] * len(parts)
    for source, targets in enumerate(following):
        for target in targets:
            if part_of[source] != part_of[target]:
                edges[part_of[source]].append(part_of[target])
                waiting[part_of[target]] += 1
    level = [0] * len(parts)
    for number in _sorted(edges, waiting):
        for target in edges[number]:
            level[target] = max(level[target], level[number] + 1)
    plain: dict[int, list[int]] = {}
    cyclic: dict[int, list[tuple[int, ...]]] = {}
    for number, part in enumerate(parts):
        if len(part) > 1 or part[0] in looped:
            cyclic.setdefault(level[number], []).append(tuple(part))
        else:
            plain.setdefault(level[number], []).append(part[0])
    groups: list[tuple[int, ...]] = []
    flags: list[bool] = []
    for depth in range(max(level, default=-1) + 1):
        if depth in plain:
            groups.append(tuple(sorted(plain[depth])))
            flags.append(False)
        for part_ids in cyclic.get(depth, []):
            groups.append(part_ids)
            flags.append(True)
    return Stages(tuple(groups), tuple(flags))


def _node_layers(graph: ProvenanceGraph, ids: Array) -> Iterator[Array]:
    """Layers among the nodes of segments that feed one another."""
    ids = np.sort(ids)
    neighbours = graph.incoming(ids)
    inside = np.isin(neighbours.nodes, ids)
    owners = np.repeat(np.arange(len(ids)), neighbours.degrees)
    waiting = np.bincount(owners[inside], minlength=len(ids))
    layer = np.flatnonzero(waiting == 0)
    done = len(layer)
    while len(layer):
        yield ids[layer]
        targets = graph.outgoing(ids[layer]).nodes
        places = np.searchsorted(ids, targets)
        places = places[ids[np.minimum(places, len(ids) - 1)] == targets]
        lost = np.bincount(places, minlength=len(ids))
        layer = np.flatnonzero((lost > 0) & (lost == waiting))
        waiting -= lost
        done += len(layer)
    if done < len(ids):
        left = graph.names(ids[np.flatnonzero(waiting > 0)[:3]])
        raise GraphDataError(
            f"Edges form a cycle that {', '.join(left)} are on or behind.\nProvenance has no"
            " cycles: unfold loops into invocations."
        )


def _zoomed_stages(graph: ProvenanceGraph) -> Stages:
    """Return the order of segments with the zoomed nodes in it, each like a segment of its own."""
    storage = graph.storage
    first = len(storage.segments)
    pairs = np.array(storage.links, dtype=np.int64).reshape(-1, 2)
    if graph.overlay is not None:
        overlay = graph.overlay.pairs
        ends = np.where(
            overlay < storage.count, storage.segment_of(overlay), first + overlay - storage.count
        )
        pairs = np.unique(np.concatenate([pairs, ends]), axis=0)
    links = [(source, target) for source, target in pairs.tolist()]
    return stages(first + len(storage.invocations), links)
