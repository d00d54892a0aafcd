"""The operators of a stream graph as boxes, and each in a few words."""

from __future__ import annotations

from typing import Any

from lipstick.explorer.cells import cell
from lipstick.explorer.graphs.boxes import Drawing, counted, shortened
from lipstick.systems.streams import Graph, Stored
from lipstick.systems.streams.node import Node


def described(node: Node) -> str:
    """Return the operator of a stream in a few words, such as ``window of 500 ticks``."""
    if node.operator is None:
        return "source"
    given = node.operator.parameters()
    match node.operator.kind:
        case "time_window":
            return f"window of {given['width']:,} ticks"
        case "length_window":
            return f"window of {counted(given['length'], 'event')}"
        case "aggregate":
            return ", ".join(
                function if column is None else f"{function} of {column}"
                for _, function, column in given["columns"]
            )
        case "time_join":
            return f"join within {given['left']:,} and {given['right']:,} ticks"
        case "length_join":
            return f"join of the last {given['left']:,} and {given['right']:,}"
        case "key_by":
            return f"key {given['column']}"
    named = [str(given[name]) for name in ("function", "predicate") if given.get(name)]
    return " ".join([node.operator.kind.replace("_", " "), *named])


def counts_of(recording: Stored) -> dict[str, int]:
    """Return the number of events of every stream; a twin has the events of its original."""
    graph = recording.graph
    recorded_counts = {sid: int(recording.parts(sid).rows.sum()) for sid in graph.recorded}
    return {sid: recorded_counts[graph.original(sid)] for sid in graph.nodes}


def operators(recording: Stored, lit: dict[str, int] | None = None) -> dict[str, Any]:
    """Return the drawing of all operators, with a box around the parts of a composed one.

    Parameters
    ----------
    lit
        By stream how many of its events are marked; None: nothing is.
    """
    graph, counts = recording.graph, counts_of(recording)
    drawing = Drawing()
    inside = composed(graph)
    around = {
        module: drawing.add("module", module, whole=True, focus={}) for module in sorted(inside)
    }
    boxes: dict[str, int] = {}
    for sid, node in graph.nodes.items():
        lines = [shortened(described(node)), counted(counts[sid], "event")]
        sort = "input" if node.operator is None else "segment"
        focus = {"stream": sid}
        parent = around.get(node.module)
        boxes[sid] = drawing.add(sort, sid, lines=lines, parent=parent, focus=focus)
        if lit is not None:
            lit_here = lit.get(graph.original(sid), 0)
            drawing.mark(boxes[sid], {"lit": lit_here}, counts[sid])
    for sid, node in graph.nodes.items():
        sources = node.inputs if node.twin is None else (node.twin,)
        for source in sources:
            drawing.link(boxes[source], boxes[sid])
    crumbs = [{"label": "all streams", "focus": {}}]
    answer = drawing.answer(len(boxes), len(boxes), crumbs, "streams")
    if lit is not None:
        answer["marked"] = {"lit": sum(lit.values())}
    return answer


def composed(graph: Graph) -> set[str]:
    """The names of operators that were made of others."""
    return {node.module for sid, node in graph.nodes.items() if node.module != sid}


def facts_of(recording: Stored, sid: str) -> dict[str, str | None]:
    """Return the facts about a stream that are known before its events are read."""
    node = recording.graph.node(sid)
    inputs = ", ".join(node.inputs)
    return {
        "operator": cell(described(node)),
        "of": cell(inputs) if inputs else None,
        "inside of": cell(node.module) if node.module != sid else None,
        "same events as": cell(node.twin) if node.twin else None,
        "content": "kept" if recording.has_content(sid) else "keys alone; replay for the rest",
    }
