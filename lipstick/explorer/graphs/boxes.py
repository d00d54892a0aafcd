"""A picture while it is put together: boxes, whose segments they are, and the edges between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from graphquery import ProvenanceGraph
from lipstick.explorer.cells import cell
from lipstick.explorer.graphs.layout import Box, layout
from lipstick.explorer.graphs.outline import Outline, merged
from semiring.base import Array

MOST = 300
"""Boxes of a picture at most."""

LABEL = 26
"""Characters of a label at most; the middle of longer ones is left out."""

Focus: TypeAlias = dict[str, Any]
"""A picture's subject, as the page asks for it: see :mod:`lipstick.explorer.graphs.picture`."""

_LETTER, _LEAST, _LINE = 7.6, 96.0, 17.0


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """The nodes with marks, by kind of mark: ``lit``, ``gone``, ``changed``, ``stale``.

    Attributes
    ----------
    segments
        Per kind how many nodes of each segment.
    nodes
        Per kind their ids, ascending.
    after
        The graph once something is deleted, which has other values.
    """

    segments: Mapping[str, Array]
    nodes: Mapping[str, Array]
    after: ProvenanceGraph | None = None

    def of(self, node: int) -> dict[str, int]:
        """Return the marks of one node, by kind: 1 for each that it has, else 0."""
        marks = {}
        for kind, ids in self.nodes.items():
            index = int(np.searchsorted(ids, node))
            marks[kind] = int(index < len(ids) and int(ids[index]) == node)
        return marks


@dataclass(slots=True)
class Drawing:
    """Boxes and edges so far."""

    boxes: list[dict[str, Any]] = field(default_factory=list)
    shapes: list[Box] = field(default_factory=list)
    edges: dict[tuple[int, int], int] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        label: str,
        *,
        lines: Sequence[str] = (),
        parent: int | None = None,
        focus: Focus | None = None,
        inside: Literal["", "boxes", "grid"] = "",
    ) -> int:
        """Add a box; return its number.

        Parameters
        ----------
        kind
            ``module``, ``invocation``, ``segment``, ``node``, ``input`` or ``bundle``.
        lines
            What is written below the label.
        focus
            What the box opens; ``{"node": id}`` for the box of a node.
        parent
            See :class:`Box`.
        inside
            Whether there are boxes inside, and they stand in rows; see :class:`Box`.
        """
        shown = shortened(label)
        longest = max([len(shown) + (2 if kind == "bundle" else 0), *map(len, lines)])
        width = max(_LEAST, min(longest, LABEL + 2) * _LETTER + 30)
        height = 20 + _LINE * (1 + len(lines))
        self.shapes.append(Box(width, height, parent, inside == "grid"))
        self.boxes.append(
            {
                "kind": kind,
                "label": shown,
                "name": cell(label),
                "lines": list(lines),
                "parent": parent,
                "focus": focus,
                "whole": bool(inside),
                "node": (focus or {}).get("node"),
            }
        )
        return len(self.boxes) - 1

    def mark(self, box: int, counts: Mapping[str, int], total: int) -> None:
        """Say of a box of how many of its nodes a mark is."""
        known = {kind: [count, total] for kind, count in counts.items() if count}
        if known:
            self.boxes[box]["marks"] = known

    def link(self, source: int, target: int, count: int = 1) -> None:
        """Add edges between two boxes."""
        if source != target:
            self.edges[source, target] = self.edges.get((source, target), 0) + count

    def answer(
        self, shown: int, total: int, crumbs: list[dict[str, Any]], what: str
    ) -> dict[str, Any]:
        """Return the picture for the page.

        Parameters
        ----------
        shown, total
            The numbers of things that it shows, and of all things that it is about.
        crumbs
            What it is inside of, outermost first: ``label`` and ``focus`` of each.
        what
            What these things are called, in the plural.
        """
        inner = {box["parent"] for box in self.boxes if box["parent"] is not None}
        edges = [
            (a, b)
            for a, b in self.edges
            if not (self._within(a, b, inner) or self._within(b, a, inner))
        ]
        placed = layout(self.shapes, edges)
        for number, box in enumerate(self.boxes):
            box["at"] = [
                round(float(side[number]), 1)
                for side in (placed.x, placed.y, placed.width, placed.height)
            ]
        width, height = placed.size
        return {
            "boxes": self.boxes,
            "edges": [
                {
                    "source": a,
                    "target": b,
                    "count": self.edges[a, b],
                    "points": [[round(x, 1), round(y, 1)] for x, y in points],
                }
                for (a, b), points in zip(edges, placed.paths, strict=True)
            ],
            "width": round(width, 1),
            "height": round(height, 1),
            "shown": shown,
            "total": total,
            "what": what,
            "crumbs": crumbs,
        }

    def _within(self, box: int, other: int, inner: set[int]) -> bool:
        """Return True if a box is somewhere inside another."""
        if other not in inner:
            return False
        up = self.boxes[box]["parent"]
        while up is not None and up != other:
            up = self.boxes[up]["parent"]
        return up is not None


@dataclass(slots=True)
class Picture(Drawing):
    """A drawing of the segments of a graph, or of nodes in them.

    Attributes
    ----------
    owner
        int64, per segment the box that its edges are drawn at, or -1.
    """

    outline: Outline = field(kw_only=True)
    marks: Marks | None = field(default=None, kw_only=True)
    owner: Array = field(init=False)

    def __post_init__(self) -> None:
        self.owner = np.full(len(self.outline.segments), -1, dtype=np.int64)

    def own(self, box: int, segments: Array) -> None:
        """Draw the edges of some segments at a box, and count their marks there."""
        self.owner[segments] = box
        if self.marks is not None:
            total = int(self.outline.counts[segments].sum())
            marked_counts = {k: int(n[segments].sum()) for k, n in self.marks.segments.items()}
            self.mark(box, marked_counts, total)

    def before(self, parent: int, focus: Focus, start: int, step: int) -> None:
        """Add the box that opens what is before the boxes of a page, if there is something."""
        if start:
            focus = {**focus, "start": max(0, start - step)}
            self.add("bundle", f"{start:,} before", parent=parent, focus=focus)

    def after(self, parent: int, focus: Focus, stop: int, total: int) -> None:
        """Add the box that opens what is after the boxes of a page, if there is something."""
        if total > stop:
            focus = {**focus, "start": stop}
            self.add("bundle", f"{total - stop:,} after", parent=parent, focus=focus)

    def link_segments(self) -> None:
        """Add the edges between boxes whose segments edges join."""
        outline = self.outline
        sources, targets = self.owner[outline.sources], self.owner[outline.targets]
        shown = (sources >= 0) & (targets >= 0) & (sources != targets)
        ends = merged(
            sources[shown], targets[shown], outline.weights[shown], max(len(self.boxes), 1)
        )
        for source, target, count in zip(*(part.tolist() for part in ends), strict=True):
            self.link(source, target, count)


def shortened(text: str, length: int = LABEL) -> str:
    """A text that is no longer than it may be, without its middle."""
    text = " ".join(text.split()) or "∅"
    if len(text) <= length:
        return text
    end = length // 3
    return f"{text[: length - end - 1]}…{text[-end:]}"
