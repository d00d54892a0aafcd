"""Segments in topological order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stages:
    """Groups of segments in topological order.

    Attributes
    ----------
    groups
        Positions of segments, ascending in each group. Edges inside a group are only in those
        that are `cyclic`.
    cyclic
        For each group, whether its segments feed one another or themselves.
    """

    groups: tuple[tuple[int, ...], ...]
    cyclic: tuple[bool, ...]


def stages(count: int, links: Iterable[tuple[int, int]]) -> Stages:
    """Group segments so that edges lead from earlier groups to later ones.

    Parameters
    ----------
    count
        The segments are 0 to count - 1.
    links
        Pairs that edges join.

    Returns
    -------
    Stages
        As few groups as possible; each cycle of segments is a group. O(segments + links).
    """
    following: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    looped = set()
    for source, target in links:
        if source == target:
            looped.add(source)
        else:
            following[source].append(target)
            waiting[target] += 1
    if len(_sorted(following, list(waiting))) == count:
        parts = [[position] for position in range(count)]
    else:
        from networkx import DiGraph, strongly_connected_components

        graph = DiGraph()
        graph.add_nodes_from(range(count))
        graph.add_edges_from(links)
        parts = [sorted(part) for part in strongly_connected_components(graph)]
    return _leveled(parts, following, looped)


def _sorted(following: list[list[int]], waiting: list[int]) -> list[int]:
    """Return the topological order as far as it exists, up to the first cycle."""
    order = [position for position, count in enumerate(waiting) if count == 0]
    for position in order:
        for target in following[position]:
            waiting[target] -= 1
            if waiting[target] == 0:
                order.append(target)
    return order


def _leveled(parts: list[list[int]], following: list[list[int]], looped: set[int]) -> Stages:
    part_of = {position: number for number, part in enumerate(parts) for position in part}
    edges: list[list[int]] = [[] for _ in parts]
    waiting = [0] * len(parts)
    for source, targets in enumerate(following):
        for target in targets:
            if part_of[source] != part_of[target]:
                edges[part_of[source]].append(part_of[target])
                waiting[part_of[target]] += 1
    level = [0] * len(parts)
    for number in _sorted(edges, waiting):
        for target in edges[number]:
            level[target] = max(level[target], level[number] + 1)
    plain: dict[int, list[int]] = {}
    cyclic: dict[int, list[tuple[int, ...]]] = {}
    for number, part in enumerate(parts):
        if len(part) > 1 or part[0] in looped:
            cyclic.setdefault(level[number], []).append(tuple(part))
        else:
            plain.setdefault(level[number], []).append(part[0])
    groups: list[tuple[int, ...]] = []
    flags: list[bool] = []
    for depth in range(max(level, default=-1) + 1):
        if depth in plain:
            groups.append(tuple(sorted(plain[depth])))
            flags.append(False)
        for part_ids in cyclic.get(depth, []):
            groups.append(part_ids)
            flags.append(True)
    return Stages(tuple(groups), tuple(flags))
