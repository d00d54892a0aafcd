"""What stores have to explore, and graphs in memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from graphquery import ProvenanceGraph, Segment
from graphquery.store import Snapshot, Store
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import PageOpener, Source
from lipstick.explorer.graphs.outline import Outline
from lipstick.explorer.graphs.source import GraphSource
from lipstick.systems import pages, resolve


def open_graph(name: str, path: Path) -> Source:
    """Open a store: by the page of a system if it has its records, else as a graph.

    Raises
    ------
    ExploreError
        Of a run without provenance.
    StoreError
        Where there is no store.
    """
    snapshot = Store.open(path).snapshot()
    folders = {record.partition("/")[0] for record in snapshot.records}
    for page in pages():
        if page.record in folders:
            opener: PageOpener = resolve(page.opens)
            return opener(name, path)
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
