"""A provenance graph as the explorer asks it: in memory, or of a store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery import GraphError, Kind, ProvenanceGraph, Segment
from graphquery.reduced_nodes import is_reduced
from graphquery.store import Snapshot, Store
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell, cells, columns
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import ExplorerSource, PageOpener
from lipstick.explorer.graphs import nodes as node_pictures
from lipstick.explorer.graphs import picture
from lipstick.explorer.graphs.boxes import Focus, Marks, Picture
from lipstick.explorer.graphs.node_values import columns_of_tuple, compared_rows, node_rows
from lipstick.explorer.graphs.nodes import Marked, marked
from lipstick.explorer.graphs.outline import NONE, Outline
from lipstick.explorer.graphs.search import LISTED, GraphSearch
from lipstick.explorer.params import Params
from lipstick.outer import resolve
from lipstick.systems import pages
from semiring.base import Array

_EXECUTIONS = 2_000

EXPORTED = 20_000
"""Marked nodes that are listed at once, as a file has them, at most."""


class GraphSource:
    """A graph, by its outline at once and by its arrays when they have been built.

    Parameters
    ----------
    name
        What people call it.
    outline
        Its segments.
    build
        Makes the graph; called once, by another thread, at the first question.
    opening
        The Python that opens it, for who copies a question.
    snapshot
        The stored content, where there is one.
    """

    kind = "graph"

    def __init__(
        self,
        name: str,
        outline: Outline,
        build: Callable[[], ProvenanceGraph],
        opening: str,
        snapshot: Snapshot | None = None,
    ) -> None:
        self.name = name
        self.outline = outline
        self._snapshot = snapshot
        self._opening = opening
        self._graph: ProvenanceGraph | None = None
        self._failed: Exception | None = None
        self._thread = threading.Thread(target=self._make, args=(build,), daemon=True)
        self._started = False
        self._search = GraphSearch(outline, lambda: self.graph(Budget()), snapshot)
        self._marked = lru_cache(maxsize=16)(self._mark)

    @property
    def _reduced(self) -> bool:
        return self._snapshot is not None and is_reduced(self._snapshot.segments.values())

    @property
    def version(self) -> int | None:
        """The commit of the store that it is of; None in memory."""
        return None if self._snapshot is None else self._snapshot.version

    def _make(self, build: Callable[[], ProvenanceGraph]) -> None:
        try:
            self._graph = build()
        except Exception as error:  # told to whoever asks for it
            self._failed = error

    def start(self) -> None:
        """Begin to build the graph, if nobody has."""
        if not self._started:
            self._started = True
            self._thread.start()

    def graph(self, budget: Budget) -> ProvenanceGraph:
        """The graph, as soon as it has been built.

        Raises
        ------
        TooLongError
            When that takes longer than the answer may.
        """
        self.start()
        while self._graph is None:
            if self._failed is not None:
                raise self._failed
            budget.check()
            self._thread.join(0.05)
        return self._graph

    @property
    def views(self) -> dict[str, Callable[[Params, Budget], dict[str, Any]]]:
        """The questions, by name."""
        return {
            "about": self.about,
            "picture": self.picture,
            "node": self.node,
            "nodes": self.nodes,
            "marked": self.marked,
            "follow": self.follow,
            "search": self.search,
            "compare": self.compare,
            "paths": self.paths,
        }

    # -- what there is ---------------------------------------------------------------------------

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the size of the graph, and its executions."""
        del params, budget
        self.start()
        outline = self.outline
        executions = outline.executions
        return {
            "nodes": outline.node_count,
            "edges": int(outline.weights.sum()) or None,
            "segments": len(outline.segments),
            "modules": len(outline.modules),
            "executions": executions[:_EXECUTIONS],
            "execution_count": len(executions),
            "ready": self._graph is not None,
            "deletable": not self._reduced,
            "python": self._opening,
        }

    def picture(self, params: Params, budget: Budget) -> dict[str, Any]:
        """A picture; see :mod:`lipstick.explorer.graphs.picture`."""
        focus = params.mapping("focus")
        matched_nodes = self._marks(params, budget)
        marks = None if matched_nodes is None else matched_nodes.marks
        answer = self._picture(focus, params, marks, budget)
        if matched_nodes is not None:
            answer["marked"] = matched_nodes.counts
            answer["steps"] = matched_nodes.steps
        return answer

    def _picture(
        self, focus: Focus, params: Params, marks: Marks | None, budget: Budget
    ) -> dict[str, Any]:
        outline, focus_params = self.outline, Params(focus)
        start = focus_params.integer("start", 0)
        executions = self._executions(params)
        if "node" in focus:
            graph = self.graph(budget)
            node = self._node(graph, focus["node"])
            back, forth = params.integer("back", 2, 1, 12), params.integer("forth", 2, 1, 12)
            return node_pictures.neighbourhood(
                Picture(outline=outline, marks=marks), graph, node, back, forth, budget
            )
        if "segment" in focus:
            name = self._segment(focus_params)
            return node_pictures.segment(outline, self.graph(budget), name, start, marks)
        if "relation" in focus:
            name = focus_params.text("relation")
            if name not in outline.groups:
                raise ExploreError(f"The graph has no relation {name!r} outside of modules.")
            return picture.relation(outline, name, start, marks)
        if "invocation" in focus:
            number = focus_params.integer("invocation", 1)
            return picture.invocation(outline, focus_params.text("module"), number, marks)
        if "module" in focus:
            return picture.module(outline, focus_params.text("module"), start, marks, executions)
        return picture.everything(outline, marks, executions)

    def _executions(self, params: Params) -> Array | None:
        """Return a Boolean array, True for segments of some executions or of none; None: all."""
        chosen = params.integers("executions")
        if not chosen:
            return None
        first, last = chosen[0], chosen[-1]
        number = self.outline.execution
        there: Array = (number == NONE) | ((number >= first) & (number <= last))
        return there

    # -- marks -----------------------------------------------------------------------------------

    def _marks(self, params: Params, budget: Budget) -> Marked | None:
        wanted = params.mapping("marks")
        if not wanted:
            return None
        given = Params(wanted)
        graph = self.graph(budget)
        names = given.items("nodes")
        numbers = tuple(self._node(graph, name) for name in names)
        step = given.integer("step", -1)
        return self._marked(given.text("mode"), numbers, None if step < 0 else step)

    def _mark(self, mode: str, numbers: tuple[int, ...], step: int | None) -> Marked:
        assert self._graph is not None
        return marked(self._graph, mode, numbers, step)

    def _node(self, graph: ProvenanceGraph, given: Any) -> int:
        """The id of a node that is given by its id or name."""
        if isinstance(given, bool) or not isinstance(given, int | str):
            raise ExploreError("A node is given by its name.")
        return int(graph.resolve(given)[0])

    # -- nodes -----------------------------------------------------------------------------------

    def node(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the facts about a node."""
        graph = self.graph(budget)
        node = self._node(graph, params.item("node"))
        (row,) = node_rows(graph, [node])
        before, after = graph.ancestors([node], 1), graph.descendants([node], 1)
        budget.check()
        values: dict[str, Any] = {}
        if self._snapshot is not None and node < graph.storage.count:
            values = columns_of_tuple(self._snapshot, graph, node)
        row.pop("stale")
        name = row["name"]
        return {
            "id": node,
            "facts": {key: cell(value) for key, value in row.items() if value not in (None, "")},
            "tuple": {str(key): cell(value) for key, value in values.items()},
            "row": _row_of(graph.segment(node), values),
            "made_of": self._named(graph, before.ids),
            "makes": self._named(graph, after.ids),
            "python": f"{self._opening}\ngraph.ancestors({name!r})"
            + ("" if self._reduced else f"\ngraph.delete([{name!r}]).stale()"),
        }

    def _named(self, graph: ProvenanceGraph, ids: Array) -> dict[str, Any]:
        shown = ids[:LISTED]
        pairs = zip(shown.tolist(), graph.names(shown), strict=True)
        return {"count": len(ids), "nodes": [{"id": i, "name": cell(n)} for i, n in pairs]}

    def _segment(self, params: Params) -> str:
        name = params.text("segment")
        if name not in self.outline.position:
            raise ExploreError(f"The graph has no segment {name!r}.")
        return name

    def nodes(self, params: Params, budget: Budget) -> dict[str, Any]:
        """The nodes of a segment as rows of a table, with the columns of their tuples."""
        name = self._segment(params)
        graph = self.graph(budget)
        position = self.outline.position[name]
        offset, limit = params.integer("offset", 0), params.integer("limit", 100, 1, 200)
        first, stop = int(self.outline.bases[position]), int(self.outline.bases[position + 1])
        ids = np.arange(min(first + offset, stop), min(first + offset + limit, stop))
        table = pa.table({"node": graph.names(ids)})
        segment = self.outline.segments[position]
        if self._snapshot is not None and segment.file is not None and len(ids):
            read = self._snapshot.read(segment.file, None, segment.offset + offset, len(ids))
            for column in read.column_names:
                table = table.append_column(column, read.column(column))
        return {
            "columns": columns(table.schema),
            "rows": cells(table),
            "ids": ids.tolist(),
            "offset": offset,
            "total": stop - first,
        }

    def marked(self, params: Params, budget: Budget) -> dict[str, Any]:
        """The nodes with a mark as rows of a table; of a deletion with old and new values.

        Parameters
        ----------
        params
            ``marks``, as a picture takes them; ``mark``, one of their kinds; ``offset``, ``limit``.
        """
        matched_nodes, mark = self._marks(params, budget), params.text("mark")
        if matched_nodes is None or mark not in matched_nodes.marks.nodes:
            raise ExploreError(f"No nodes are marked as {mark!r}.")
        ids, after = matched_nodes.marks.nodes[mark], matched_nodes.marks.after
        offset = params.integer("offset", 0, 0)
        limit = params.integer("limit", 100, 1, EXPORTED)
        shown = ids[offset : offset + limit]
        graph = self.graph(budget)
        # What is gone has no new value.
        after = None if mark == "gone" else after
        sides = ["value"] if after is None else ["old", "new"]
        named = ["node", *sides, "label", "module", "invocation"]
        return {
            "columns": [{"name": name, "kind": "text"} for name in named],
            "rows": compared_rows(graph, after, shown),
            "ids": shown.tolist(),
            "offset": offset,
            "total": len(ids),
        }

    def search(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return findings in names and values; see :meth:`GraphSearch.find`."""
        text = params.text("text").strip()
        if not text:
            return {"found": [], "total": 0}
        self.graph(budget)
        return self._search.find(text)

    def follow(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the tokens of a row of a relation, and how many nodes are made of each.

        Parameters
        ----------
        params
            ``relation``, and ``key``, its key as cells.
        """
        relation, key = params.text("relation"), "|".join(map(str, params.items("key")))
        segments = self.outline.segments
        named = [s.name for s in segments if s.kind is Kind.TOKEN and s.relation == relation]
        nodes = []
        graph = self.graph(budget) if named else None
        for name in named[:LISTED]:
            budget.check()
            assert graph is not None
            try:
                node = graph.node(f"{name}:{key}")
            except GraphError:
                continue  # this segment has no row with the key
            made = len(graph.descendants([node]).ids)
            nodes.append({"id": node, "name": cell(f"{name}:{key}"), "makes": made})
        return {"nodes": nodes, "partial": len(named) > LISTED}

    # -- comparisons -----------------------------------------------------------------------------

    def compare(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the difference between two executions."""
        graph = self.graph(budget)
        left, right = params.integer("left", 0), params.integer("right", 0)
        difference = graph.difference(left, right)
        return {
            "columns": columns(difference.summary.schema),
            "rows": cells(difference.summary.slice(0, 200)),
            "total": difference.summary.num_rows,
            "only_left": self._named(graph, difference.only_left.ids),
            "only_right": self._named(graph, difference.only_right.ids),
            "python": f"{self._opening}\ngraph.difference({left}, {right}).summary",
        }

    def paths(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Paths from one node to another, the shortest first."""
        graph = self.graph(budget)
        source, target = (self._node(graph, params.item(end)) for end in ("source", "target"))
        found_paths = graph.paths([source], [target], limit=10)
        shown: list[Sequence[dict[str, Any]]] = [
            self._named(graph, np.array(path))["nodes"] for path in found_paths
        ]
        names = graph.names([source, target])
        return {
            "paths": shown,
            "python": f"{self._opening}\ngraph.paths({names[0]!r}, {names[1]!r})",
        }


def _row_of(segment: Segment, values: dict[str, Any]) -> list[str | None] | None:
    """Return the relation and key of a token, by which other sources know its row."""
    if segment.kind is not Kind.TOKEN or segment.relation is None or not segment.key:
        return None
    if not all(name in values for name in segment.key):
        return None
    return [segment.relation, *(cell(values[name]) for name in segment.key)]


def open_graph(name: str, path: Path) -> ExplorerSource:
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
    """Return the graph of a store: its outline at once, its nodes when it has been built.

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
