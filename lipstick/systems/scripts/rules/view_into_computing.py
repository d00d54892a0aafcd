"""Rule MC of Fig. 11: views become properties of computing PEs.

LHS: a computing PE, a view, and edges from the view. RHS:
the computing PE with the view's properties, and the edges from it.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind
from lipstick.systems.scripts.rules.folding import fold_views


def view_into_computing(graph: ScriptGraph) -> int:
    """Fold views into computing PEs."""
    return fold_views(graph, NodeKind.COMPUTING)
