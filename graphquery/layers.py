"""The nodes of a graph in topological order, a layer at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from graphquery.arrays import ArrayGraph
from graphquery.errors import StoreDamagedError
from graphquery.stages import Stages, stages
from semiring.base import Array

_LARGE = 1 << 15
"""Size from which a segment is processed alone, with its edges read as a slice."""


def layers(graph: ArrayGraph, backwards: bool = False) -> Iterator[Array]:
    """Yield all nodes of a graph, each after (`backwards`: before) its predecessors.

    Yields
    ------
    Array
        Ascending ids of nodes without edges among them.

    Raises
    ------
    StoreDamagedError
        If edges form a cycle.
    """
    storage = graph.storage
    order = storage.stages if not graph.zoomed else _zoomed_stages(graph)
    everything = range(len(storage.segments) + len(storage.invocations))
    yield from staged(graph, order, everything, backwards)


def staged(
    graph: ArrayGraph, order: Stages, positions: Iterable[int], backwards: bool = False
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


def _ids(graph: ArrayGraph, position: int) -> Array:
    storage = graph.storage
    extra = position - len(storage.segments)
    ids = storage.ids_of(position) if extra < 0 else np.array([storage.count + extra])
    return ids if graph.visible is None and extra < 0 else ids[graph.has(ids)]


def _node_layers(graph: ArrayGraph, ids: Array) -> Iterator[Array]:
    """Yield layers among the nodes of segments that feed one another."""
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
        raise StoreDamagedError(
            f"Edges form a cycle that {', '.join(left)} are on or behind.\nProvenance has no"
            " cycles: unfold loops into invocations."
        )


def _zoomed_stages(graph: ArrayGraph) -> Stages:
    """Return the order of segments that also has each zoomed node as a segment of its own."""
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
