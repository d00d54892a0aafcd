"""The provenance graph in memory: immutable, with operations that derive one graph from another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from graphquery.arrays import ArrayGraph, Selection
from graphquery.build import Around, build
from graphquery.draw import graph_html
from graphquery.model import EdgeSet, Segment
from graphquery.operations import (
    delete,
    depends,
    difference,
    evaluate,
    inputs,
    paths,
    reach,
    subgraph,
    zoom,
)
from graphquery.protocol import ExecutionDifference, Nodes, OfStale, Path
from graphquery.select import select as select_nodes
from graphquery.storage import Columns
from graphquery.values import stale as stale_nodes
from graphquery.values import values as values_of
from semiring.base import Array, Semiring, TokenValuation
from semiring.support.door import checked

if TYPE_CHECKING:
    import networkx as nx

    from graphquery.operations.evaluate import GraphEvaluation


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
    """Return, by node id, the rank of the node's name."""
    ranks = np.empty(graph.storage.size, dtype=np.int64)
    ranks[graph.ids[order]] = np.arange(len(order))
    return ranks


def _same_edges(
    left: ProvenanceGraph, right: ProvenanceGraph, ranks: Array | None, right_ranks: Array | None
) -> bool:
    a, b = _edge_rows(left, ranks), _edge_rows(right, right_ranks)
    return a.shape == b.shape and bool((a == b).all())


def _edge_rows(graph: ProvenanceGraph, ranks: Array | None) -> Array:
    """Return edges as sorted columns: source, target, port."""
    sources, targets, ports = graph.edges()
    if ranks is not None:
        sources, targets = ranks[sources], ranks[targets]
    kinds = np.zeros(len(sources), dtype=np.uint8) if ports is None else ports
    order = np.lexsort((kinds, targets, sources))
    return np.stack([sources[order], targets[order], kinds[order]])


@checked
class ProvenanceGraph(ArrayGraph):
    """A provenance graph (Amsterdamer et al., PVLDB 5(4), section 3) in memory.

    Its questions are documented in :class:`graphquery.protocol.GraphEngine`. `build` makes the
    graph of a store.
    """

    @classmethod
    def build(
        cls,
        segments: Iterable[Segment],
        edge_sets: Iterable[EdgeSet],
        columns: Columns,
        around: Around | None = None,
    ) -> ProvenanceGraph:
        """Build a graph from what is stored; see :func:`graphquery.build.build`."""
        return cls(build(segments, edge_sets, columns, around))

    # -- operations ------------------------------------------------------------------------------

    def zoom_out(self, *modules: str | Iterable[str]) -> ProvenanceGraph:
        return zoom.zoom_out(self, *modules)

    def zoom_in(self, *modules: str | Iterable[str]) -> ProvenanceGraph:
        return zoom.zoom_in(self, *modules)

    def delete(self, nodes: Nodes) -> ProvenanceGraph:
        return delete.delete(self, nodes)

    def depends(self, nodes: Nodes, on: Nodes) -> bool:
        return depends.depends(self, nodes, on)

    def dependents(self, on: Nodes) -> Selection:
        return depends.dependents(self, on)

    def ancestors(self, nodes: Nodes, distance: int | None = None) -> Selection:
        return reach.ancestors(self, nodes, distance)

    def descendants(self, nodes: Nodes, distance: int | None = None) -> Selection:
        return reach.descendants(self, nodes, distance)

    def subgraph(self, nodes: Nodes) -> ProvenanceGraph:
        return subgraph.subgraph(self, nodes)

    def paths(
        self, source: Nodes, target: Nodes, limit: int = 10, longest: int | None = None
    ) -> list[Path]:
        return paths.paths(self, source, target, limit, longest)

    def inputs(self, nodes: Nodes) -> pa.Table:
        return inputs.inputs(self, nodes)

    def difference(self, left: int, right: int) -> ExecutionDifference[Selection]:
        return difference.difference(self, left, right)

    def evaluate(
        self,
        semiring: Semiring[Any],
        valuation: TokenValuation[Any] = None,
        nodes: Nodes | None = None,
    ) -> GraphEvaluation[Any]:
        return evaluate.evaluate(self, semiring, valuation, nodes)

    def select(self, **conditions: Any) -> Selection:
        return select_nodes(self, **conditions)

    def values(self, nodes: Nodes, stale: OfStale = "raise") -> pa.Array:
        return values_of(self, nodes, stale)

    def stale(self) -> Selection:
        return stale_nodes(self)

    def to_networkx(self) -> Any:
        """Return a MultiDiGraph; see :func:`graphquery.graph.to_networkx`."""
        return to_networkx(self)

    # -- comparison and display ------------------------------------------------------------------

    def equals(self, other: ProvenanceGraph) -> bool:
        """Return True if two graphs have the same nodes, by name, kind and label, and the same
        edges.

        O(nodes + edges) for graphs over the same arrays; for others, names are compared too.
        """
        return equals(self, other)

    def __repr__(self) -> str:
        return (
            f"<ProvenanceGraph: {self.node_count:,} nodes, {len(self.modules)} modules,"
            f" {len(self.zoomed)} zoomed out>"
        )

    def _repr_html_(self) -> str:
        return graph_html(self)
