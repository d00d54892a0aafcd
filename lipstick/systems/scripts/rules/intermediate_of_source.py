"""Rule B.i of Fig. 10: what a source PE reads is the variable that it is assigned to.

LHS: a source PE, an intermediate view, an assignment, the view of a variable. RHS: the source PE
and the view of the variable.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind
from lipstick.systems.scripts.rules.intermediate import drop_intermediates


def intermediate_of_source(graph: ScriptGraph) -> int:
    """Take away intermediate views and assignments behind source PEs."""
    return drop_intermediates(graph, NodeKind.SOURCE)
