"""The annotation of a row as a picture: its gates, from the inputs to the row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from lipstick.explorer.captures.why import tree
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.graphs.boxes import Drawing
from lipstick.explorer.graphs.layout import Box
from semiring.boolean.events import Annotation

MOST = 200
"""Gates of a picture at most: what is deeper is opened part by part."""

TERMS = 40
"""Operands of a gate at most; the others are one box."""

_SIGNS = {"sum": "+", "product": "×", "delta": "δ", "monus": "⊖"}

_SIDE, _FOLDED = 36.0, 120.0
"""Pixels of a gate that is a sign, and the width of one whose operands are not drawn."""

Node: TypeAlias = dict[str, Any]
"""A node of :func:`lipstick.explorer.captures.why.tree`."""


def circuit(annotation: Annotation, part: Sequence[int]) -> dict[str, Any]:
    """Return the picture of an annotation, or of a part of it.

    Equal gates are one, so that an input is one box however often it takes part.

    Parameters
    ----------
    part
        The way to the part: at each gate the place of an operand.

    Raises
    ------
    ExploreError
        Where the annotation has no such part.
    """
    node = tree(annotation, TERMS)
    crumbs = [{"label": "row", "focus": {"part": []}}]
    for at, place in enumerate(part):
        operands = node.get("parts", [])
        if not 0 <= place < len(operands):
            raise ExploreError("The annotation has no such part.")
        node = operands[place]
        crumbs.append({"label": _label(node), "focus": {"part": list(part[: at + 1])}})
    gates = _Gates(node, tuple(part))
    return gates.drawing.answer(len(gates.drawn), gates.count, crumbs, "gates")


class _Gates:
    """A picture of the gates nearest to the row, as many as it may have.

    Attributes
    ----------
    count
        The number of gates; equal ones are one.
    drawn
        The box of each gate, by its name.
    """

    def __init__(self, root: Node, way: tuple[int, ...]) -> None:
        self.drawing = Drawing()
        self.drawn: dict[str, int] = {}
        self.count = len(set(_names(root)))
        waiting = [(root, way)]
        self._box(root, way)
        for node, above in waiting:
            if self._is_folded(node):
                continue
            own = self.drawn[_name(node)]
            for place, operand in enumerate(node.get("parts", [])):
                below, name = (*above, place), _name(operand)
                if name not in self.drawn:
                    self._box(operand, below)
                    waiting.append((operand, below))
                times = operand.get("times", 1) * operand.get("power", 1)
                self.drawing.link(self.drawn[name], own, times)
            if node.get("more"):
                rest = self.drawing.add("bundle", f"{node['more']:,} more")
                self.drawing.link(rest, own)

    def _is_folded(self, node: Node) -> bool:
        """Return True if the operands of a gate are too many to be drawn as well."""
        fresh = {_name(each) for each in node.get("parts", [])} - self.drawn.keys()
        folded = self.count > MOST and len(self.drawn) + len(fresh) > MOST
        if folded:
            own = self.drawn[_name(node)]
            self.drawing.boxes[own]["kind"] = "bundle"
            self.drawing.boxes[own]["label"] += f" {len(set(_names(node))):,} gates"
            self.drawing.shapes[own] = Box(_FOLDED, _SIDE)
        return folded

    def _box(self, node: Node, way: tuple[int, ...]) -> None:
        is_token = node["op"] == "token"
        focus = {"part": list(way)} if node.get("parts") else None
        box = self.drawing.add("node" if is_token else "segment", _label(node), focus=focus)
        self.drawn[_name(node)] = box
        if is_token:
            self.drawing.boxes[box] |= {name: node[name] for name in ("relation", "text")}
        elif node["op"] in _SIGNS:
            self.drawing.shapes[box] = Box(_SIDE, _SIDE)


def _label(node: Node) -> str:
    if node["op"] == "token":
        return f"{node['relation']} {node['text']}"
    return str(_SIGNS.get(node["op"]) or node["text"])


def _name(node: Node) -> str:
    """Return what equal gates have in common."""
    return json.dumps({k: v for k, v in node.items() if k not in ("times", "power")})


def _names(node: Node) -> Iterator[str]:
    """Yield the name of each gate of a tree."""
    yield _name(node)
    for operand in node.get("parts", []):
        yield from _names(operand)
