"""Errors of exchange; all derive from :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

from graphquery.errors import GraphError


class ExchangeError(GraphError):
    """A graph that a format cannot represent, or a file that does not contain a graph."""


def check_size(nodes: int, limit: int, format: str) -> None:
    """Refuse a graph of more than `limit` nodes for a format that holds it in memory.

    Raises
    ------
    ExchangeError
        When it has more.
    """
    if nodes > limit:
        raise ExchangeError(
            f"A graph of {nodes:,} nodes is too large for {format}; the limit is {limit:,}.\n"
            "Zoom out, take a subgraph, or give a higher limit."
        )
