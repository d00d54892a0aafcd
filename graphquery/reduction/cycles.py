"""Cycles of vertices, from erroneous events: found, and condensed to one vertex each."""

from __future__ import annotations

import numpy as np

from graphquery.reduction.edges import Edges
from semiring.arrays.segments import mask_of
from semiring.base import Array

_PASSES = 20
"""Number of passes that trim vertices without edges on a side before components are searched."""


def components_of(edges: Edges, size: int) -> Array:
    """Return the smallest vertex of each vertex's strongly connected component.

    O(edges) time; what is left after some passes in numpy takes Python objects.
    """
    component = np.arange(size, dtype=np.int64)
    source, dest = edges.source, edges.dest
    for _ in range(_PASSES):
        entered = np.bincount(dest, minlength=size) > 0
        left = np.bincount(source, minlength=size) > 0
        stays = entered[source] & left[dest] & (source != dest)
        if stays.all():
            break
        source, dest = source[stays], dest[stays]
    if len(source):
        import networkx as nx  # workers, which search for no cycles, need not have it

        graph = nx.DiGraph()
        graph.add_edges_from(zip(source.tolist(), dest.tolist(), strict=True))
        for vertices in nx.strongly_connected_components(graph):
            component[list(vertices)] = min(vertices)
    return component


def in_cycles(edges: Edges, size: int) -> Array:
    """Return a Boolean array of the edges on cycles, including loops."""
    component = components_of(edges, size)
    within: Array = component[edges.source] == component[edges.dest]
    return within


def condensed(edges: Edges, chosen: Array) -> tuple[Edges, Array]:
    """Return edges with each cycle of chosen vertices condensed to one vertex, without loops.

    Parameters
    ----------
    chosen
        Boolean array over all vertices.

    Returns
    -------
    edges
        From and to the least vertex of every component.
    cyclic
        Boolean array: the vertices that any cycle leads through.
    """
    size = len(chosen)
    cyclic = mask_of(edges.source[in_cycles(edges, size)], size)
    component = components_of(edges.take(chosen[edges.source] & chosen[edges.dest]), size)
    merged = edges.renumbered(component)
    return merged.take(merged.source != merged.dest), cyclic
