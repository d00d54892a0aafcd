"""Rule B.ii of Fig. 10: what a computing PE makes is the variable that it is assigned to.

LHS: a computing PE, an intermediate view, an assignment, the view of a variable. RHS: the computing
PE and the view of the variable.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind
from lipstick.systems.scripts.rules.intermediate import drop_intermediates


def intermediate_of_computing(graph: ScriptGraph) -> int:
    """Take away intermediate views and assignments behind computing PEs."""
    return drop_intermediates(graph, NodeKind.COMPUTING)
