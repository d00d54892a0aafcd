"""Graphs of scripts as text, a line per node and one per edge, so that they can be compared."""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind, Role


def drawn(graph: ScriptGraph) -> str:
    """A graph as text: nodes in the order of their identifiers, then edges."""
    lines = []
    for node in graph.nodes.values():
        marks = [
            name
            for name in ("persistent", "intermediate", "initial", "has_output")
            if getattr(node, name) and node.kind in (NodeKind.VIEW, NodeKind.COMPUTING)
        ]
        if node.window.size != 1 or node.trigger != 1:
            marks.append(f"window {node.window.size} trigger {node.trigger} x{node.iterations}")
        if node.views:
            marks.append(f"makes {','.join(node.views)}")
        if node.constants:
            marks.append(f"constants {node.constants}")
        if node.lines:
            marks.append(f"lines {sorted({line_place.line for line_place in node.lines})}")
        text = f"{node.label} {node.name} {node.operation} @{node.place.line}"
        lines.append(" ".join([text, *(f"[{mark}]" for mark in marks)]))
    edges = []
    for edge, _ in graph.edges():
        a, b = graph.nodes[edge.source], graph.nodes[edge.target]
        role = "" if edge.role is Role.DATA else f" {edge.role.name.lower()}"
        variable = "" if edge.variable is None else f" of {graph.names[edge.variable]}"
        key = "" if edge.key is None else f" as {graph.names[edge.key]}"
        edges.append(f"{a.label} -> {b.label}{role}{variable}{key}")
    return "\n".join([*lines, *sorted(edges)]) + "\n"
