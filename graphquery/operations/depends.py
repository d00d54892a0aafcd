"""Dependency between nodes and sets of nodes (section 4.3)."""

from __future__ import annotations

import numpy as np

from graphquery.arrays import ArrayGraph, Selection
from graphquery.operations.delete import removed
from graphquery.protocol import Nodes
from semiring.support.door import checked


@checked
def depends(graph: ArrayGraph, nodes: Nodes, on: Nodes) -> bool:
    """Return True if nodes depend on other nodes.

    Parameters
    ----------
    nodes
        One node or several.
    on
        One node or several, taken together.

    Returns
    -------
    bool
        True if deleting all of `on` removes every one of `nodes`. True for an empty `nodes`, and
        for a node and itself.

    Raises
    ------
    UnknownNameError
        Nodes that are not in the graph.

    References
    ----------
    Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 4.3.
    """
    wanted = graph.resolve(nodes)
    return bool(np.isin(wanted, removed(graph, graph.resolve(on))).all())


@checked
def dependents(graph: ArrayGraph, on: Nodes) -> Selection:
    """Return all nodes that depend on some nodes taken together, including these."""
    return Selection(graph, np.sort(removed(graph, graph.resolve(on))))
