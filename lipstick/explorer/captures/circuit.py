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

TERMS, OTHERS = 40, 150
"""Operands of a gate in a large circuit beside the part with its others, and of such a part."""

OPERANDS = 10_000
"""Operands of a gate that are read; of the others the number is known."""

_OTHERS = "others"
"""The operation of a part that is no gate, with more operands of the gate above."""

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
    node = tree(annotation, OPERANDS)
    if _count(node) > MOST:
        node = _in_parts(node, TERMS)
    crumbs = [{"label": "row", "focus": {"part": []}}]
    for at, place in enumerate(part):
        operands = node.get("parts", [])
        if not 0 <= place < len(operands):
            raise ExploreError("The annotation has no such part.")
        node = operands[place]
        crumbs.append({"label": _label(node), "focus": {"part": list(part[: at + 1])}})
    gates = _Gates(node, tuple(part))
    return gates.drawing.answer(gates.shown, gates.count, crumbs, "gates")


def _in_parts(node: Node, most: int) -> Node:
    """Return a node with some operands, the others in one more part."""
    parts = [_in_parts(each, TERMS) for each in node.get("parts", [])]
    if len(parts) <= most:
        return {**node, "parts": parts} if parts else node
    unread = node.get("more", 0)
    text = f"{len(parts) - most + unread:,} more"
    others = {"op": _OTHERS, "text": text, "parts": parts[most:], "more": unread}
    return {**node, "parts": [*parts[:most], _in_parts(others, OTHERS)], "more": 0}


class _Gates:
    """A picture of the gates nearest to the row, as many as it may have.

    Attributes
    ----------
    count
        The number of gates; equal ones are one.
    shown
        The number of gates that have a box.
    drawn
        The box of each gate or part, by its name.
    """

    def __init__(self, root: Node, way: tuple[int, ...]) -> None:
        self.drawing = Drawing()
        self.drawn: dict[str, int] = {}
        self.count = _count(root)
        self.shown = 0
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
                unread = self.drawing.add("bundle", f"{node['more']:,} more")
                self.drawing.link(unread, own)

    def _is_folded(self, node: Node) -> bool:
        """Return True if the operands of a gate are too many to be drawn as well."""
        if node["op"] == _OTHERS and len(self.drawn) > 1:
            return True
        fresh = {_name(each) for each in node.get("parts", [])} - self.drawn.keys()
        folded = self.count > MOST and len(self.drawn) + len(fresh) > MOST
        if folded:
            own = self.drawn[_name(node)]
            self.drawing.boxes[own]["kind"] = "bundle"
            self.drawing.boxes[own]["label"] += f" {_count(node):,} gates"
            self.drawing.shapes[own] = Box(_FOLDED, _SIDE)
        return folded

    def _box(self, node: Node, way: tuple[int, ...]) -> None:
        is_token = node["op"] == "token"
        focus = {"part": list(way)} if node.get("parts") else None
        kind = "bundle" if node["op"] == _OTHERS else "node" if is_token else "segment"
        box = self.drawing.add(kind, _label(node), focus=focus)
        self.drawn[_name(node)] = box
        self.shown += node["op"] != _OTHERS
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


def _count(node: Node) -> int:
    """Return the number of gates of a tree, and of operands that are not read."""
    return len({*_names(node)}) + sum(_unread(node))


def _unread(node: Node) -> Iterator[int]:
    yield node.get("more", 0)
    for operand in node.get("parts", []):
        yield from _unread(operand)


def _names(node: Node) -> Iterator[str]:
    """Yield the name of each gate of a tree."""
    if node["op"] != _OTHERS:
        yield _name(node)
    for operand in node.get("parts", []):
        yield from _names(operand)
