"""Deletion propagation (Definition 4.2)."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from graphquery.arrays import ArrayGraph, G
from graphquery.model import Port
from graphquery.protocol import Nodes
from graphquery.reduced_nodes import check_whole, is_reduced
from graphquery.view import GraphStep, GraphView, Neighbours, Operation
from semiring.arrays.segments import ascending, mask_of
from semiring.base import Array
from semiring.support.door import checked


@checked
def delete(graph: G, nodes: Nodes) -> G:
    """Return a graph without some nodes and without all nodes that need them.

    The nodes are removed, and then repeatedly every node that has lost all of its incoming edges,
    or is labelled `·` or `⊗` and has lost one. Nodes that never had incoming edges stay. For a `⊖`
    only the edges from the left operand count: if it loses the right one, the node stays and is
    stale (see :func:`graphquery.values.stale`), since its multiplicity may have grown.

    The deletion applies to the visible graph: a zoomed-out invocation is one node, which is removed
    with the last of its inputs. Zooming in applies the deletion to the nodes that appear, so that
    it commutes: deleting and zooming in gives the same graph as deleting from the fine one.

    Parameters
    ----------
    nodes
        Ids, names or selections, all deleted at once.

    Raises
    ------
    UnknownNameError
        Nodes that are not in the graph.
    GraphError
        The answer depends on operations that a reduction has dropped.

    Notes
    -----
    O(edges of removed nodes) time, and a copy of the mask of nodes, one byte each.

    References
    ----------
    Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definition 4.2.

    Examples
    --------
    Of two tuples one result needs both, another either:

    >>> from graphquery import EdgeSet, Kind, Ordinals, ProvenanceGraph, Segment
    >>> segments = [
    ...     Segment("in", Kind.TOKEN, "", 2),
    ...     Segment("both", Kind.DERIVED, "·", 1),
    ...     Segment("either", Kind.DERIVED, "+", 1),
    ... ]
    >>> edges = [
    ...     EdgeSet("in", "both", 2, Ordinals.ALL, Ordinals.ONE),
    ...     EdgeSet("in", "either", 2, Ordinals.ALL, Ordinals.ONE),
    ... ]
    >>> graph = ProvenanceGraph.build(segments, edges, lambda file, column: None)
    >>> left = delete(graph, "in[0]")
    >>> left.names(left.ids)
    ['in[1]', 'either']
    """
    return delete_ids(graph, graph.resolve(nodes))


def delete_ids(graph: G, seeds: Array) -> G:
    """Delete nodes by their ascending ids; see `delete`."""
    gone = removed(graph, seeds)
    visible = graph.mask()
    visible[gone] = False
    zoomed = seeds[seeds >= graph.storage.count]
    stands_for = {int(node): _inside(graph, int(node)) for node in zoomed}
    step = GraphStep(Operation.DELETE, seeds=seeds, stands_for=MappingProxyType(stands_for))
    view = graph.view
    return graph.viewed(GraphView(visible, view.zoomed, view.overlay, (*view.steps, step)))


def removed(graph: ArrayGraph, seeds: Array) -> Array:
    """Return the ids of the nodes that a deletion removes, including the deleted ones.

    Raises
    ------
    GraphError
        The answer depends on operations that a reduction has dropped.
    """
    gone = mask_of(seeds, graph.storage.size)
    fragile = graph.storage.fragile
    parts = [seeds]
    frontier = seeds
    # The counters hold the losses of nodes with remaining edges.
    with graph.storage.counters() as (lost, touched):
        while len(frontier):
            targets = _operands(graph.outgoing(frontier, graph.storage.subtracts)).nodes
            nodes, losses = _counted(targets[~gone[targets]])
            dead = fragile[nodes]
            rest = np.flatnonzero(~dead)
            touched.append(nodes[rest])
            dead[rest] = _exhausted(graph, touched[-1], losses[rest], lost)
            frontier = nodes[dead]
            gone[frontier] = True
            parts.append(frontier)
    result = np.concatenate(parts)
    if is_reduced(graph.storage.segments):
        check_whole(graph, ascending(graph.outgoing(result).nodes).astype(np.int64))
    return result


def _counted(targets: Array) -> tuple[Array, Array]:
    """Return the distinct targets of edges, ascending, and the number of edges into each."""
    targets = np.sort(targets)
    first = np.ones(len(targets), dtype=np.bool_)
    np.not_equal(targets[1:], targets[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return targets[starts].astype(np.int64), np.diff(np.append(starts, len(targets)))


def _exhausted(graph: ArrayGraph, nodes: Array, losses: Array, lost: Array) -> Array:
    """Return a Boolean array: nodes that have lost all edges, now and before; count the losses."""
    degrees = _degrees(graph, nodes)
    several = degrees > losses
    known = nodes[several]
    lost[known] += losses[several].astype(lost.dtype)
    losses[several] = lost[known]
    exhausted: Array = losses == degrees
    return exhausted


def _degrees(graph: ArrayGraph, ids: Array) -> Array:
    """Return the number of operand edges into each node."""
    storage = graph.storage
    if graph.visible is not None or storage.subtracts:
        return _operands(graph.incoming(ids, storage.subtracts)).degrees
    offsets = storage.incoming.offsets
    degrees: Array = (offsets[ids + 1] - offsets[ids]).astype(np.int64)
    return degrees


def _operands(neighbours: Neighbours) -> Neighbours:
    """Return the edges other than those to the right operand of a `⊖`."""
    if neighbours.ports is None:
        return neighbours
    return neighbours.kept(neighbours.ports != Port.SUBTRAHEND)


def _inside(graph: ArrayGraph, zoomed: int) -> Array:
    """Return the nodes that a zoomed node stands for."""
    segment = graph.segment(zoomed)
    storage = graph.storage
    hidden = graph.view.zoomed[segment.module or segment.label]
    positions = storage.segment_of(hidden)
    belongs = np.fromiter(
        (
            s.module == segment.module and s.invocation == segment.invocation
            for s in storage.segments
        ),
        np.bool_,
        len(storage.segments),
    )
    inside: Array = hidden[belongs[positions]]
    return inside
