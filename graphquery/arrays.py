"""A graph as arrays, and selections of its nodes: what the operations in memory read and return."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
import pyarrow as pa

from graphquery import naming
from graphquery.csr import Csr, positions
from graphquery.errors import GraphError, UnknownNameError
from graphquery.model import Kind, Segment
from graphquery.protocol import GraphEngine, Nodes, NodeSelection
from graphquery.storage import GraphStorage
from graphquery.view import (
    DeletionEffects,
    GraphStep,
    GraphView,
    Neighbours,
    Overlay,
    merged,
    reason,
)
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.support.door import checked

_ATTRIBUTES = ("kind", "label", "module", "invocation", "execution", "relation")
_DISPLAYED = 20


@checked
class Selection(NodeSelection):
    """Nodes of one graph in memory, each once; immutable.

    Attributes
    ----------
    graph
        The graph that the nodes are of.
    ids
        Ascending int64 ids.
    """

    __slots__ = ("graph", "ids")

    graph: ArrayGraph
    ids: Array

    def __init__(self, graph: ArrayGraph, ids: Array) -> None:
        self.graph = graph
        self.ids = ids

    def sources(self) -> Selection:
        """Return the nodes without incoming edges."""
        return Selection(self.graph, self.ids[self.graph.incoming(self.ids).degrees == 0])

    def sinks(self) -> Selection:
        """Return the nodes without outgoing edges."""
        return Selection(self.graph, self.ids[self.graph.outgoing(self.ids).degrees == 0])

    def to_table(self) -> pa.Table:
        """Return a table of the nodes: id, name, and the attributes of their segments."""
        segments = [self.graph.segment(int(node)) for node in self._representatives()]
        where = self._segment_numbers()
        columns: dict[str, pa.Array] = {
            "id": pa.array(self.ids, pa.int64()),
            "name": pa.array(self.names(), pa.string()),
        }
        for attribute in _ATTRIBUTES:
            known = [getattr(segment, attribute) for segment in segments]
            number = attribute in ("invocation", "execution")
            kind = pa.int64() if number else pa.string()
            items = [v if v is None or number else str(v) for v in known]
            columns[attribute] = pa.array(items, kind).take(pa.array(where))
        return pa.table(columns)

    def __or__(self, other: Selection) -> Selection:
        return Selection(self.graph, ascending(np.concatenate([self.ids, self._same(other)])))

    def __and__(self, other: Selection) -> Selection:
        shared = np.intersect1d(self.ids, self._same(other), assume_unique=True)
        return Selection(self.graph, shared)

    def __sub__(self, other: Selection) -> Selection:
        left = np.setdiff1d(self.ids, self._same(other), assume_unique=True)
        return Selection(self.graph, left)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids.tolist())

    def __contains__(self, node: int | str) -> bool:
        number = self.graph.node(node) if isinstance(node, str) else node
        return bool((self.ids == number).any())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selection):
            return NotImplemented
        return self.graph is other.graph and np.array_equal(self.ids, other.ids)

    def __hash__(self) -> int:
        return hash((id(self.graph), self.ids.tobytes()))

    def __repr__(self) -> str:
        shown = ", ".join(self.graph.names(self.ids[:_DISPLAYED]))
        more = "" if len(self) <= _DISPLAYED else f", and {len(self) - _DISPLAYED:,} more"
        return f"<Selection of {len(self):,}: {shown}{more}>" if len(self) else "<Selection of 0>"

    def _same(self, other: Selection) -> Array:
        if other.graph is not self.graph:
            raise GraphError(
                "The selections are of different graphs.\nSelect again in one of them, such as"
                " graph.select(within=other.names())."
            )
        return other.ids

    def _segment_numbers(self) -> Array:
        """Return the position of each node's segment among the selection's segments."""
        storage = self.graph.storage
        zoomed = len(storage.segments) + self.ids - storage.count
        stored = self.ids < storage.count
        numbers = np.where(
            stored, storage.segment_of(np.minimum(self.ids, storage.count - 1)), zoomed
        )
        _, inverse = np.unique(numbers, return_inverse=True)
        result: Array = inverse
        return result

    def _representatives(self) -> Array:
        """Return the first node of every segment that occurs."""
        numbers = self._segment_numbers()
        _, first = np.unique(numbers, return_index=True)
        result: Array = self.ids[first]
        return result


@checked
class ArrayGraph(GraphEngine[Selection]):
    """The nodes of a provenance graph as arrays: their names, attributes and edges.

    Graphs derived from one another share their arrays, `storage`, and differ in a mask, `view`.
    The operations read this much of a graph; :class:`graphquery.ProvenanceGraph` has them all.

    Attributes
    ----------
    parent
        The graph that this one was derived from; None for one that was built.
    effects
        The effects of the deletions that led here, once they are computed.
    """

    def __init__(
        self,
        storage: GraphStorage,
        view: GraphView | None = None,
        parent: Self | None = None,
    ) -> None:
        self.storage = storage
        self.view = view or GraphView()
        self.parent = parent
        self.effects: DeletionEffects[Array] | None = None

    def viewed(self, view: GraphView) -> Self:
        """Return a graph over the same arrays that shows `view`, derived from this one."""
        return type(self)(self.storage, view, self)

    # -- what there is ---------------------------------------------------------------------------

    @property
    def zoomed(self) -> frozenset[str]:
        return frozenset(self.view.zoomed)

    @property
    def visible(self) -> Array | None:
        """Boolean array over all ids: the nodes of this graph; None: all stored nodes."""
        return self.view.visible

    def mask(self) -> Array:
        """Return a Boolean array over all ids: the nodes of this graph; a copy."""
        if self.visible is not None:
            return self.visible.copy()
        mask = np.zeros(self.storage.size, dtype=np.bool_)
        mask[: self.storage.count] = True
        return mask

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
        UnknownNameError
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
        raise UnknownNameError(
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


G = TypeVar("G", bound=ArrayGraph)
"""A type of graph that operations return as they take it."""
