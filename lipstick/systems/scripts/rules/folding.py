"""The common part of the model modification rules: constants and views become properties of PEs."""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind


def fold_constants(graph: ScriptGraph, kind: NodeKind) -> int:
    """Let the PEs of a kind keep the constants they use; one that nothing else uses is gone."""
    applied = 0
    for constant in graph.of_kind(NodeKind.CONSTANT):
        for edge in list(graph.outgoing[constant.id]):
            target = graph.nodes[edge.target]
            if target.kind is kind:
                target.constants.append(constant.value)
                graph.unlink(edge)
                applied += 1
        if not graph.outgoing[constant.id]:
            graph.remove(constant.id)
    return applied


def fold_views(graph: ScriptGraph, kind: NodeKind) -> int:
    """Let the PEs of a kind keep the views they make; what read a view reads its PE."""
    applied = 0
    for view in graph.of_kind(NodeKind.VIEW):
        makers = list(graph.predecessors(view.id))
        if not makers or graph.nodes[makers[0]].kind is not kind:
            continue
        maker = graph.nodes[makers[0]]
        if not view.intermediate:
            maker.views.append(view.name)
        maker.persistent |= view.persistent
        graph.moved[view.id, None] = [(maker.id, None)]
        graph.move_outgoing(view.id, maker.id)
        graph.remove(view.id)
        applied += 1
    return applied
