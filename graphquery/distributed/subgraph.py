"""The subgraph around nodes on Spark (section 5.1)."""

from __future__ import annotations

from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.reach import reached, step
from graphquery.distributed.view import View


def around(view: View, seeds: NodeSet) -> NodeSet:
    """Nodes, their ancestors and descendants, and what shares a predecessor with a descendant."""
    below = reached(view, seeds, forwards=True)
    above = reached(view, seeds, forwards=False)
    parents = step(view, below, forwards=False)
    siblings = step(view, parents, forwards=True)
    return view.tables.distinct(seeds, above, below, siblings)
