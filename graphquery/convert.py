"""Graphs as networkx's, and compared with one another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semiring.base import Array

if TYPE_CHECKING:
    import networkx as nx

    from graphquery.graph import ProvenanceGraph


def to_networkx(graph: ProvenanceGraph) -> nx.MultiDiGraph:
    """Return a graph as a networkx MultiDiGraph, for exchange and for small graphs.

    Nodes are names, with the attributes `id`, `kind`, `label`, `module`, `invocation`, `execution`
    and `relation` (the last four only where there is one); edges have `port`. Some hundred times
    the memory of the arrays.
    """
    from networkx import MultiDiGraph

    result = MultiDiGraph()
    names = dict(zip(graph.ids.tolist(), graph.names(graph.ids), strict=True))
    for node, name in names.items():
        segment = graph.segment(node)
        attributes = {
            "id": node,
            "kind": segment.kind.value,
            "label": segment.label,
            "module": segment.module,
            "invocation": segment.invocation,
            "execution": segment.execution,
            "relation": segment.relation,
        }
        result.add_node(name, **{k: v for k, v in attributes.items() if v is not None})
    sources, targets, ports = graph.edges()
    kinds = [0] * len(sources) if ports is None else ports.tolist()
    for source, target, port in zip(sources.tolist(), targets.tolist(), kinds, strict=True):
        result.add_edge(names[source], names[target], port=port)
    return result


def equals(left: ProvenanceGraph, right: ProvenanceGraph) -> bool:
    """Return True if two graphs have the same nodes, by name, kind and label, and the same
    edges.
    """
    if left.node_count != right.node_count:
        return False
    if left.storage is right.storage:
        return np.array_equal(left.ids, right.ids) and _same_edges(left, right, None, None)
    names, right_names = left.names(left.ids), right.names(right.ids)
    order, other = np.argsort(np.array(names)), np.argsort(np.array(right_names))
    if [names[i] for i in order] != [right_names[i] for i in other]:
        return False
    if _attributes(left, left.ids[order]) != _attributes(right, right.ids[other]):
        return False
    return _same_edges(left, right, _ranks(left, order), _ranks(right, other))


def _attributes(graph: ProvenanceGraph, ids: Array) -> list[tuple[object, ...]]:
    attributes: list[tuple[object, ...]] = []
    for node in ids.tolist():
        segment = graph.segment(node)
        attributes.append(
            (
                segment.kind,
                segment.label,
                segment.module,
                segment.invocation,
                segment.execution,
                segment.relation,
            )
        )
    return attributes


def _ranks(graph: ProvenanceGraph, order: Array) -> Array:
    """By id, the rank of a node's name."""
    ranks = np.empty(graph.storage.size, dtype=np.int64)
    ranks[graph.ids[order]] = np.arange(len(order))
    return ranks


def _same_edges(
    left: ProvenanceGraph, right: ProvenanceGraph, ranks: Array | None, right_ranks: Array | None
) -> bool:
    a, b = _edge_rows(left, ranks), _edge_rows(right, right_ranks)
    return a.shape == b.shape and bool((a == b).all())


def _edge_rows(graph: ProvenanceGraph, ranks: Array | None) -> Array:
    """Edges as sorted columns: source, target, port."""
    sources, targets, ports = graph.edges()
    if ranks is not None:
        sources, targets = ranks[sources], ranks[targets]
    kinds = np.zeros(len(sources), dtype=np.uint8) if ports is None else ports
    order = np.lexsort((kinds, targets, sources))
    return np.stack([sources[order], targets[order], kinds[order]])
