"""Pictures of nodes: some of a segment, and one with what it is made of and makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphquery import ProvenanceGraph, Segment
from graphquery.values import effects
from lipstick.display.markup import counted
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.graphs.boxes import Focus, Marks, Picture
from lipstick.explorer.graphs.node_values import changed
from lipstick.explorer.graphs.outline import Outline
from lipstick.explorer.graphs.picture import crumbs_of, inner_name
from semiring.arrays.segments import ascending, common, mask_of, outside, union
from semiring.base import Array

NODES = 40
"""Nodes of a segment that are drawn at once."""

STEP, AHEAD = 24, 120
"""Neighbours drawn of one step, and nodes of one picture; the rest are counted."""


def segment(
    outline: Outline, graph: ProvenanceGraph, name: str, start: int, marks: Marks | None
) -> dict[str, Any]:
    """Some nodes of a segment, and the segments around it."""
    picture = Picture(outline=outline, marks=marks)
    position = outline.position[name]
    known_segment = outline.segments[position]
    ids = np.arange(outline.bases[position], outline.bases[position + 1])
    ids = ids[graph.has(ids)] if len(ids) else ids
    whole = picture.add("segment", inner_name(known_segment), inside="grid")
    start = max(0, min(start, len(ids) - 1))
    chosen = ids[start : start + NODES]
    picture.before(whole, {"segment": name}, start, NODES)
    add_nodes(picture, graph, chosen, whole)
    picture.after(whole, {"segment": name}, start + len(chosen), len(ids))
    picture.own(whole, np.array([position]))
    for ends, other in ((outline.sources, outline.targets), (outline.targets, outline.sources)):
        for near in ascending(other[ends == position]).tolist():
            if picture.owner[near] >= 0:
                continue
            beside = outline.segments[near]
            lines = [_where(beside), counted(beside.count, "node")]
            sort = "input" if beside.module is None else "segment"
            focus: Focus = {"segment": beside.name}
            box = picture.add(sort, inner_name(beside), lines=lines, focus=focus)
            picture.own(box, np.array([near]))
    picture.link_segments()
    return picture.answer(len(chosen), len(ids), crumbs_of(known_segment), "nodes")


def neighbourhood(
    picture: Picture, graph: ProvenanceGraph, node: int, back: int, forth: int, budget: Budget
) -> dict[str, Any]:
    """A node, what it is made of and what it makes, some steps far.

    Of nodes that are many and alike some are drawn, the others are a bundle of their segment.
    """
    start, outline = np.array([node], dtype=np.int64), picture.outline
    drawn = {node: add_nodes(picture, graph, start, None)[0]}
    bundles: dict[tuple[str, bool], int] = {}
    total = 1
    for forwards, steps in ((False, back), (True, forth)):
        frontier = start
        seen = {node}
        for _ in range(steps):
            budget.check()
            near = graph.outgoing(frontier) if forwards else graph.incoming(frontier)
            fresh = ascending(near.nodes).astype(np.int64)
            fresh = np.array([n for n in fresh.tolist() if n not in seen], dtype=np.int64)
            seen.update(fresh.tolist())
            total += len(fresh)
            room = max(0, min(STEP, AHEAD - len(drawn)))
            chosen = _spread(outline, fresh, room)
            for drawn_node, box in zip(
                chosen.tolist(), add_nodes(picture, graph, chosen, None), strict=True
            ):
                drawn.setdefault(drawn_node, box)
            owners = np.repeat(frontier, near.degrees)
            rest = outside(fresh, chosen)
            for name, count in _by_segment(graph, rest):
                key = (name, forwards)
                label = f"{count:,} more"
                focus: Focus = {"segment": name}
                known = inner_name(graph.segment(int(outline_first(outline, name))))
                bundles[key] = picture.add("bundle", label, lines=[known], focus=focus)
            for owner, other in zip(owners.tolist(), near.nodes.tolist(), strict=True):
                target = drawn.get(other)
                if target is None:
                    target = bundles.get((graph.segment(other).name, forwards))
                if owner in drawn and target is not None:
                    ends = (drawn[owner], target) if forwards else (target, drawn[owner])
                    picture.link(*ends)
            frontier = chosen
            if not len(frontier):
                break
    picture.boxes[0]["center"] = True
    name = graph.name(node)
    crumbs = [*crumbs_of(graph.segment(node)), {"label": name, "focus": {"node": node}}]
    return picture.answer(len(drawn), total, crumbs, "nodes")


def outline_first(outline: Outline, name: str) -> int:
    """The id of the first node of a segment."""
    return int(outline.bases[outline.position[name]])


def add_nodes(
    picture: Picture, graph: ProvenanceGraph, ids: Array, parent: int | None
) -> list[int]:
    """Add boxes of nodes; return their numbers."""
    boxes = []
    values = values_of(graph, ids)
    after = None if picture.marks is None else picture.marks.after
    left = {} if after is None else values_of(after, ids[after.has(ids)])
    for node, name in zip(ids.tolist(), graph.names(ids), strict=True):
        segment = graph.segment(node)
        label = _label(segment, name)
        value = values.get(node)
        sign = segment.label or segment.kind.value
        line = sign if value is None else f"{sign} = {value}"
        box = picture.add("node", label, lines=[line[:28]], parent=parent, focus={"node": node})
        picture.boxes[box]["name"] = cell(name)
        if picture.marks is not None and node < graph.storage.count:
            node_marks = picture.marks.of(node)
            if node_marks.get("stale") and value is not None:
                picture.boxes[box]["lines"] = [f"{sign} = ?"]
            elif node_marks.get("changed"):
                picture.boxes[box]["lines"] = [f"{sign}: {value} → {left.get(node)}"[:28]]
            picture.mark(box, node_marks, 1)
        boxes.append(box)
    return boxes


def _label(segment: Segment, name: str) -> str:
    """Return the name of a node in the box of its segment."""
    if segment.module is not None:
        return name.rpartition("/")[2]
    own_name = name.removeprefix(f"{segment.name}:")
    # Segments of one relation differ by the commit that they came with.
    return (
        name if own_name == name or segment.relation is None else f"{segment.relation}:{own_name}"
    )


def values_of(graph: ProvenanceGraph, ids: Array) -> dict[int, str | None]:
    """Return the values of v-nodes among some nodes, by id, where they are known."""
    from lipstick.explorer.graphs.node_values import values

    values_by_node, _ = values(graph, ids)
    return {node: cell(value, 60) for node, value in values_by_node.items()}


def _spread(outline: Outline, ids: Array, room: int) -> Array:
    """Return so many of the nodes, about as many of every segment, ascending."""
    if len(ids) <= room:
        return ids
    places = np.searchsorted(outline.bases, ids, side="right")
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], places[order])
    turn = np.arange(len(ids)) - starts
    return np.sort(ids[order[np.argsort(turn, kind="stable")[:room]]])


def _by_segment(graph: ProvenanceGraph, ids: Array) -> list[tuple[str, int]]:
    stored = ids[ids < graph.storage.count]
    return [(s.name, len(places)) for s, places, _ in graph.storage.by_segment(stored)]


def _where(segment: Segment) -> str:
    if segment.module is None:
        return "input"
    return segment.module + ("" if segment.invocation is None else f" #{segment.invocation}")


MODES = ("ancestors", "descendants", "path", "delete")


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """Marks, and how many nodes there are of each kind.

    Attributes
    ----------
    steps
        Of a deletion how many steps it takes: a node is gone one after the first of those whose
        loss it does not survive. 0 of others.
    """

    marks: Marks
    counts: dict[str, int]
    steps: int = 0


def marked(
    graph: ProvenanceGraph, mode: str, nodes: Sequence[int], step: int | None = None
) -> Marked:
    """Mark nodes of a graph.

    Parameters
    ----------
    mode
        ``ancestors`` and ``descendants`` of the nodes; ``path``: what is between the first and the
        second of them; ``delete``: what is gone without them, and which
        values then are others, or stale.
    step
        Of a deletion only what is gone after so many steps; None: all of it.
    """
    start = graph.resolve(np.array(nodes, dtype=np.int64))
    if mode in ("ancestors", "descendants"):
        reached = graph.ancestors(start) if mode == "ancestors" else graph.descendants(start)
        return _lit(graph, union(reached.ids, start))
    if mode == "path":
        if len(nodes) != 2:
            raise ExploreError("A path is between two nodes: give both.")
        first, last = (np.array([node], dtype=np.int64) for node in nodes)
        between = common(
            union(graph.descendants(first).ids, first),
            union(graph.ancestors(last).ids, last),
        )
        return _lit(graph, between)
    if mode != "delete":
        raise ExploreError(f"Nodes are marked by one of {', '.join(MODES)}, not by {mode!r}.")
    after = graph.delete(start)
    assert after.visible is not None
    stayed = after.visible
    if graph.visible is None:
        gone = np.flatnonzero(~stayed[: graph.storage.count])
    else:
        gone = np.flatnonzero(graph.visible & ~stayed)
    waves = _waves(graph, start, gone)
    final = int(waves.max(initial=0))
    kinds = {"gone": gone if step is None else gone[waves <= step]}
    known = effects(after)
    if known is not None and (step is None or step >= final):
        stale = np.flatnonzero(known.stale & stayed[: len(known.stale)])
        changed_nodes = changed(graph, after)
        kinds |= {"changed": changed_nodes[~known.stale[changed_nodes]], "stale": stale}
    counts = {kind: len(ids) for kind, ids in kinds.items()}
    return Marked(_marks(graph, kinds, after), counts, final)


def _lit(graph: ProvenanceGraph, ids: Array) -> Marked:
    return Marked(_marks(graph, {"lit": ids}), {"lit": len(ids)})


def _marks(
    graph: ProvenanceGraph, kinds: dict[str, Array], after: ProvenanceGraph | None = None
) -> Marks:
    storage = graph.storage
    count = len(storage.segments)
    counts_by_kind = {
        kind: np.bincount(storage.segment_of(ids[ids < storage.count]), minlength=count)
        for kind, ids in kinds.items()
    }
    return Marks(counts_by_kind, kinds, after)


def _waves(graph: ProvenanceGraph, start: Array, gone: Array) -> Array:
    """Return, for each node that is gone, its steps from the deleted nodes, as int64."""
    wave = np.zeros(len(gone), dtype=np.int64)
    inside = mask_of(gone, graph.storage.size)
    inside[start] = False
    frontier, at = start, 0
    while len(frontier):
        nodes_ahead = graph.outgoing(frontier).nodes
        frontier = ascending(nodes_ahead[inside[nodes_ahead]]).astype(np.int64)
        inside[frontier] = False
        at += 1
        wave[np.searchsorted(gone, frontier)] = at
    return wave
