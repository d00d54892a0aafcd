"""The published algorithm as printed, its repair, and its windows: for comparison, edge by edge.

Source: Suriarachchi, Withana, Plale, Algorithm 1 and section IV.C. It loses pairs as soon as an
intermediate entity has two readers or a group edges of both kinds; `Reducer` is exact. What it
compares itself with, a matrix of dependencies, is in `baseline`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import StrEnum
from typing import TypeAlias

Vertex: TypeAlias = str | int
Pair: TypeAlias = tuple[Vertex, Vertex]


class Flush(StrEnum):
    """The grouping of a reducer's state in a flush, which the paper leaves open."""

    EDGE = "edge"
    """Every edge alone."""
    SOURCE = "source"
    """The edges that leave a vertex together, as the authors' code does."""
    DEST = "destination"
    """The edges that enter a vertex together."""
    WHOLE = "whole"
    """All edges in one group."""


class Published:
    """The state of Algorithm 1: a set of edges, by source and by destination.

    Parameters
    ----------
    fixed
        Insert a group whole before anything of it is composed, and then eliminate every vertex it
        touched that has edges on both sides. As printed, edges composed in one group miss each
        other.
    """

    def __init__(self, *, fixed: bool = False) -> None:
        self._fixed = fixed
        self._out: dict[Vertex, dict[Pair, None]] = {}
        self._into: dict[Vertex, dict[Pair, None]] = {}

    @property
    def edges(self) -> set[Pair]:
        """The edges that are held."""
        return {edge for edges in self._out.values() for edge in edges}

    def __len__(self) -> int:
        return sum(map(len, self._out.values()))

    def add(self, group: Iterable[Pair]) -> list[Pair]:
        """Add a group of edges (addEdgeGroup).

        Returns
        -------
        list
            The edges that were deleted from the state.
        """
        if self._fixed:
            return self._add_whole(list(group))
        deleted: list[Pair] = []
        groups, passed = [list(group)], []
        # The recursion of the print, unrolled: deletions of a level follow those below it.
        while groups:
            composed, dropped = self._compose(groups.pop())
            passed.append(dropped)
            if composed:
                groups.append(composed)
        for dropped in reversed(passed):
            for edge in dropped:
                self._delete(edge)
            deleted += dropped
        return deleted

    def flush(self, unit: Flush = Flush.WHOLE) -> list[list[Pair]]:
        """Take out all edges, in groups."""
        edges = [edge for each in self._out.values() for edge in each]
        if unit is Flush.EDGE:
            groups = [[edge] for edge in edges]
        elif unit is Flush.SOURCE:
            groups = [list(each) for each in self._out.values() if each]
        elif unit is Flush.DEST:
            groups = [list(each) for each in self._into.values() if each]
        else:
            groups = [edges] if edges else []
        self._out, self._into = {}, {}
        return groups

    def _compose(self, group: list[Pair]) -> tuple[list[Pair], list[Pair]]:
        composed: dict[Pair, None] = {}
        dropped: dict[Pair, None] = {}
        for edge in group:
            source, dest = edge
            if before := self._into.get(source):
                composed.update(((effect, dest), None) for effect, _ in before)
                dropped.update(before)
            elif after := self._out.get(dest):
                composed.update(((source, cause), None) for _, cause in after)
                dropped.update(after)
            else:
                self._insert(edge)
        return list(composed), list(dropped)

    def _add_whole(self, group: list[Pair]) -> list[Pair]:
        for edge in group:
            self._insert(edge)
        touched = deque(dict.fromkeys(end for edge in group for end in edge))
        deleted: list[Pair] = []
        while touched:
            vertex = touched.popleft()
            into, out = list(self._into.get(vertex, ())), list(self._out.get(vertex, ()))
            if not into or not out:
                continue
            for edge in (*into, *out):
                self._delete(edge)
            deleted += [*into, *out]
            for effect, _ in into:
                for _, cause in out:
                    self._insert((effect, cause))
                    touched += (effect, cause)
        return deleted

    def _insert(self, edge: Pair) -> None:
        self._out.setdefault(edge[0], {})[edge] = None
        self._into.setdefault(edge[1], {})[edge] = None

    def _delete(self, edge: Pair) -> None:
        self._out.get(edge[0], {}).pop(edge, None)
        self._into.get(edge[1], {}).pop(edge, None)


class Remembered(StrEnum):
    """The edges that a sliding window retains; the paper allows three readings."""

    RAW = "raw"
    """The last edges that arrived."""
    DELETED = "deleted"
    """The last edges that were deleted from the state."""
    TRANSITIVE = "transitive"
    """The last edges that arrived; what is composed with them is matched with them again."""


class WindowedReducer:
    """Algorithm 1 whose arriving edges are also matched with a sliding window.

    Parameters
    ----------
    size
        Elements that the window retains.
    remembered
        Which.
    """

    def __init__(self, size: int, remembered: Remembered = Remembered.RAW) -> None:
        self._state = Published()
        self._remembered = remembered
        self._window: deque[Pair] = deque()
        self._size = size
        self._out: dict[Vertex, dict[Pair, int]] = {}
        self._into: dict[Vertex, dict[Pair, int]] = {}

    @property
    def edges(self) -> set[Pair]:
        """The open edges, without edges that are only in the window."""
        return self._state.edges

    def add(self, group: Iterable[Pair]) -> None:
        """Add edges, one after another."""
        for edge in group:
            matched = self._matches(edge)
            deleted = self._state.add([edge])
            if matched:
                deleted += self._state.add(matched)
            kept = deleted if self._remembered is Remembered.DELETED else [edge]
            for each in kept:
                self._retain(each)

    def _matches(self, edge: Pair) -> list[Pair]:
        matches: dict[Pair, None] = {}
        waiting = [edge]
        while waiting:
            source, dest = waiting.pop()
            composed = [(effect, dest) for effect, _ in self._into.get(source, ())]
            composed += [(source, cause) for _, cause in self._out.get(dest, ())]
            fresh = [each for each in composed if each not in matches]
            matches.update(dict.fromkeys(fresh))
            if self._remembered is Remembered.TRANSITIVE:
                waiting += fresh
        return list(matches)

    def _retain(self, edge: Pair) -> None:
        if len(self._window) == self._size:
            oldest = self._window.popleft()
            self._count(oldest, -1)
        self._window.append(edge)
        self._count(edge, 1)

    def _count(self, edge: Pair, change: int) -> None:
        for index, vertex in ((self._out, edge[0]), (self._into, edge[1])):
            edges = index.setdefault(vertex, {})
            edges[edge] = edges.get(edge, 0) + change
            if not edges[edge]:
                del edges[edge]
            if not edges:
                del index[vertex]
