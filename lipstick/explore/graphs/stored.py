"""Graphs to explore: of a store, and in memory."""

from __future__ import annotations

from pathlib import Path

from graphquery import ProvenanceGraph
from graphquery.store import Store
from lipstick.explore.errors import ExploreError
from lipstick.explore.graphs.outline import Outline
from lipstick.explore.graphs.source import GraphSource


def open_graph(name: str, path: Path) -> GraphSource:
    """The graph of a store; of what its log says at once, of its nodes when it has been built.

    Raises
    ------
    ExploreError
        Of a run without provenance.
    StoreError
        Where there is no store.
    """
    snapshot = Store.open(path).snapshot()
    if not snapshot.records.get("workflow", {}).get("tracked", True):
        raise ExploreError(
            f"The run in {path} has no provenance: it ran with --plain.\n"
            "Run the workflow without --plain into another store."
        )
    segments = snapshot.segments.values()

    def build() -> ProvenanceGraph:
        return ProvenanceGraph.build(segments, snapshot.edges, snapshot.column)

    opening = (
        "from graphquery import ProvenanceGraph\nfrom graphquery.store import Store\n\n"
        f"snapshot = Store.open({str(path)!r}).snapshot()\n"
        "graph = ProvenanceGraph.build(snapshot.segments.values(), snapshot.edges, snapshot.column)"
    )
    outline = Outline.of_stored(segments, snapshot.edges)
    return GraphSource(name, outline, build, opening, snapshot)


def graph_source(name: str, graph: ProvenanceGraph) -> GraphSource:
    """A graph in memory, as it is: deleted and zoomed nodes are not in its pictures of nodes."""
    outline = Outline.of_graph(graph)
    return GraphSource(name, outline, lambda: graph, "graph = ...  # the graph at hand")
