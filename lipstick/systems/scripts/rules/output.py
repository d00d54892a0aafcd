"""Rule C of Fig. 10: the PE that computes what is written has an output.

LHS: a PE, the view of a variable, a PE that writes it, a view. RHS: the first PE has `has_output`.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind


def output(graph: ScriptGraph) -> int:
    """Mark the computing PEs whose results are written to storage."""
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
