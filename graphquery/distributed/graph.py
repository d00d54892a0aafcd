"""The provenance graph on Spark: the in-memory graph's operations, over the same datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from graphquery import naming
from graphquery.build import positions
from graphquery.csr import Csr
from graphquery.distributed import steps
from graphquery.distributed.delete import removed
from graphquery.distributed.evaluate import NodeCounts, evaluate
from graphquery.distributed.levels import Levels
from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.reach import reached, within_distance
from graphquery.distributed.selection import (
    SparkSelection,
    check_selection,
    meeting,
    missing,
    ordered,
)
from graphquery.distributed.values import brought, effects, paths_between, values
from graphquery.distributed.view import SparkStep, SparkView
from graphquery.errors import GraphError
from graphquery.graph import ProvenanceGraph
from graphquery.model import EdgeSet, Kind, Segment
from graphquery.naming import module_names
from graphquery.operations.difference import check_executions, unmatched
from graphquery.operations.inputs import listed
from graphquery.protocol import ExecutionDifference, GraphEngine, Nodes, OfStale, Path
from graphquery.spark import Frame, GraphTables, Session, read_edges
from graphquery.storage import Columns, GraphStorage
from graphquery.view import DeletionEffects
from semiring.arrays.segments import ascending
from semiring.base import Array, Semiring


class SparkGraph(GraphEngine[SparkSelection]):
    """A provenance graph as data frames, for graphs larger than one machine's memory.

    Its questions are the ones of :class:`graphquery.protocol.GraphEngine`; nodes have the same ids
    and names as in memory. An operation runs at once, as one Spark job per level of segments that
    it reaches, and writes its result to the graph's folder; the number of rows collected on the
    driver is bounded.

    Made by `build`.
    """

    def __init__(
        self,
        view: SparkView,
        storage: GraphStorage,
        columns: Columns,
        bring: int,
        parent: SparkGraph | None = None,
    ) -> None:
        self.view = view
        self.storage = storage
        self.columns = columns
        self.bring = bring
        self.parent = parent
        self.gone: NodeSet | None = None
        self.effects: DeletionEffects[NodeSet] | None = None

    @classmethod
    def build(
        cls,
        spark: Session,
        segments: Iterable[Segment],
        edge_sets: Iterable[EdgeSet],
        path: Callable[[str], str],
        folder: str,
        *,
        columns: Columns | None = None,
        rounds: int = 1_000,
        bring: int = 1_000_000,
    ) -> SparkGraph:
        """Read a graph's edges and write them by the levels of segments that they join.

        Parameters
        ----------
        segments, edge_sets
            As stored.
        path
            Maps the name of a Parquet file, as in segments and edge sets, to its path for Spark.
        folder
            A new folder that Spark's workers can write to. Edges are written there, and what
            operations compute; delete it when the graph is no longer needed.
        columns
            Reads a column of a file on the driver, for keys of nodes; by default from `path`.
        rounds
            How many jobs over edges one operation may take.
        bring
            How many nodes or edges one answer may bring to the driver.

        Raises
        ------
        StoreDamagedError
            Two segments of one name, edges at unknown segments, edges that are missing or at
            ordinals that are not nodes.

        Notes
        -----
        O(edges) reading, one shuffle, and writing.
        """
        segments, edge_sets = tuple(segments), tuple(edge_sets)
        positions(segments, edge_sets)
        levels = Levels(segments, edge_sets)
        tables = GraphTables(spark, folder, levels)
        edges = read_edges(tables, path)

        def from_path(file: str, name: str) -> Any:
            return pq.read_table(path(file), columns=[name])[name]

        read = columns or from_path
        nothing = Csr(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64), None)
        storage = GraphStorage(segments, (), nothing, nothing, read)
        return cls(SparkView(tables, (edges,), rounds), storage, read, bring)

    def viewed(self, view: SparkView) -> SparkGraph:
        """Return a graph over the same datasets that shows `view`, derived from this one."""
        return SparkGraph(view, self.storage, self.columns, self.bring, self)

    # -- what there is ---------------------------------------------------------------------------

    @property
    def tables(self) -> GraphTables:
        """The data frames that all graphs derived from one another share."""
        return self.view.tables

    @property
    def zoomed(self) -> frozenset[str]:
        return self.view.zoomed

    @property
    def steps(self) -> tuple[SparkStep, ...]:
        """The operations that led from the built graph to this one."""
        return self.view.steps

    @cached_property
    def everything(self) -> SparkSelection:
        return SparkSelection(self, self.view.everything())

    @property
    def frame(self) -> Frame:
        """A data frame of all nodes: `segment` int (its number) and `id` bigint."""
        return self.everything.frame

    @cached_property
    def edges(self) -> Frame | None:
        """A data frame of all edges: `source`, `target` and the numbers of their segments."""
        return self.view.between(self.view.links)

    @property
    def node_count(self) -> int:
        view = self.view
        shown = self.storage.count + len(view.zoomed_nodes)
        if view.present is not None:
            shown = self.tables.count(view.present)
        return shown - self.tables.count(view.absent)

    @cached_property
    def edge_count(self) -> int:
        if not self.steps:
            return sum(edges.count for edges in self.view.levels.edge_sets)
        return 0 if self.edges is None else self.tables.height(self.edges)

    def __contains__(self, node: int | str) -> bool:
        number = naming.find(self.storage, node) if isinstance(node, str) else node
        return 0 <= number < self.storage.size and not len(missing(self, np.array([number])))

    # -- names -----------------------------------------------------------------------------------

    def node(self, name: str) -> int:
        return int(ordered(self, name)[0])

    def segment(self, node: int | str) -> Segment:
        number = naming.find(self.storage, node) if isinstance(node, str) else int(node)
        naming.check_range(self.storage, np.array([number]))
        levels = self.view.levels
        like = levels.segments[int(levels.segment_of(np.array([number]))[0])]
        return replace(like, count=1) if like.kind is Kind.ZOOMED else like

    def resolve(self, nodes: Nodes) -> SparkSelection:
        """Return nodes in any of the accepted forms as a selection.

        Raises
        ------
        UnknownNameError
            Nothing is called so.
            A node is not in this graph; the message has the reason.
        """
        if isinstance(nodes, SparkSelection):
            if nodes.graph is not self:
                check_selection(self, nodes)
            return SparkSelection(self, nodes.nodes)
        return SparkSelection(self, self.view.given(ascending(ordered(self, nodes))))

    def ordered(self, nodes: Nodes) -> Array:
        return (
            self.resolve(nodes).ids if isinstance(nodes, SparkSelection) else ordered(self, nodes)
        )

    def select(self, *, within: Nodes | None = None, **conditions: Any) -> SparkSelection:
        """Return the nodes of the segments that meet all conditions.

        Parameters
        ----------
        within
            The nodes to select from; None: all.
        **conditions
            `kind`, `label`, `module`, `invocation`, `execution`, `relation`, `segment` (its name):
            one value or several; a node has to have one of them.

        Raises
        ------
        GraphError
            A condition is not among these.
        """
        segments = meeting(self.view.levels.segments, conditions)
        if within is None:
            return SparkSelection(self, self.view.of(segments))
        nodes = self.resolve(within).nodes
        return SparkSelection(self, self.tables.of_segments(nodes, segments))

    # -- operations ------------------------------------------------------------------------------

    def zoom_out(self, *modules: str | Iterable[str]) -> SparkGraph:
        fresh = module_names(self.storage, modules) - self.zoomed
        return steps.zoom_out(self, fresh) if fresh else self

    def zoom_in(self, *modules: str | Iterable[str]) -> SparkGraph:
        wanted = module_names(self.storage, modules) & self.zoomed
        return steps.zoom_in(self, wanted) if wanted else self

    def delete(self, nodes: Nodes) -> SparkGraph:
        return steps.delete(self, self.resolve(nodes).nodes)

    def depends(self, nodes: Nodes, on: Nodes) -> bool:
        wanted = self.resolve(nodes)
        gone = removed(self, self.resolve(on).nodes)
        levels = {self.view.levels.level[n] for n in gone.whole} | set(gone.parts)
        left = self.tables.without(wanted.frame, gone, levels)
        return not len(self.tables.some(left, 1))

    def dependents(self, on: Nodes) -> SparkSelection:
        return SparkSelection(self, removed(self, self.resolve(on).nodes))

    def ancestors(self, nodes: Nodes, distance: int | None = None) -> SparkSelection:
        return self._reached(nodes, distance, False)

    def descendants(self, nodes: Nodes, distance: int | None = None) -> SparkSelection:
        return self._reached(nodes, distance, True)

    def subgraph(self, nodes: Nodes) -> SparkGraph:
        return steps.subgraph(self, self.resolve(nodes).nodes)

    def paths(
        self, source: Nodes, target: Nodes, limit: int = 10, longest: int | None = None
    ) -> list[Path]:
        """Return paths between nodes; see :func:`graphquery.operations.paths.paths`.

        The nodes between them are collected on the driver; there may be at most `bring` of them.
        """
        starts, ends = self.resolve(source).nodes, self.resolve(target).nodes
        return paths_between(self, starts, ends, limit, longest)

    def inputs(self, nodes: Nodes) -> pa.Table:
        """Return the inputs behind nodes; see :func:`graphquery.operations.inputs.inputs`.

        They are collected on the driver, up to `bring` of them.
        """
        seeds = self.resolve(nodes)
        behind = self.tables.distinct(seeds.nodes, reached(self.view, seeds.nodes, forwards=False))
        return listed(self.storage, SparkSelection(self, behind).select(kind=Kind.TOKEN).ids)

    def difference(self, left: int, right: int) -> ExecutionDifference[SparkSelection]:
        """Compare two executions; see :func:`graphquery.operations.difference.difference`.

        The remaining nodes of executions that a deletion or a zoom has changed are collected on the
        driver, up to `bring` of them; keys of nodes are read there.
        """
        return difference(self, left, right)

    def evaluate(
        self,
        semiring: Semiring[Any],
        valuation: Mapping[Any, int] | None = None,
        nodes: Nodes | None = None,
    ) -> NodeCounts:
        """Evaluate annotations in N; see :func:`graphquery.distributed.evaluate.evaluate`."""
        return evaluate(self, semiring, valuation, nodes)

    def values(self, nodes: Nodes, stale: OfStale = "raise") -> pa.Array:
        """Return the values of v-nodes, in their order; see :func:`graphquery.values.values`.

        The tensors of aggregates that have lost some are brought to the driver, and must be within
        `bring`.
        """
        return values(self, self.ordered(nodes), stale)

    def stale(self) -> SparkSelection:
        marks = effects(self)
        if marks is None:
            return SparkSelection(self, NodeSet())
        return SparkSelection(self, self.view.restricted(marks.stale))

    def to_memory(self, limit: int | None = None) -> ProvenanceGraph:
        """Return the graph in memory, if it has no more nodes and edges than a limit, by default
        `bring`.

        Names are the same, ids are not. It is what is seen here that is brought: it cannot be
        zoomed in, and values are those stored.
        """
        bring = self.bring if limit is None else limit
        return brought(self.view, self.everything.nodes, self.columns, bring)

    def __repr__(self) -> str:
        stored = self.storage.count
        return f"<SparkGraph over {stored:,} stored nodes, {len(self.zoomed)} modules zoomed out>"

    def _reached(self, nodes: Nodes, distance: int | None, forwards: bool) -> SparkSelection:
        seeds = self.resolve(nodes).nodes
        if distance is None:
            return SparkSelection(self, reached(self.view, seeds, forwards=forwards))
        return SparkSelection(self, within_distance(self.view, seeds, distance, forwards=forwards))


def difference(graph: SparkGraph, left: int, right: int) -> ExecutionDifference[SparkSelection]:
    """Return the nodes of two executions that have no counterpart in the other.

    Segments that are shown whole are compared without asking Spark.

    Raises
    ------
    UnknownNameError
        An execution that the graph does not have.
    GraphError
        More nodes than are brought to the driver.
    """
    storage, tables = graph.storage, graph.tables
    check_executions(storage, left, right)
    nodes = graph.view.of(
        number
        for number, segment in enumerate(storage.segments)
        if segment.execution in (left, right)
    )
    if nodes.rows > graph.bring:
        raise GraphError(
            f"{nodes.rows:,} nodes are more than the {graph.bring:,} that are brought to the"
            " driver.\nGive the graph a greater `bring`, or compare executions that are whole."
        )
    frame = nodes.frame()
    ids = np.empty(0, dtype=np.int64) if frame is None else tables.ids(frame)

    def shown(position: int) -> Array:
        if position in nodes.whole:
            return storage.ids_of(position)
        start, end = storage.bases[position : position + 2].tolist()
        first, last = np.searchsorted(ids, [start, end])
        return ids[first:last]

    only_left, only_right, summary = unmatched(storage, left, right, shown)
    left_nodes, right_nodes = (graph.view.given(ids) for ids in (only_left, only_right))
    return ExecutionDifference(
        SparkSelection(graph, left_nodes), SparkSelection(graph, right_nodes), summary
    )
