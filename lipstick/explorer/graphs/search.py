"""Search in a graph: modules, groups of nodes, and nodes by their names, keys and values."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphquery import GraphError, Kind, ProvenanceGraph, Segment
from graphquery.store import Snapshot
from lipstick.explorer.cells import cell, text_ranks
from lipstick.explorer.graphs.outline import Outline
from lipstick.explorer.graphs.picture import inner_name
from semiring.base import Array

LISTED = 50
"""Findings of each sort at most."""

SECONDS = 2.0
"""Seconds for which values are read; a search that ends then counts the nodes it read."""

_BATCH = 500_000
"""Rows of a file that are read at once."""

_ORDINAL = re.compile(r"(?P<head>.*)\[(?P<ordinal>\d{1,12})\]")


class GraphSearch:
    """Search in the names of a graph's segments and in the values of its nodes.

    Parameters
    ----------
    graph
        Returns the graph; called where a node is named.
    snapshot
        The stored values, if there are any.
    """

    def __init__(
        self, outline: Outline, graph: Callable[[], ProvenanceGraph], snapshot: Snapshot | None
    ) -> None:
        self._outline = outline
        self._graph = graph
        self._snapshot = snapshot
        self._in_memory: pa.ChunkedArray | None = None

    @cached_property
    def _names(self) -> pa.Array:
        return pa.array([segment.name.lower() for segment in self._outline.segments], pa.string())

    @cached_property
    def _files(self) -> dict[str, Array]:
        """The positions of the segments of each file, files of tokens first."""
        files: dict[str, list[int]] = {}
        for position, segment in enumerate(self._outline.segments):
            if segment.file and segment.count:
                files.setdefault(segment.file, []).append(position)
        segments = self._outline.segments
        ranked = sorted(files, key=lambda file: segments[files[file][0]].kind is not Kind.TOKEN)
        return {file: np.array(files[file], dtype=np.int64) for file in ranked}

    def find(self, text: str) -> dict[str, Any]:
        """Return what has a text in its name, key or values, whatever its case.

        ``Cars:C2`` looks for the key in the groups of nodes called so, ``Bids[3]`` for a node by
        its number. O(segments + values); values are read for `SECONDS`.

        Returns
        -------
        dict
            ``found``: per finding its ``sort``, ``name``, ``place`` and ``note``; ``total``, which
            are all that were found; where not all were read, ``searched`` nodes of ``nodes``.
        """
        lowered = text.lower()
        outline = self._outline
        found: list[dict[str, Any]] = []
        groups = [name for name in outline.groups if lowered in name.lower()]
        for name in sorted(groups, key=lambda name: (name.lower() != lowered, len(name)))[:LISTED]:
            module = name in outline.modules
            focus: dict[str, Any] = {"module": name} if module else {"relation": name}
            found.append(_finding("module" if module else "input", name, {"focus": focus}))
        named = np.flatnonzero(np.asarray(pc.match_substring(self._names, lowered)))
        exact = self._node(text)
        matches, searched = self._nodes(lowered)
        total = len(groups) + len(named) + len(matches)
        nodes = [exact] if exact is not None else []
        nodes += [node for node in matches[:LISTED].tolist() if node != exact]
        if nodes:
            graph = self._graph()
            names = graph.names(np.array(nodes))
            facts = [
                _finding(
                    "node",
                    name,
                    {"focus": {"node": node}, "node": node},
                    _where(graph.segment(node)),
                )
                for node, name in zip(nodes, names, strict=True)
            ]
            found = [*facts[:1], *found, *facts[1:]] if exact is not None else [*found, *facts]
        for position in named[:LISTED].tolist():
            segment = outline.segments[position]
            focus = {"segment": segment.name}
            if segment.kind is Kind.INVOCATION and segment.module is not None:
                focus = {"module": segment.module, "invocation": segment.invocation}
            found.append(_finding("group", segment.name, {"focus": focus}))
        answer = {"found": found, "total": total}
        if searched is not None:
            stored = sum(int(outline.stored[each].sum()) for each in self._files.values())
            nodes_there = len(self._graph().ids) if self._snapshot is None else stored
            answer |= {"searched": searched, "nodes": nodes_there}
        return answer

    def _node(self, text: str) -> int | None:
        """Return the node that is called so."""
        try:
            return self._graph().node(text)
        except GraphError:
            return None

    def _nodes(self, text: str) -> tuple[Array, int | None]:
        """Return the nodes with a text in a value, equal ones first, and how many were read."""
        until, ended = time.monotonic() + SECONDS, False
        ranked: list[tuple[Array, Array]] = []
        numbered = _ORDINAL.fullmatch(text)
        if numbered is not None:
            ordinal = int(numbered["ordinal"])
            inside = self._called(numbered["head"])
            inside = inside[self._outline.stored[inside] > ordinal]
            ranked.append((self._outline.bases[inside] + ordinal, np.zeros(len(inside))))
        head, colon, key = text.rpartition(":")
        chosen = self._called(head) if colon and key else None
        searched = 0
        for file, positions in self._files.items():
            if ended:
                break
            inside = positions if chosen is None else positions[np.isin(positions, chosen)]
            for rows, ranks, offset, count in self._matched(file, inside, key if colon else text):
                ranked.append(self._of_rows(inside, rows, ranks))
                searched += self._covered(positions, offset, count)
                ended = time.monotonic() > until
                if ended:
                    break
        unread = searched if ended else None
        if self._snapshot is None:
            ids = self._graph().ids[:_BATCH]
            unread = len(ids) if len(ids) < len(self._graph().ids) else None
            if self._in_memory is None:
                self._in_memory = pa.chunked_array([self._graph().names(ids)], pa.string())
            ranks = text_ranks(self._in_memory, text)
            ranked.append((ids[ranks < 9], ranks[ranks < 9]))
        if not ranked:
            return np.empty(0, np.int64), unread
        ids = np.concatenate([nodes for nodes, _ in ranked])
        ranks = np.concatenate([each for _, each in ranked])
        order = np.lexsort([ids, ranks])
        _, first = np.unique(ids[order], return_index=True)
        return ids[order][np.sort(first)].astype(np.int64), unread

    def _called(self, head: str) -> Array:
        """Return the positions of segments whose names end with a text, or else have it."""
        ends = np.asarray(pc.ends_with(self._names, head))
        names = ends if ends.any() else np.asarray(pc.match_substring(self._names, head))
        positions: Array = np.flatnonzero(names)
        return positions

    def _matched(
        self, file: str, positions: Array, text: str
    ) -> Iterator[tuple[Array, Array, int, int]]:
        """Yield the rows of a file with a text, their ranks, and which rows were read."""
        if self._snapshot is None or not len(positions):
            return
        segments = [self._outline.segments[position] for position in positions.tolist()]
        first = min(segment.offset for segment in segments)
        stop = max(segment.offset + segment.count for segment in segments)
        for offset in range(first, stop, _BATCH):
            count = min(_BATCH, stop - offset)
            table = self._snapshot.read(file, None, offset, count)
            rank = np.full(table.num_rows, 9, dtype=np.int64)
            for column in table.columns:
                rank = np.minimum(rank, text_ranks(column, text))
            rows = np.flatnonzero(rank < 9)
            yield rows + offset, rank[rows], offset, count

    def _of_rows(self, positions: Array, rows: Array, ranks: Array) -> tuple[Array, Array]:
        """Return the nodes of rows of a file, in every segment that has them, with their ranks."""
        outline = self._outline
        starts = np.array([outline.segments[p].offset for p in positions.tolist()], dtype=np.int64)
        low = np.searchsorted(rows, starts)
        high = np.searchsorted(rows, starts + outline.stored[positions])
        parts = [
            (outline.bases[positions[each]] + rows[a:b] - starts[each], ranks[a:b])
            for each, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True))
            if b > a
        ]
        none = np.empty(0, np.int64)
        ids, order = zip(*parts, strict=True) if parts else ((none,), (none,))
        return np.concatenate(ids), np.concatenate(order)

    def _covered(self, positions: Array, offset: int, count: int) -> int:
        """Return how many nodes have their values in some rows of their file."""
        starts = np.array([self._outline.segments[p].offset for p in positions.tolist()])
        stops = starts + self._outline.stored[positions]
        return int(
            np.maximum(np.minimum(stops, offset + count) - np.maximum(starts, offset), 0).sum()
        )


def _where(segment: Segment) -> str:
    return "" if segment.module is None else inner_name(segment)


def _finding(sort: str, name: str, place: dict[str, Any], note: str = "") -> dict[str, Any]:
    return {"sort": sort, "name": cell(name), "place": place, "note": cell(note)}
