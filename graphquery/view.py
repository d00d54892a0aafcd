"""The view of a graph: the visible nodes, and the reasons that other nodes are absent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import numpy as np

from graphquery.model import Kind, Segment
from semiring.base import Array

N = TypeVar("N")

NO_IDS: Array = np.empty(0, dtype=np.int64)


def _nothing() -> Mapping[Any, Array]:
    return MappingProxyType({})


class Operation(StrEnum):
    """The operations that derive a graph from another."""

    ZOOM_OUT = "zoom out"
    DELETE = "delete"
    SUBGRAPH = "subgraph"


@dataclass(frozen=True, slots=True, eq=False)
class GraphStep:
    """One operation, which can be replayed on a graph with a module zoomed in.

    Attributes
    ----------
    modules
        The modules that were zoomed out.
    seeds
        The nodes that were deleted, or whose subgraph was taken.
    stands_for
        For zoomed nodes among the seeds, the nodes that each stood for.
    """

    operation: Operation
    modules: frozenset[str] = frozenset()
    seeds: Array = field(default_factory=lambda: NO_IDS)
    stands_for: Mapping[int, Array] = field(default_factory=_nothing)


class Overlay:
    """Edges of zoomed nodes: from the inputs of an invocation to its node, and on to the outputs.

    Parameters
    ----------
    pairs
        int64 of shape (edges, 2): source and target.
    """

    def __init__(self, pairs: Array) -> None:
        self.pairs = pairs
        self._sorted: dict[int, tuple[Array, Array]] = {}

    def neighbours(self, ids: Array, end: int) -> tuple[Array, Array]:
        """Return the other ends of the edges that have one of some nodes at `end` (0: source).

        Returns
        -------
        nodes
            Node by node in the order of `ids`.
        degrees
            The number of neighbours of each node.
        """
        if end not in self._sorted:
            order = np.argsort(self.pairs[:, end], kind="stable")
            self._sorted[end] = self.pairs[order, end], self.pairs[order, 1 - end]
        keys, other_ends = self._sorted[end]
        starts = np.searchsorted(keys, ids, side="left")
        degrees = np.searchsorted(keys, ids, side="right") - starts
        ends = np.cumsum(degrees)
        spread = np.repeat(starts - ends + degrees, degrees)
        return other_ends[spread + np.arange(len(spread))], degrees


@dataclass(frozen=True, slots=True, eq=False)
class GraphView:
    """Masks and zoomed nodes over shared arrays.

    Attributes
    ----------
    visible
        Boolean array over all ids; None: every stored node and no zoomed one.
    zoomed
        For every module zoomed out, the ids that its zooming hides.
    overlay
        The edges of zoomed nodes; None if there are none.
    steps
        The operations that led here.
    """

    visible: Array | None = None
    zoomed: Mapping[str, Array] = field(default_factory=_nothing)
    overlay: Overlay | None = None
    steps: tuple[GraphStep, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class DeletionEffects(Generic[N]):
    """The effects of deletions on the remaining nodes; `N` is the engine's type of sets of nodes:
    Boolean arrays over all ids in memory, `NodeSet` on Spark.

    Attributes
    ----------
    changed
        Nodes with a predecessor, other than under `+`, that is removed or changed: values computed
        from it may differ.
    stale
        Nodes whose new value is unknown.
    """

    changed: N
    stale: N


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The neighbours of some nodes, one per edge, node by node.

    Attributes
    ----------
    nodes
        Ids of neighbours.
    degrees
        int64, the number of neighbours of each node.
    ports
        uint8, the operand of its target that each edge is; None if all are operand 0, or if ports
        were not requested.
    """

    nodes: Array
    degrees: Array
    ports: Array | None

    @property
    def offsets(self) -> Array:
        """The degrees as CSR offsets."""
        offsets = np.zeros(len(self.degrees) + 1, dtype=np.int64)
        np.cumsum(self.degrees, out=offsets[1:])
        return offsets

    def owners(self) -> Array:
        """Return, for every edge, the position of the node whose neighbour it leads to."""
        return np.repeat(np.arange(len(self.degrees), dtype=np.int64), self.degrees)

    def kept(self, keep: Array) -> Neighbours:
        """Return the edges where a Boolean array over them holds."""
        if bool(keep.all()):
            return self
        running = np.zeros(len(keep) + 1, dtype=np.int64)
        np.cumsum(keep, out=running[1:])
        ports = None if self.ports is None else self.ports[keep]
        return Neighbours(self.nodes[keep], np.diff(running[self.offsets]), ports)


def merged(first: Neighbours, nodes: Array, degrees: Array) -> Neighbours:
    """Return the neighbours of the same nodes along two sets of edges, the second all on port 0."""
    if len(nodes) == 0:
        return first
    second = Neighbours(nodes, degrees, None)
    order = np.argsort(np.concatenate([first.owners(), second.owners()]), kind="stable")
    joined: Array = np.concatenate([first.nodes, nodes])[order]
    ports: Any = None
    if first.ports is not None:
        ports = np.concatenate([first.ports, np.zeros(len(nodes), dtype=np.uint8)])[order]
    return Neighbours(joined, first.degrees + degrees, ports)


def reason(
    name: str,
    segment: Segment,
    *,
    hidden: bool,
    zoomed: Collection[str],
    operations: Iterable[Operation],
) -> str:
    """Return the reason that a node is absent, as a message.

    Parameters
    ----------
    name, segment
        The name and the segment of the node.
    hidden
        Whether zooming out has hidden it.
    zoomed
        The modules that are zoomed out.
    operations
        The operations that led from the built graph to this one.
    """
    module = segment.module
    if segment.kind is Kind.ZOOMED and module not in zoomed:
        return (
            f"{name} stands for an invocation of {module}, which is not zoomed out here.\n"
            f"zoom_out({module!r}) first."
        )
    if hidden and module is not None:
        return f"{name} is inside {module}, which is zoomed out.\nzoom_in({module!r}) first."
    if hidden:
        return (
            f"{name} is a constant of modules that are zoomed out.\nzoom_in first:"
            f" {', '.join(sorted(zoomed))}."
        )
    how = "was deleted" if Operation.DELETE in operations else "is outside this subgraph"
    return f"{name} {how}.\nAsk the graph from which this one was derived."
