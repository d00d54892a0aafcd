"""A graph as a small drawing for notebooks: invocations as boxes, in self-contained SVG."""

from __future__ import annotations

from collections import Counter
from html import escape

import numpy as np

from graphquery.arrays import ArrayGraph
from graphquery.model import Kind
from graphquery.stages import stages

BOXES = 36
"""Limit on the drawn boxes."""

_ROWS = 9
"""Limit on the boxes of a column."""

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 132, 40, 56, 16, 8

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
    links: Counter[tuple[_Box, _Box]] = Counter()
    for (source, target), count in _links(graph).items():
        ends = names[source], names[target]
        if ends[0] != ends[1] and ends[0] in shown and ends[1] in shown:
            links[ends] += count
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
        f"{title}</div>{_svg(graph, shown, total, links)}</div>"
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


def _links(graph: ArrayGraph) -> Counter[tuple[_Box, _Box]]:
    """Return the number of pairs of linked segments between two boxes."""
    boxes = _box_of(graph)
    there = _sizes(graph)
    return Counter(
        (boxes[source], boxes[target])
        for source, target in graph.storage.links
        if boxes[source] in there and boxes[target] in there
    )


def _svg(
    graph: ArrayGraph,
    shown: list[_Box],
    sizes: Counter[_Box],
    links: Counter[tuple[_Box, _Box]],
) -> str:
    places = _places(shown, links)
    width = max((x for x, _ in places.values()), default=0) + _WIDTH + _MARGIN
    height = max((y for _, y in places.values()), default=0) + _HEIGHT + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" style="max-width:100%" font-family="sans-serif" font-size="11"'
        ' fill="none" stroke="currentColor">'
    ]
    for source, target in links:
        (x1, y1), (x2, y2) = places[source], places[target]
        x1, y1, y2 = x1 + _WIDTH, y1 + _HEIGHT // 2, y2 + _HEIGHT // 2
        bend = max((x2 - x1) // 2, _ACROSS // 2)
        parts.append(
            f'<path d="M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}" opacity=".45"/>'
            f'<path d="M{x2 - 6} {y2 - 3}L{x2} {y2}L{x2 - 6} {y2 + 3}" opacity=".7"/>'
        )
    for box in shown:
        x, y = places[box]
        module, invocation = box
        name = module if invocation is None else f"{module}#{invocation}"
        fill = ' fill="currentColor" fill-opacity=".12"' if module in graph.zoomed else ""
        corner = 12 if module in graph.storage.modules else 2
        parts.append(
            f"<g><title>{escape(name)}</title>"
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="{corner}"{fill}/>'
            f'<text x="{x + 8}" y="{y + 17}" fill="currentColor" stroke="none">'
            f"{escape(_cut(name))}</text>"
            f'<text x="{x + 8}" y="{y + 32}" fill="currentColor" stroke="none" opacity=".65">'
            f"{sizes[box]:,} node{'' if sizes[box] == 1 else 's'}</text></g>"
        )
    return "".join(parts) + "</svg>"


def _places(shown: list[_Box], links: Counter[tuple[_Box, _Box]]) -> dict[_Box, tuple[int, int]]:
    """Return the upper left corner of every box: columns from left to right in the order of
    edges.
    """
    number = {box: i for i, box in enumerate(shown)}
    pairs = [(number[source], number[target]) for source, target in links]
    columns: list[list[int]] = []
    for group in stages(len(shown), pairs).groups:
        columns += [list(group[i : i + _ROWS]) for i in range(0, len(group), _ROWS)]
    return {
        shown[i]: (_MARGIN + x * (_WIDTH + _ACROSS), _MARGIN + y * (_HEIGHT + _DOWN))
        for x, column in enumerate(columns)
        for y, i in enumerate(column)
    }


def _cut(name: str, length: int = 19) -> str:
    return name if len(name) <= length else f"{name[: length - 1]}…"
