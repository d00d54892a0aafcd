"""A loop whose variable only chooses what is read is no loop over data (Fig. 7).

LHS: a range, a loop PE, the view of its variable, and source PEs that alone depend on it, perhaps
through what computes the names of files. RHS: they depend on the range; window and trigger are 1,
the input-output ratio is 1:1.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import Edge, ScriptGraph
from lipstick.systems.scripts.model import Node, NodeKind, Window

_FARTHEST = 40
"""Nodes between the variable and the source PEs at most."""


def loop_over_products(graph: ScriptGraph) -> int:
    """Take away loop PEs, and views of loop variables, that only source PEs depend on."""
    applied = 0
    for loop in graph.of_operation("loop"):
        views = list(graph.successors(loop.id))
        sources = _sources(graph, views)
        if sources is None:
            continue
        behind = list(graph.incoming[loop.id].items())
        for view in views:
            for edge, reason in list(graph.outgoing[view].items()):
                for before, why in behind:
                    graph.link(Edge(before.source, edge.target, edge.role), reason or why)
            graph.moved[view, None] = [(before.source, None) for before, _ in behind]
            graph.remove(view)
        graph.remove(loop.id)
        for source in sources:
            source.window, source.trigger, source.ratio = Window(1), 1, "1:1"
        applied += 1
    return applied


def _sources(graph: ScriptGraph, views: list[int]) -> list[Node] | None:
    """The source PEs that views lead to; None if they lead to anything else."""
    sources: dict[int, Node] = {}
    names = {graph.nodes[number].name for number in views}
    seen = set(views)
    waiting = list(views)
    while waiting:
        number = waiting.pop()
        after = list(graph.successors(number))
        if not after and graph.nodes[number].name not in names:
            return None
        for target in after:
            node = graph.nodes[target]
            if node.kind is NodeKind.SOURCE and node.operation == "call":
                sources[target] = node
            elif target not in seen:
                if _is_other(node, names):
                    return None
                seen.add(target)
                waiting.append(target)
        if len(seen) > _FARTHEST:
            return None
    return list(sources.values()) or None


def _is_other(node: Node, names: set[str]) -> bool:
    """Whether a node is a version of another variable than the loop's, which may be read later."""
    return node.kind is NodeKind.VIEW and not node.intermediate and node.name not in names
