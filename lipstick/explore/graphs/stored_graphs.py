"""What stores have to explore, and graphs in memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphquery import ProvenanceGraph, Segment
from graphquery.store import Snapshot, Store
from graphquery.store.streams import queries
from lipstick.explore.errors import ExploreError
from lipstick.explore.explorer import Source
from lipstick.explore.graphs.outline import Outline
from lipstick.explore.graphs.source import GraphSource

EVENTS = "events"
"""The record of stores that have reduced graphs: `lipstick.systems.events.store.RECORD`."""


def open_graph(name: str, path: Path) -> Source:
    """What is in a store: recorded streams, a reduced graph of events, or any other graph.

    Raises
    ------
    ExploreError
        Of a run without provenance.
    StoreError
        Where there is no store.
    """
    snapshot = Store.open(path).snapshot()
    if queries(snapshot.records):
        from lipstick.systems.streams.page.source import StreamSource

        return StreamSource(name, path)
    if EVENTS in snapshot.records:
        from lipstick.systems.events.page import ReductionSource

        return ReductionSource(name, path)
    return stored_graph(name, path, snapshot)


def stored_graph(
    name: str, path: Path, snapshot: Snapshot, shown: Iterable[Segment] | None = None
) -> GraphSource:
    """The graph of a store; of what its log says at once, of its nodes when it has been built.

    Parameters
    ----------
    shown
        Its segments, as pictures are to group them; None: as they are stored.

    Raises
    ------
    ExploreError
        Of a run without provenance.
    """
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
    outline = Outline.of_stored(segments if shown is None else shown, snapshot.edges)
    return GraphSource(name, outline, build, opening, snapshot)


def graph_source(name: str, graph: ProvenanceGraph) -> GraphSource:
    """A graph in memory, as it is: deleted and zoomed nodes are not in its pictures of nodes."""
    outline = Outline.of_graph(graph)
    return GraphSource(name, outline, lambda: graph, "graph = ...  # the graph at hand")
