"""Rule A of Fig. 10: what a variable is assigned from storage is persistent.

LHS: a source PE, its persistent intermediate view, an assignment, the view of a variable. RHS: the
view of the variable is persistent.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind


def persistence(graph: ScriptGraph) -> int:
    """Pass persistence on from what is read to the variable it is assigned to."""
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
