"""The provenance graph in memory: immutable, with operations that derive one graph from another."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from graphquery import naming
from graphquery.build import Around, build
from graphquery.csr import Csr, positions
from graphquery.draw import graph_html
from graphquery.errors import NotInGraphError
from graphquery.model import EdgeSet, Kind, Segment
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
from graphquery.protocol import GraphEngine, Nodes, OfStale
from graphquery.select import Selection
from graphquery.select import select as select_nodes
from graphquery.storage import Columns, GraphStorage
from graphquery.values import DeletionEffects
from graphquery.values import stale as stale_nodes
from graphquery.values import values as values_of
from graphquery.view import GraphStep, GraphView, Neighbours, Overlay, merged, reason
from semiring.arrays.segments import ascending
from semiring.base import Array, Semiring, TokenValuation
from semiring.support.door import checked

if TYPE_CHECKING:
    import networkx as nx

    from graphquery.operations.difference import ExecutionDifference
    from graphquery.operations.evaluate import GraphEvaluation
    from graphquery.operations.paths import Path


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
class ProvenanceGraph(GraphEngine[Selection]):
    """A provenance graph (Amsterdamer et al., PVLDB 5(4), section 3) as arrays.

    Its questions are documented in :class:`graphquery.protocol.GraphEngine`. `build` makes the
    graph of a store; graphs derived from it share its arrays, `storage`, and differ in a mask,
    `view`.
    """

    def __init__(
        self,
        storage: GraphStorage,
        view: GraphView | None = None,
        parent: ProvenanceGraph | None = None,
    ) -> None:
        self.storage = storage
        self.view = view or GraphView()
        self.parent = parent
        self.effects: DeletionEffects[Array] | None = None

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

    def viewed(self, view: GraphView) -> ProvenanceGraph:
        """Return a graph over the same arrays that shows `view`, derived from this one."""
        return ProvenanceGraph(self.storage, view, self)

    # -- what there is ---------------------------------------------------------------------------

    @property
    def zoomed(self) -> frozenset[str]:
        return frozenset(self.view.zoomed)

    @property
    def visible(self) -> Array | None:
        """Boolean array over all ids: the nodes of this graph; None: all stored nodes."""
        return self.view.visible

    @property
    def overlay(self) -> Overlay | None:
        """The edges of zoomed nodes."""
        return self.view.overlay

    @property
    def steps(self) -> tuple[GraphStep, ...]:
        """The operations that led from the built graph to this one."""
        return self.view.steps

    @cached_property
    def ids(self) -> Array:
        """The ids of all nodes, ascending."""
        if self.visible is None:
            return np.arange(self.storage.count, dtype=np.int64)
        return np.flatnonzero(self.visible)

    @property
    def everything(self) -> Selection:
        return Selection(self, self.ids)

    @cached_property
    def node_count(self) -> int:
        if self.visible is None:
            return self.storage.count
        return int(np.count_nonzero(self.visible))

    @cached_property
    def edge_count(self) -> int:
        if self.visible is None:
            return len(self.storage.outgoing.nodes)
        return len(self.outgoing(self.ids).nodes)

    def __contains__(self, node: int | str) -> bool:
        if isinstance(node, str):
            node = naming.find(self.storage, node)
        return 0 <= node < self.storage.size and bool(self.has(np.array([node]))[0])

    def has(self, ids: Array) -> Array:
        """Return a Boolean array: the ids that are nodes of this graph."""
        if self.visible is None:
            return np.less(ids, self.storage.count).astype(np.bool_)
        return self.visible[ids]

    # -- names and attributes --------------------------------------------------------------------

    def node(self, name: str) -> int:
        number = naming.find(self.storage, name)
        self._check(np.array([number], dtype=np.int64))
        return number

    def segment(self, node: int | str) -> Segment:
        number = naming.find(self.storage, node) if isinstance(node, str) else int(node)
        naming.check_range(self.storage, np.array([number]))
        storage = self.storage
        if number < storage.count:
            return storage.segments[int(storage.segment_of(np.array([number]))[0])]
        inner = self.segment(int(storage.invocations[number - storage.count]))
        return Segment(
            naming.names(storage, np.array([number]))[0],
            Kind.ZOOMED,
            inner.module or inner.label,
            1,
            inner.module,
            inner.invocation,
            inner.execution,
        )

    def resolve(self, nodes: Nodes) -> Array:
        """Return nodes in any of the accepted forms as ascending ids, each once.

        Raises
        ------
        UnknownNameError, NotInGraphError
            As :meth:`node`.
        """
        return ascending(self.ordered(nodes))

    def ordered(self, nodes: Nodes) -> Array:
        ids = naming.numbers(self.storage, nodes)
        self._check(ids)
        return ids

    def _check(self, ids: Array) -> None:
        missing = ids[~self.has(ids)]
        if len(missing) == 0:
            return
        node = int(missing[0])
        segment = self.segment(node)
        hidden = any(bool((ids == node).any()) for ids in self.view.zoomed.values())
        raise NotInGraphError(
            reason(
                naming.names(self.storage, missing[:1])[0],
                segment,
                hidden=hidden or bool(self.zoomed and segment.module is None),
                zoomed=self.zoomed,
                operations=[step.operation for step in self.steps],
            )
        )

    # -- edges -----------------------------------------------------------------------------------

    def outgoing(self, ids: Array, ports: bool = False) -> Neighbours:
        """Return the direct successors of some nodes of this graph, one entry per edge.

        Parameters
        ----------
        ids
            Nodes of this graph in any order; consecutive ids are read without a copy.
        ports
            Whether to return the edges' ports.
        """
        return self._neighbours(self.storage.outgoing, ids, 0, ports)

    def incoming(self, ids: Array, ports: bool = False) -> Neighbours:
        """Return the direct predecessors of some nodes; see `outgoing`."""
        return self._neighbours(self.storage.incoming, ids, 1, ports)

    def _neighbours(self, csr: Csr, ids: Array, end: int, with_ports: bool) -> Neighbours:
        index, degrees = positions(csr, ids)
        ports = csr.ports[index] if with_ports and csr.ports is not None else None
        neighbours = Neighbours(csr.nodes[index], degrees, ports)
        if self.visible is None:
            return neighbours
        if self.overlay is not None:
            neighbours = merged(neighbours, *self.overlay.neighbours(ids, end))
        return neighbours.kept(self.visible[neighbours.nodes])

    def edges(self) -> tuple[Array, Array, Array | None]:
        """Return all edges: sources, targets, and ports (None if all are operand 0)."""
        adjacent = self.outgoing(self.ids, ports=True)
        return np.repeat(self.ids, adjacent.degrees), adjacent.nodes, adjacent.ports

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
