"""Rules of model modification: constants and views become properties of PEs (section IV-E)."""

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


def constant_into_source(graph: ScriptGraph) -> int:
    """Fold constants into source PEs.

    Rule MA of Fig. 11: constants become properties of source PEs.

    LHS: a constant and a source PE that uses it. RHS: the source PE with the constant's value
    among its own.
    """
    return fold_constants(graph, NodeKind.SOURCE)


def constant_into_computing(graph: ScriptGraph) -> int:
    """Fold constants into computing PEs.

    Rule MB of Fig. 11: constants become properties of computing PEs.

    LHS: a constant and a computing PE that uses it. RHS: the computing PE with the constant's
    value among its own.
    """
    return fold_constants(graph, NodeKind.COMPUTING)


def view_into_computing(graph: ScriptGraph) -> int:
    """Fold views into computing PEs.

    Rule MC of Fig. 11: views become properties of computing PEs.

    LHS: a computing PE, a view, and edges from the view. RHS: the computing PE with the view's
    properties, and the edges from it.
    """
    return fold_views(graph, NodeKind.COMPUTING)


def view_into_source(graph: ScriptGraph) -> int:
    """Fold views into source PEs.

    Rule MD of Fig. 11: views become properties of source PEs.

    LHS: a source PE, a view, and edges from the view. RHS: the source PE with the view's
    properties, and the edges from it.
    """
    return fold_views(graph, NodeKind.SOURCE)
