"""Marked nodes of a picture: ancestors, descendants, and the nodes that a deletion removes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphquery import ProvenanceGraph
from graphquery.csr import distinct
from graphquery.values import effects
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.graphs.boxes import Marks
from lipstick.explorer.graphs.node_values import changed
from semiring.base import Array

MODES = ("ancestors", "descendants", "path", "delete")


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """Marks, and how many nodes there are of each kind.

    Attributes
    ----------
    steps
        Of a deletion how many steps it takes: a node is gone one after the first of those whose
        loss it does not survive. 0 of others.
    """

    marks: Marks
    counts: dict[str, int]
    steps: int = 0


def marked(
    graph: ProvenanceGraph, mode: str, nodes: Sequence[int], step: int | None = None
) -> Marked:
    """Mark nodes of a graph.

    Parameters
    ----------
    mode
        ``ancestors`` and ``descendants`` of the nodes; ``path``: what is between the first and the
        second of them; ``delete``: what is gone without them, and which
        values then are others, or stale.
    step
        Of a deletion only what is gone after so many steps; None: all of it.
    """
    start = graph.resolve(np.array(nodes, dtype=np.int64))
    if mode in ("ancestors", "descendants"):
        reached = graph.ancestors(start) if mode == "ancestors" else graph.descendants(start)
        return _lit(graph, np.union1d(reached.ids, start))
    if mode == "path":
        if len(nodes) != 2:
            raise ExploreError("A path is between two nodes: give both.")
        first, last = (np.array([node], dtype=np.int64) for node in nodes)
        between = np.intersect1d(
            np.union1d(graph.descendants(first).ids, first),
            np.union1d(graph.ancestors(last).ids, last),
        )
        return _lit(graph, between)
    if mode != "delete":
        raise ExploreError(f"Nodes are marked by one of {', '.join(MODES)}, not by {mode!r}.")
    after = graph.delete(start)
    assert after.visible is not None
    stayed = after.visible
    if graph.visible is None:
        gone = np.flatnonzero(~stayed[: graph.storage.count])
    else:
        gone = np.flatnonzero(graph.visible & ~stayed)
    waves = _waves(graph, start, gone)
    final = int(waves.max(initial=0))
    kinds = {"gone": gone if step is None else gone[waves <= step]}
    known = effects(after)
    if known is not None and (step is None or step >= final):
        stale = np.flatnonzero(known.stale & stayed[: len(known.stale)])
        changed_nodes = changed(graph, after)
        kinds |= {"changed": changed_nodes[~known.stale[changed_nodes]], "stale": stale}
    counts = {kind: len(ids) for kind, ids in kinds.items()}
    return Marked(_marks(graph, kinds, after), counts, final)


def _lit(graph: ProvenanceGraph, ids: Array) -> Marked:
    return Marked(_marks(graph, {"lit": ids}), {"lit": len(ids)})


def _marks(
    graph: ProvenanceGraph, kinds: dict[str, Array], after: ProvenanceGraph | None = None
) -> Marks:
    storage = graph.storage
    count = len(storage.segments)
    counts_by_kind = {
        kind: np.bincount(storage.segment_of(ids[ids < storage.count]), minlength=count)
        for kind, ids in kinds.items()
    }
    return Marks(counts_by_kind, kinds, after)


def _waves(graph: ProvenanceGraph, start: Array, gone: Array) -> Array:
    """Return, for each node that is gone, its steps from the deleted nodes, as int64."""
    wave = np.zeros(len(gone), dtype=np.int64)
    inside = np.zeros(graph.storage.size, dtype=np.bool_)
    inside[gone] = True
    inside[start] = False
    frontier, at = start, 0
    while len(frontier):
        nodes_ahead = graph.outgoing(frontier).nodes
        frontier = distinct(nodes_ahead[inside[nodes_ahead]]).astype(np.int64)
        inside[frontier] = False
        at += 1
        wave[np.searchsorted(gone, frontier)] = at
    return wave
