"""Rule MA of Fig. 11: constants become properties of source PEs.

LHS: a constant and a source PE that uses it. RHS:
the source PE with the constant's value among its own.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind
from lipstick.systems.scripts.rules.folding import fold_constants


def constant_into_source(graph: ScriptGraph) -> int:
    """Fold constants into source PEs."""
    return fold_constants(graph, NodeKind.SOURCE)
