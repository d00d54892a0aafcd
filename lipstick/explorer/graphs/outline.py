"""A graph from afar: its segments and the edges between them, as arrays.

A graph of ten million nodes has some thousands of segments. What is seen of modules, invocations
and relations needs no more than these, and none of the arrays of nodes and edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphquery import EdgeSet, Kind, ProvenanceGraph, Segment
from semiring.base import Array

NONE = -1


@dataclass(frozen=True, slots=False, eq=False)
class Outline:
    """Segments, and which of them edges join.

    Attributes
    ----------
    segments
        In the order of their nodes' ids.
    sources, targets
        int64, the positions of segments that edges join, each pair once.
    weights
        int64, how many edges each pair has; 0 where that is not known.
    left
        int64, how many nodes of each segment are in the graph; None: all.
    """

    segments: tuple[Segment, ...]
    sources: Array
    targets: Array
    weights: Array
    left: Array | None = None

    @classmethod
    def of_stored(cls, segments: Iterable[Segment], edges: Sequence[EdgeSet]) -> Outline:
        """Return the outline of a store's graph, from its log alone."""
        known = tuple(segments)
        position = {segment.name: number for number, segment in enumerate(known)}
        count = len(edges)
        sources = np.fromiter((position[e.source] for e in edges), np.int64, count)
        targets = np.fromiter((position[e.target] for e in edges), np.int64, count)
        weights = np.fromiter((e.count for e in edges), np.int64, count)
        return cls(known, *merged(sources, targets, weights, len(known)))

    @classmethod
    def of_graph(cls, graph: ProvenanceGraph) -> Outline:
        """The outline of a graph in memory; of its edges, which segments they join."""
        storage = graph.storage
        links = np.array(storage.links, dtype=np.int64).reshape(-1, 2)
        none = np.zeros(len(links), dtype=np.int64)
        sizes = None
        if graph.visible is not None:
            running = np.concatenate([[0], np.cumsum(graph.visible[: storage.count])])
            sizes = np.diff(running[storage.bases])
        return cls(graph.segments, links[:, 0], links[:, 1], none, sizes)

    @cached_property
    def stored(self) -> Array:
        """The number of nodes of each segment, in the graph or not."""
        return np.fromiter((s.count for s in self.segments), np.int64, len(self.segments))

    @property
    def counts(self) -> Array:
        """The number of nodes of each segment that are in the graph."""
        return self.stored if self.left is None else self.left

    @cached_property
    def there(self) -> Array:
        """Boolean array: the segments that have nodes in the graph."""
        there: Array = (self.counts > 0) | (self.stored == 0)
        return there

    @cached_property
    def bases(self) -> Array:
        """The first id of every segment, and the number of nodes."""
        return np.concatenate([[0], np.cumsum(self.stored)])

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of every segment by its name."""
        return {segment.name: number for number, segment in enumerate(self.segments)}

    @cached_property
    def groups(self) -> list[str]:
        """Boxes of the picture from afar: modules, and relations and names outside of modules."""
        return list(dict.fromkeys(_group(segment) for segment in self.segments))

    @cached_property
    def group(self) -> Array:
        """The place in `groups` of every segment."""
        number = {name: number for number, name in enumerate(self.groups)}
        group_numbers = (number[_group(segment)] for segment in self.segments)
        return np.fromiter(group_numbers, np.int64, len(self.segments))

    @cached_property
    def modules(self) -> frozenset[str]:
        """The names of modules."""
        return frozenset(s.module for s in self.segments if s.module is not None)

    @cached_property
    def invocation(self) -> Array:
        """The number of the invocation of every segment, from 1; `NONE` where there is none."""
        numbers = (NONE if s.invocation is None else s.invocation for s in self.segments)
        return np.fromiter(numbers, np.int64, len(self.segments))

    @cached_property
    def execution(self) -> Array:
        """The number of the execution of every segment, from 0; `NONE` where there is none."""
        numbers = (NONE if s.execution is None else s.execution for s in self.segments)
        return np.fromiter(numbers, np.int64, len(self.segments))

    @cached_property
    def node_count(self) -> int:
        """The number of nodes."""
        return int(self.counts.sum())

    @cached_property
    def executions(self) -> list[dict[str, int]]:
        """The number of each execution, with the counts of its invocations and nodes."""
        there = self.execution != NONE
        size = int(self.execution.max(initial=NONE)) + 1
        nodes = np.bincount(self.execution[there], self.counts[there], minlength=size)
        kinds = np.fromiter(
            (s.kind is Kind.INVOCATION for s in self.segments), np.bool_, len(self.segments)
        )
        calls = np.bincount(self.execution[there & kinds], minlength=size)
        return [
            {"execution": number, "invocations": int(calls[number]), "nodes": int(nodes[number])}
            for number in range(size)
            if nodes[number]
        ]


def _group(segment: Segment) -> str:
    """Return the module of a segment, or else its relation, or else the start of its name."""
    return segment.module or segment.relation or segment.name.partition(":")[0]


def merged(sources: Array, targets: Array, weights: Array, size: int) -> tuple[Array, Array, Array]:
    """Pairs each once, with the sum of their weights."""
    keys = sources * max(size, 1) + targets
    distinct_keys, inverse = np.unique(keys, return_inverse=True)
    total = np.bincount(inverse, weights, minlength=len(distinct_keys)).astype(np.int64)
    return distinct_keys // max(size, 1), distinct_keys % max(size, 1), total
