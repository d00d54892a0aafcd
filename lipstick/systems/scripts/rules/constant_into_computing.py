"""Rule MB of Fig. 11: constants become properties of computing PEs.

LHS: a constant and a computing PE that uses it. RHS:
the computing PE with the constant's value among its own.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind
from lipstick.systems.scripts.rules.folding import fold_constants


def constant_into_computing(graph: ScriptGraph) -> int:
    """Fold constants into computing PEs."""
    return fold_constants(graph, NodeKind.COMPUTING)
