"""Nodes and graphs as the rows of a table, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphquery import GraphEngine, ProvenanceGraph
from lipstick.cli.output import HTML, SVG, TABLE, Answer, counted
from lipstick.explorer.graphs.node_values import node_rows
from semiring.base import Array

UNKNOWN = "?"
"""In tables, a value that only running the module again would give."""


def told(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of nodes as a table has them: what is not known is `UNKNOWN`."""
    return [
        {name: UNKNOWN if name == "value" and row["stale"] else row[name] for name in row}
        | {"stale": None}
        for row in rows
    ]


def send_graph(answer: Answer, graph: ProvenanceGraph, before: ProvenanceGraph | None) -> None:
    """Answer with a graph.

    Parameters
    ----------
    before
        The graph that it was made from, to show how the number of nodes changed.
    """
    if answer.format in (SVG, HTML):
        answer.send_picture(graph)
        return
    shown = graph.ids[: answer.rows]
    rows = node_rows(graph, shown)
    if answer.format == TABLE:
        answer.say(summary(graph, before))
        answer.table(told(rows), graph.node_count)
        answer.send_table()
        return
    answer.send_json(
        {
            "node_count": graph.node_count,
            "edge_count": graph.edge_count,
            "zoomed": sorted(graph.zoomed),
            "nodes": rows,
            "edges": edges(graph, shown),
        }
    )


def summary(graph: GraphEngine[Any], before: GraphEngine[Any] | None = None) -> str:
    """Return the size of a graph, and its zoomed-out modules."""
    text = f"{counted(graph.node_count, 'node')}, {counted(graph.edge_count, 'edge')}"
    if before is not None and before is not graph:
        text += f" (of {before.node_count:,} and {before.edge_count:,})"
    zoomed = ", ".join(sorted(graph.zoomed))
    return f"{text}; zoomed out: {zoomed}" if zoomed else text


def edges(graph: ProvenanceGraph, ids: Sequence[int] | Array) -> list[dict[str, Any]]:
    """Return the edges among some ascending nodes, by name; `port` is the target's operand."""
    among = np.asarray(ids, dtype=np.int64)
    names = dict(zip(among.tolist(), graph.names(among), strict=True))
    adjacency = graph.outgoing(among, ports=True)
    sources = np.repeat(among, adjacency.degrees)
    inside = np.isin(adjacency.nodes, among)
    ports = np.zeros(len(sources), np.uint8) if adjacency.ports is None else adjacency.ports
    return [
        {"source": names[source], "target": names[target], "port": port}
        for source, target, port in zip(
            sources[inside].tolist(),
            adjacency.nodes[inside].tolist(),
            ports[inside].tolist(),
            strict=True,
        )
    ]
