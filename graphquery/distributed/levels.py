"""The order in which the Spark engine visits segments, and properties of edges from metadata.

Segments stand on levels, so that edges lead upwards. The zoomed nodes of the invocations have
segments and levels too, whether they are shown or not: one order then serves a graph however it is
zoomed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from graphquery.model import EdgeSet, Kind, Ordinals, Port, Segment
from graphquery.stages import stages
from graphquery.storage import JOINT_LABELS, role
from semiring.base import Array

Link: TypeAlias = tuple[int, int]
"""Two segments joined by edges, or two levels."""

_JOINT_KINDS = frozenset({Kind.INPUT, Kind.OUTPUT, Kind.STATE})


@dataclass(frozen=True, slots=True)
class Joining:
    """The properties of a link's edges that metadata alone shows.

    Attributes
    ----------
    reaches_all, leaves_all
        Whether an edge leads to every node of the target, and from every node of the source.
    operands
        Whether there are edges other than to the right of `⊖`, and whether these reach all.
    single
        Whether no node of the target has more than one edge.
    """

    reaches_all: bool
    leaves_all: bool
    operands: bool
    operands_reach_all: bool
    single: bool


class Levels:
    """Segments by number, in the order of a graph's ids; zoomed ones stand behind the stored.

    Parameters
    ----------
    segments
        As stored.
    edge_sets
        As stored; their ends are known segments.
    """

    def __init__(self, segments: tuple[Segment, ...], edge_sets: Iterable[EdgeSet]) -> None:
        self.stored = segments
        self.invocations = tuple(n for n, s in enumerate(segments) if s.kind is Kind.INVOCATION)
        shown = tuple(
            Segment(
                f"{segments[n].name}[zoomed]",
                Kind.ZOOMED,
                segments[n].module or segments[n].label,
                segments[n].count,
                segments[n].module,
                segments[n].invocation,
                segments[n].execution,
            )
            for n in self.invocations
        )
        self.segments = segments + shown
        self.zoomed_of = {n: len(segments) + k for k, n in enumerate(self.invocations)}
        self.position = {segment.name: number for number, segment in enumerate(segments)}
        self.bases: Array = np.zeros(len(self.segments) + 1, dtype=np.int64)
        np.cumsum([segment.count for segment in self.segments], out=self.bases[1:])
        self.edge_sets = tuple(edges for edges in edge_sets if edges.count)
        self.links = self._joined()
        self.overlay_links = self._overlay_links()
        self.level, self.cyclic = self._leveled()
        self.count = max(self.level, default=-1) + 1

    @property
    def node_count(self) -> int:
        """Number of stored nodes."""
        return int(self.bases[len(self.stored)])

    @cached_property
    def at(self) -> Mapping[int, tuple[int, ...]]:
        """The segments of every level."""
        by_level: dict[int, list[int]] = defaultdict(list)
        for number, level in enumerate(self.level):
            by_level[level].append(number)
        return {level: tuple(numbers) for level, numbers in by_level.items()}

    @cached_property
    def pairs(self) -> Mapping[Link, frozenset[Link]]:
        """The links between two levels, by levels."""
        return self.paired(self.links)

    @cached_property
    def joint(self) -> frozenset[int]:
        """The segments of product nodes, which need all of their edges."""
        return frozenset(
            number
            for number, segment in enumerate(self.stored)
            if segment.label in JOINT_LABELS or segment.kind in _JOINT_KINDS
        )

    @cached_property
    def single(self) -> frozenset[int]:
        """The segments whose nodes have at most one edge."""
        links = self.into
        return frozenset(
            target
            for target, sources in links.items()
            if len(sources) == 1 and self.links[sources[0], target].single
        )

    @cached_property
    def into(self) -> Mapping[int, tuple[int, ...]]:
        """By segment, the segments with edges into it."""
        sources_by_target: dict[int, list[int]] = defaultdict(list)
        for source, target in self.links:
            sources_by_target[target].append(source)
        return {target: tuple(sources) for target, sources in sources_by_target.items()}

    @cached_property
    def modules(self) -> Mapping[str, Mapping[Kind, tuple[int, ...]]]:
        """The stored segments of every module, by role."""
        by_module: dict[str, dict[Kind, list[int]]] = {}
        for number, segment in enumerate(self.stored):
            if segment.module is not None:
                by_role = by_module.setdefault(segment.module, {})
                by_role.setdefault(role(segment), []).append(number)
        return {
            module: {kind: tuple(numbers) for kind, numbers in by_role.items()}
            for module, by_role in by_module.items()
        }

    def paired(self, links: Iterable[Link]) -> dict[Link, frozenset[Link]]:
        """Links by the levels they join."""
        by_levels: dict[Link, set[Link]] = defaultdict(set)
        for source, target in links:
            by_levels[self.level[source], self.level[target]].add((source, target))
        return {pair: frozenset(joined) for pair, joined in by_levels.items()}

    def segment_of(self, ids: Array) -> Array:
        """Return the segments of nodes."""
        return np.searchsorted(self.bases, ids, side="right") - 1

    def _joined(self) -> dict[Link, Joining]:
        sets: dict[Link, list[EdgeSet]] = defaultdict(list)
        for edges in self.edge_sets:
            link = self.position[edges.source], self.position[edges.target]
            sets[link].append(edges)
        return {link: self._joining(link, edge_sets) for link, edge_sets in sets.items()}

    def _joining(self, link: Link, sets: list[EdgeSet]) -> Joining:
        source, target = (self.stored[number].count for number in link)

        def everywhere(edges: EdgeSet, ordinals: Ordinals, count: int) -> bool:
            if ordinals is Ordinals.ALL:
                return edges.count == count
            return ordinals is Ordinals.ONE and count == 1

        operands = [edges for edges in sets if edges.port != Port.SUBTRAHEND]
        return Joining(
            any(everywhere(edges, edges.targets, target) for edges in sets),
            any(everywhere(edges, edges.sources, source) for edges in sets),
            bool(operands),
            any(everywhere(edges, edges.targets, target) for edges in operands),
            len(sets) == 1 and (sets[0].targets is Ordinals.ALL or sets[0].count == 1),
        )

    def _overlay_links(self) -> frozenset[Link]:
        """Return the possible links of zoomed nodes: from inputs, and to outputs."""
        ends: dict[tuple[str | None, int | None], list[int]] = defaultdict(list)
        for number in self.invocations:
            segment = self.stored[number]
            ends[segment.module, segment.invocation].append(self.zoomed_of[number])
        overlay: set[Link] = set()

        def join(zoomed: int, number: int) -> None:
            kind = role(self.stored[number])
            if kind is Kind.INPUT:
                overlay.add((number, zoomed))
            elif kind is Kind.OUTPUT:
                overlay.add((zoomed, number))

        for number, segment in enumerate(self.stored):
            for zoomed in ends.get((segment.module, segment.invocation), ()):
                join(zoomed, number)
        for source, target in self.links:
            if source in self.zoomed_of:
                join(self.zoomed_of[source], target)
        return frozenset(overlay)

    def _leveled(self) -> tuple[list[int], frozenset[int]]:
        """Return the level of every segment, and the levels with edges inside them."""
        links = [*self.links, *self.overlay_links]
        order = stages(len(self.segments), links)
        group = [0] * len(self.segments)
        for number, members in enumerate(order.groups):
            for member in members:
                group[member] = number
        before: dict[int, set[int]] = defaultdict(set)
        for source, target in links:
            if group[source] != group[target]:
                before[group[target]].add(group[source])
        depth: list[int] = []
        for number in range(len(order.groups)):
            depth.append(max((depth[other] + 1 for other in before[number]), default=0))
        cyclic = frozenset(d for d, inner in zip(depth, order.cyclic, strict=True) if inner)
        return [depth[number] for number in group], cyclic
