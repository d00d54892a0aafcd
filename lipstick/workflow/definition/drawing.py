"""A picture of a workflow: nodes in layers, edges with their relations, state beside its module."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from lipstick.workflow.definition.shape import Shape, execution_order

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 132, 44, 196, 76, 16
_MOST = 60
"""Nodes that are drawn; the picture says how many it leaves out."""


def svg(name: str, shape: Shape) -> str:
    """A workflow as SVG that needs nothing else.

    Input nodes have a thick left side and output nodes a thick right one; a dashed line below a
    module's name leads to its state relations.
    """
    order = execution_order(shape)
    shown, left_out = order[:_MOST], len(order) - _MOST
    places = _places(shape, shown)
    width = max(x for x, _ in places.values()) + _WIDTH + _MARGIN
    height = max(y for _, y in places.values()) + _HEIGHT + _MARGIN
    note = ""
    if left_out > 0:
        height += 20
        note = (
            f'<text x="{_MARGIN}" y="{height - 8}" fill="#555">'
            f"and {left_out} more nodes, not drawn</text>"
        )
    parts = [_edges(shape, places), *(_node(shape, node, places[node]) for node in shown), note]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11" '
        f'role="img" aria-label="{escape(f"Workflow {name}", quote=True)}">'
        f"<title>{escape(name)}</title>"
        '<defs><marker id="lipstick-arrow" markerWidth="8" markerHeight="8" refX="7" refY="3" '
        'orient="auto"><path d="M0,0 L7,3 L0,6 z" fill="#777"/></marker></defs>'
        f"{''.join(parts)}</svg>"
    )


def _places(shape: Shape, shown: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """The upper left corner of every node: a column per longest way from an input."""
    column: dict[str, int] = {}
    rows: dict[int, int] = {}
    places: dict[str, tuple[int, int]] = {}
    for node in shown:
        before = [column[edge.source] for edge in shape.incoming(node)]
        column[node] = max(before, default=-1) + 1
        row = rows.get(column[node], 0)
        rows[column[node]] = row + 1
        places[node] = (_MARGIN + column[node] * _ACROSS, _MARGIN + row * _DOWN)
    return places


def _node(shape: Shape, node: str, at: tuple[int, int]) -> str:
    x, y = at
    module = shape.nodes[node]
    label = node if node == module.name else f"{node}: {module.name}"
    parts = [
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="#f4f6fb" '
        'stroke="#5b6b8c"/>',
        f'<text x="{x + _WIDTH // 2}" y="{y + 18}" text-anchor="middle" font-weight="bold">'
        f"{escape(_short(label))}</text>",
    ]
    if module.state:
        state = _short(", ".join(module.state))
        parts.append(
            f'<line x1="{x + 8}" y1="{y + 25}" x2="{x + _WIDTH - 8}" y2="{y + 25}" '
            'stroke="#5b6b8c" stroke-dasharray="3 2"/>'
            f'<text x="{x + _WIDTH // 2}" y="{y + 38}" text-anchor="middle" fill="#555">'
            f"{escape(state)}</text>"
        )
    for side, ends in ((x, shape.inputs), (x + _WIDTH - 4, shape.outputs)):
        if node in ends:
            parts.append(f'<rect x="{side}" y="{y}" width="4" height="{_HEIGHT}" fill="#5b6b8c"/>')
    return "".join(parts)


def _edges(shape: Shape, places: Mapping[str, tuple[int, int]]) -> str:
    from lipstick.workflow.definition.conditions import flows

    parts = []
    for edge in shape.edges:
        if edge.source not in places or edge.target not in places:
            continue
        (a, b), (c, d) = places[edge.source], places[edge.target]
        x1, y1, x2, y2 = a + _WIDTH, b + _HEIGHT // 2, c, d + _HEIGHT // 2
        label = ", ".join(
            output if output == other else f"{output} → {other}"
            for output, other in flows(shape, edge).items()
        )
        middle = (x1 + x2) // 2
        parts.append(
            f'<path d="M{x1},{y1} C{middle},{y1} {middle},{y2} {x2},{y2}" fill="none" '
            f'stroke="#777" marker-end="url(#lipstick-arrow)"><title>{escape(label)}</title></path>'
        )
    return "".join(parts)


def _short(text: str, most: int = 20) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
