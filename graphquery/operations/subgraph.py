"""The subgraph around nodes (section 5.1)."""

from __future__ import annotations

import numpy as np

from graphquery.arrays import G
from graphquery.operations.reach import reached
from graphquery.protocol import Nodes
from graphquery.view import GraphStep, GraphView, Operation
from semiring.arrays.segments import mask_of
from semiring.base import Array
from semiring.support.door import checked


@checked
def subgraph(graph: G, nodes: Nodes) -> G:
    """Return some nodes, their ancestors and descendants, and the siblings of the descendants.

    A sibling of a node shares a direct predecessor with it. Zooming in on a subgraph gives the
    subgraph of the graph zoomed in.

    Raises
    ------
    UnknownNameError
        Nodes that are not in the graph.

    Notes
    -----
    O(edges at the nodes that are kept) time and a mask of a byte per node.

    References
    ----------
    Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 5.1.
    """
    return subgraph_ids(graph, graph.resolve(nodes))


def subgraph_ids(graph: G, seeds: Array) -> G:
    """Take the subgraph of nodes by their ascending ids; see `subgraph`."""
    below = reached(graph, seeds, forwards=True)
    visible = mask_of(graph.incoming(below).nodes, graph.storage.size)
    siblings = graph.outgoing(np.flatnonzero(visible)).nodes
    visible[:] = False
    for part in (seeds, reached(graph, seeds, forwards=False), below, siblings):
        visible[part] = True
    view = graph.view
    step = GraphStep(Operation.SUBGRAPH, seeds=seeds)
    return graph.viewed(GraphView(visible, view.zoomed, view.overlay, (*view.steps, step)))
