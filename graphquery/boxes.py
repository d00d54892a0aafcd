"""Boxes in columns, with arrows between them, as SVG that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from html import escape
from typing import TypeVar

from graphquery.stages import stages

K = TypeVar("K")

_ROWS = 9
"""Limit on the boxes of a column."""

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN, _SIDE = 132, 40, 56, 16, 8, 4


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A box: its two lines, and its looks.

    Attributes
    ----------
    label, detail
        Its two lines; what is too long for them is cut.
    rounded, filled
        Whether its corners are round, and whether it is shaded.
    begins, ends
        Whether its left or right side is thick.
    """

    label: str
    detail: str = ""
    rounded: bool = False
    filled: bool = False
    begins: bool = False
    ends: bool = False


def svg(
    boxes: Mapping[K, DrawnBox], links: Mapping[tuple[K, K], str], name: str, note: str = ""
) -> str:
    """Return a drawing of boxes, from left to right in the order of the links.

    Parameters
    ----------
    links
        Pairs of drawn boxes, with what a link is called; it is shown under the pointer.
    name
        What is drawn, for screen readers.
    note
        A line below the boxes.
    """
    places = _places(list(boxes), links)
    width = max((x for x, _ in places.values()), default=0) + _WIDTH + _MARGIN
    height = max((y for _, y in places.values()), default=0) + _HEIGHT + _MARGIN
    end = height + 12 if note else height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {end}" width="{width}"'
        f' height="{end}" style="max-width:100%" font-family="sans-serif" font-size="11"'
        f' fill="none" stroke="currentColor" role="img" aria-label="{escape(name)}">'
    ]
    parts += [_link(places[start], places[to], title) for (start, to), title in links.items()]
    parts += [_box(box, *places[key]) for key, box in boxes.items()]
    parts += [_text(_MARGIN, height + 4, note, ' opacity=".65"')] if note else []
    return "".join(parts) + "</svg>"


def _places(shown: list[K], links: Collection[tuple[K, K]]) -> dict[K, tuple[int, int]]:
    """Return the upper left corner of every box: columns from left to right in the order of
    links.
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


def _link(start: tuple[int, int], to: tuple[int, int], title: str) -> str:
    x1, y1, x2, y2 = start[0] + _WIDTH, start[1] + _HEIGHT // 2, to[0], to[1] + _HEIGHT // 2
    bend = max((x2 - x1) // 2, _ACROSS // 2)
    called = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<path d="M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}'
        f'M{x2 - 6} {y2 - 3}L{x2} {y2}L{x2 - 6} {y2 + 3}" opacity=".5">{called}</path>'
    )


def _box(box: DrawnBox, x: int, y: int) -> str:
    fill = ' fill="currentColor" fill-opacity=".12"' if box.filled else ""
    sides = [x] * box.begins + [x + _WIDTH - _SIDE] * box.ends
    return (
        f"<g><title>{escape(box.label)}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}"'
        f' rx="{12 if box.rounded else 2}"{fill}/>'
        + "".join(
            f'<rect x="{side}" y="{y}" width="{_SIDE}" height="{_HEIGHT}" fill="currentColor"/>'
            for side in sides
        )
        + _text(x + 8, y + 17, _cut(box.label))
        + (_text(x + 8, y + 32, _cut(box.detail), ' opacity=".65"') if box.detail else "")
        + "</g>"
    )


def _text(x: int, y: int, text: str, style: str = "") -> str:
    return f'<text x="{x}" y="{y}" fill="currentColor" stroke="none"{style}>{escape(text)}</text>'


def _cut(name: str, length: int = 19) -> str:
    return name if len(name) <= length else f"{name[: length - 1]}…"
