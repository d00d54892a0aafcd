"""What of a graph is called as a text says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphquery import GraphError, Kind, ProvenanceGraph
from lipstick.explorer.cells import cell
from lipstick.explorer.graphs.boxes import Focus
from lipstick.explorer.graphs.outline import Outline

LISTED = 50
"""Findings of each sort, and neighbours of a node, that are listed at most."""


def search(outline: Outline, graph: Callable[[], ProvenanceGraph], text: str) -> dict[str, Any]:
    """Modules, segments and nodes whose names have a text in them.

    Parameters
    ----------
    graph
        Gives the graph; called where a node may be meant.
    """
    lowered = text.lower()
    groups = [name for name in outline.groups if lowered in name.lower()]
    matches: list[dict[str, Any]] = []
    for name in groups[:LISTED]:
        module = name in outline.modules
        focus: Focus = {"module": name} if module else {"relation": name}
        matches.append({"sort": "module" if module else "input", "name": name, "focus": focus})
    segments = [s for s in outline.segments if lowered in s.name.lower()] if lowered else []
    for segment in segments[:LISTED]:
        if segment.kind is Kind.INVOCATION and segment.module is not None:
            focus = {"module": segment.module, "invocation": segment.invocation}
        else:
            focus = {"segment": segment.name}
        matches.append({"sort": "segment", "name": cell(segment.name), "focus": focus})
    if text:
        try:
            node = graph().node(text)
            matches.insert(0, {"sort": "node", "name": cell(text), "focus": {"node": node}})
        except GraphError:
            pass  # no node is called exactly so
    return {"found": matches, "total": len(groups) + len(segments)}
