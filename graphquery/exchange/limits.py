"""Limits on the graphs that are written in formats that hold them in memory."""

from __future__ import annotations

from graphquery.errors import GraphError


def check_size(nodes: int, limit: int, format: str) -> None:
    """Refuse a graph of more than `limit` nodes for a format that holds it in memory.

    Raises
    ------
    GraphError
        When it has more.
    """
    if nodes > limit:
        raise GraphError(
            f"A graph of {nodes:,} nodes is too large for {format}; the limit is {limit:,}.\n"
            "Zoom out, take a subgraph, or give a higher limit."
        )
