"""The protocol of provenance graphs and of selections of their nodes, in memory and on Spark.

Two engines hold graphs: :class:`graphquery.ProvenanceGraph` as arrays, and
:class:`graphquery.distributed.graph.SparkGraph` as data frames. Code written for
:class:`GraphEngine` works with either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, Self, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from graphquery import naming
from graphquery.model import Segment
from semiring.base import Array, Semiring
from semiring.support.door import checked

if TYPE_CHECKING:
    from graphquery.storage import GraphStorage

S_co = TypeVar("S_co", bound="NodeSelection", covariant=True)

OfStale: TypeAlias = Literal["raise", "null"]
"""The treatment of stale values: an error, or NULL in their place."""

Path: TypeAlias = tuple[int, ...]
"""The ids of the nodes on a path, from its source to its target."""


@checked
class NodeSelection(Protocol):
    """Nodes of one graph, each once; immutable."""

    __slots__ = ()

    @property
    def graph(self) -> GraphEngine[Self]:
        """The graph that the nodes are of."""

    @property
    def ids(self) -> Array:
        """Ascending int64 ids."""

    def names(self) -> list[str]:
        """Return the names of the nodes."""
        return self.graph.names(self.ids)

    def values(self, stale: OfStale = "raise") -> pa.Array:
        """Return the values of v-nodes; see :func:`graphquery.values.values`."""
        return self.graph.values(self, stale)

    def select(self, **conditions: Any) -> Self:
        """Return the nodes that meet conditions; see :func:`graphquery.select.select`."""
        return self.graph.select(within=self, **conditions)

    def ancestors(self, distance: int | None = None) -> Self:
        """Return all ancestors of the nodes, at most `distance` edges away."""
        return self.graph.ancestors(self, distance)

    def descendants(self, distance: int | None = None) -> Self:
        """Return all descendants of the nodes, at most `distance` edges away."""
        return self.graph.descendants(self, distance)

    def predecessors(self) -> Self:
        """Return the direct predecessors of the nodes."""
        return self.ancestors(1)

    def successors(self) -> Self:
        """Return the direct successors of the nodes."""
        return self.descendants(1)

    def dependents(self) -> Self:
        """Return the nodes and all that need them; see :meth:`GraphEngine.dependents`."""
        return self.graph.dependents(self)

    def __or__(self, other: Self, /) -> Self:
        """Return the union of two selections of one graph."""

    def __len__(self) -> int:
        """Return the number of nodes."""


@checked
@dataclass(frozen=True, slots=True)
class ExecutionDifference(Generic[S_co]):
    """The difference of two executions; `S_co` is the engine's type of selections.

    Attributes
    ----------
    only_left, only_right
        Nodes without a counterpart.
    summary
        A row per group of nodes in corresponding segments that differ: `module`, `invocation` (its
        number within the execution, from 1), `nodes` (the end of the segment's name), `kind`,
        `label`, `left`, `right` (the numbers of nodes), `common` (the number of counterparts).
    """

    only_left: S_co
    only_right: S_co
    summary: pa.Table

    @property
    def is_empty(self) -> bool:
        """True if every node has its counterpart."""
        return len(self.only_left) == 0 and len(self.only_right) == 0


class Annotations(Protocol):
    """The annotations of a graph's nodes in a semiring."""

    def value(self, node: int | str) -> Any:
        """Return the annotation of a node."""

    def values(self, nodes: Nodes) -> Array:
        """Return the annotations of nodes, in their order; 0 for nodes not evaluated."""


Nodes: TypeAlias = (
    int
    | str
    | np.integer[Any]
    | np.ndarray[Any, Any]
    | NodeSelection
    | Iterable[int | str | NodeSelection]
)
"""One node or several: ids, names, an array of ids, a selection, or several of these."""


@checked
class GraphEngine(Protocol[S_co]):
    """A provenance graph, whose selections are of the type `S_co`.

    Nodes have integer ids, which all graphs derived from one another share, and names
    (``dealer1#3/Cars:C2``). Operations do not change a graph but return a new one. Nodes may be
    passed as ids, names, arrays of ids or selections; an unknown one raises
    :class:`graphquery.UnknownNameError`.

    Attributes
    ----------
    storage
        The storage that graphs derived from one another share: segments, and names of nodes.
    """

    storage: GraphStorage

    # -- what there is ---------------------------------------------------------------------------

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The stored segments, shown or not."""
        return self.storage.segments

    @property
    def modules(self) -> tuple[str, ...]:
        """The names of all modules, zoomed out or not, sorted."""
        return tuple(sorted(self.storage.modules))

    @property
    def executions(self) -> tuple[int, ...]:
        """The numbers of all executions, ascending."""
        return tuple(sorted({s.execution for s in self.segments if s.execution is not None}))

    @property
    def zoomed(self) -> frozenset[str]:
        """The modules that are zoomed out."""

    @property
    def everything(self) -> S_co:
        """All nodes."""

    @property
    def node_count(self) -> int:
        """Number of nodes."""

    @property
    def edge_count(self) -> int:
        """Number of edges, where parallel edges count separately."""

    def __len__(self) -> int:
        return self.node_count

    def __contains__(self, node: int | str) -> bool:
        """Return True if a node, by its id or its name, is in the graph."""

    # -- names and attributes --------------------------------------------------------------------

    def node(self, name: str) -> int:
        """Return the id of the node with a name.

        Raises
        ------
        UnknownNameError
            No node has that name; the message has the most similar names.
            The node is stored, but not in this graph.
        """

    def name(self, node: int) -> str:
        """Return the name of a node."""
        return self.names([node])[0]

    def names(self, ids: Array | Iterable[int]) -> list[str]:
        """Return the names of nodes, in their order."""
        array = np.asarray(ids if isinstance(ids, np.ndarray) else list(ids), dtype=np.int64)
        naming.check_range(self.storage, array)
        return naming.names(self.storage, array)

    def segment(self, node: int | str) -> Segment:
        """Return the segment of a node; for a zoomed node, a synthetic one."""

    def ordered(self, nodes: Nodes) -> Array:
        """Return nodes in any of the accepted forms as ids, in their order."""

    # -- operations ------------------------------------------------------------------------------

    def zoom_out(self, *modules: str | Iterable[str]) -> Self:
        """Hide the inside of modules; see :func:`graphquery.operations.zoom.zoom_out`."""

    def zoom_in(self, *modules: str | Iterable[str]) -> Self:
        """Show the inside of modules; see :func:`graphquery.operations.zoom.zoom_in`."""

    def delete(self, nodes: Nodes) -> Self:
        """Return the graph without nodes; see :func:`graphquery.operations.delete.delete`."""

    def subgraph(self, nodes: Nodes) -> Self:
        """Return the subgraph around nodes; see :func:`graphquery.operations.subgraph.subgraph`."""

    def select(self, **conditions: Any) -> S_co:
        """Return the nodes that meet conditions; see :func:`graphquery.select.select`."""

    def depends(self, nodes: Nodes, on: Nodes) -> bool:
        """Return True if nodes need others; see :func:`graphquery.operations.depends.depends`."""

    def dependents(self, on: Nodes) -> S_co:
        """Return the nodes that need others; see
        :func:`graphquery.operations.depends.dependents`.
        """

    def ancestors(self, nodes: Nodes, distance: int | None = None) -> S_co:
        """Return the ancestors of nodes; see :func:`graphquery.operations.reach.ancestors`."""

    def descendants(self, nodes: Nodes, distance: int | None = None) -> S_co:
        """Return the descendants of nodes; see :func:`graphquery.operations.reach.descendants`."""

    def paths(
        self, source: Nodes, target: Nodes, limit: int = 10, longest: int | None = None
    ) -> list[Path]:
        """Return paths between nodes; see :func:`graphquery.operations.paths.paths`."""

    def inputs(self, nodes: Nodes) -> pa.Table:
        """Return the inputs behind nodes; see :func:`graphquery.operations.inputs.inputs`."""

    def difference(self, left: int, right: int) -> ExecutionDifference[S_co]:
        """Compare two executions; see :func:`graphquery.operations.difference.difference`."""

    def evaluate(
        self,
        semiring: Semiring[Any],
        valuation: Mapping[Any, Any] | None = None,
        nodes: Nodes | None = None,
    ) -> Annotations:
        """Evaluate in a semiring; see :func:`graphquery.operations.evaluate.evaluate`."""

    def value(self, node: int | str) -> Any:
        """Return the value of a v-node; see :func:`graphquery.values.value`."""
        return self.values([node])[0].as_py()

    def values(self, nodes: Nodes, stale: OfStale = "raise") -> pa.Array:
        """Return the values of v-nodes, in their order; see :func:`graphquery.values.values`."""

    def stale(self) -> S_co:
        """Return the values that deletions may have changed; see
        :func:`graphquery.values.stale`.
        """
