"""A graph as a small drawing for notebooks: invocations as boxes, in self-contained SVG."""

from __future__ import annotations

from collections import Counter
from html import escape

import numpy as np

from graphquery.arrays import ArrayGraph
from graphquery.boxes import DrawnBox, svg
from graphquery.model import Kind

BOXES = 36
"""Limit on the drawn boxes."""

_Box = tuple[str, int | None]
"""A module and its invocation; or a name, and None if no invocation applies."""


def graph_html(graph: ArrayGraph, boxes: int = BOXES) -> str:
    """Return a drawing of a graph, collapsed to invocations, or to modules if there are many.

    Parameters
    ----------
    boxes
        The limit on boxes; the drawing notes the number of modules left out.
    """
    sizes = _sizes(graph)
    collapsed = len(sizes) > boxes
    names = {box: (box[0], None) if collapsed else box for box in sizes}
    total: Counter[_Box] = Counter()
    for box, size in sizes.items():
        total[names[box]] += size
    shown = list(total)[:boxes]
    drawn = {box: _drawn(graph, box, total[box]) for box in shown}
    ends = ((names[source], names[target]) for source, target in _links(graph))
    links = {(a, b): "" for a, b in ends if a != b and a in drawn and b in drawn}
    notes = [f"{graph.node_count:,} nodes"]
    if graph.zoomed:
        notes.append(f"zoomed out: {', '.join(sorted(graph.zoomed))}")
    if collapsed:
        notes.append(f"{len(sizes):,} invocations and inputs drawn as one box per module")
    if len(total) > len(shown):
        left = sum(total[box] for box in list(total)[boxes:])
        notes.append(f"left out: {len(total) - len(shown):,} modules with {left:,} nodes")
    title = escape("; ".join(notes))
    return (
        '<div class="lipstick"><div style="font-size:12px;opacity:.75">Provenance graph: '
        f"{title}</div>{svg(drawn, links, 'Provenance graph')}</div>"
    )


def _box_of(graph: ArrayGraph) -> list[_Box]:
    """Return the box of every segment."""
    return [
        (segment.module or segment.relation or segment.name, segment.invocation)
        if segment.kind is not Kind.TOKEN
        else (segment.relation or segment.name, None)
        for segment in graph.segments
    ]


def _sizes(graph: ArrayGraph) -> dict[_Box, int]:
    """Return the number of nodes in each non-empty box, in the order of ids."""
    storage = graph.storage
    counts = np.diff(storage.bases)
    if graph.visible is not None:
        running = np.zeros(storage.count + 1, dtype=np.int64)
        np.cumsum(graph.visible[: storage.count], out=running[1:])
        counts = np.diff(running[storage.bases])
    sizes: Counter[_Box] = Counter()
    for box, count in zip(_box_of(graph), counts.tolist(), strict=True):
        if count:
            sizes[box] += count
    return dict(sizes)


def _links(graph: ArrayGraph) -> list[tuple[_Box, _Box]]:
    """Return the pairs of non-empty boxes that edges join."""
    boxes = _box_of(graph)
    there = _sizes(graph)
    pairs = [(boxes[source], boxes[target]) for source, target in graph.storage.links]
    return [(a, b) for a, b in pairs if a in there and b in there]


def _drawn(graph: ArrayGraph, box: _Box, size: int) -> DrawnBox:
    module, invocation = box
    return DrawnBox(
        module if invocation is None else f"{module}#{invocation}",
        f"{size:,} node{'' if size == 1 else 's'}",
        rounded=module in graph.storage.modules,
        filled=module in graph.zoomed,
    )
