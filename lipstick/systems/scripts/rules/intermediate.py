"""The common part of rules B.i and B.ii: an intermediate view and an assignment go."""

from __future__ import annotations

from lipstick.systems.scripts.graph import Edge, ScriptGraph
from lipstick.systems.scripts.model import NodeKind


def drop_intermediates(graph: ScriptGraph, producer: NodeKind) -> int:
    """Connect PEs of a kind to the variables that their results are assigned to."""
    applied = 0
    for assignment in graph.of_operation("assignment"):
        before = list(graph.incoming[assignment.id].items())
        if assignment.name != "=" or len(before) != 1:
            continue
        (edge, reason) = before[0]
        view = graph.nodes[edge.source]
        if view.kind is not NodeKind.VIEW or not view.intermediate:
            continue
        makers = list(graph.incoming[view.id].items())
        if len(makers) != 1 or graph.nodes[makers[0][0].source].kind is not producer:
            continue
        if len(graph.outgoing[view.id]) != 1:
            # Something else reads the result, too.
            continue
        targets = list(graph.successors(assignment.id))
        if not targets or any(graph.nodes[number].intermediate for number in targets):
            continue
        maker, why = makers[0]
        for number in targets:
            graph.link(Edge(maker.source, number), reason or why)
        graph.moved[view.id, None] = [(number, None) for number in targets]
        graph.remove(assignment.id)
        graph.remove(view.id)
        applied += 1
    return applied
