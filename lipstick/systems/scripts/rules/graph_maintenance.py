"""Rules of graph maintenance: persistence is passed on, intermediate views go (section IV-D)."""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptEdge, ScriptGraph
from lipstick.systems.scripts.model import NodeKind


def persistence(graph: ScriptGraph) -> int:
    """Pass persistence on from what is read to the variable it is assigned to.

    Rule A of Fig. 10: what a variable is assigned from storage is persistent.

    LHS: a source PE, its persistent intermediate view, an assignment, the view of a variable.
    RHS: the view of the variable is persistent.
    """
    applied = 0
    for assignment in graph.of_operation("assignment"):
        before = [graph.nodes[n] for n in graph.predecessors(assignment.id)]
        if not any(n.kind is NodeKind.VIEW and n.persistent and n.intermediate for n in before):
            continue
        for number in graph.successors(assignment.id):
            view = graph.nodes[number]
            if not view.persistent and not view.intermediate:
                view.persistent = True
                applied += 1
    return applied


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
            graph.link(ScriptEdge(maker.source, number), reason or why)
        graph.moved[view.id, None] = [(number, None) for number in targets]
        graph.remove(assignment.id)
        graph.remove(view.id)
        applied += 1
    return applied


def intermediate_of_source(graph: ScriptGraph) -> int:
    """Take away intermediate views and assignments behind source PEs.

    Rule B.i of Fig. 10: what a source PE reads is the variable that it is assigned to.

    LHS: a source PE, an intermediate view, an assignment, the view of a variable. RHS: the
    source PE and the view of the variable.
    """
    return drop_intermediates(graph, NodeKind.SOURCE)


def intermediate_of_computing(graph: ScriptGraph) -> int:
    """Take away intermediate views and assignments behind computing PEs.

    Rule B.ii of Fig. 10: what a computing PE makes is the variable that it is assigned to.

    LHS: a computing PE, an intermediate view, an assignment, the view of a variable. RHS: the
    computing PE and the view of the variable.
    """
    return drop_intermediates(graph, NodeKind.COMPUTING)


def output(graph: ScriptGraph) -> int:
    """Mark the computing PEs whose results are written to storage.

    Rule C of Fig. 10: the PE that computes what is written has an output.

    LHS: a PE, the view of a variable, a PE that writes it, a view. RHS: the first PE has
    `has_output`.
    """
    applied = 0
    for node in list(graph.nodes.values()):
        if not node.writes:
            continue
        for number in graph.predecessors(node.id):
            view = graph.nodes[number]
            if view.kind is not NodeKind.VIEW or view.intermediate or view.hidden:
                continue
            for maker in graph.predecessors(number):
                computing = graph.nodes[maker]
                if computing.kind is NodeKind.COMPUTING and not computing.has_output:
                    computing.has_output = True
                    applied += 1
    return applied
