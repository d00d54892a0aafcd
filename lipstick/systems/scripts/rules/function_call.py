"""A call of a user function becomes its body (Fig. 9).

LHS: the caller PE with arguments and what connects it to the definition of the function; `paramIn`
PEs that read parameters of the caller. RHS: every `paramIn` reads its argument, and depends on the
definition.

The body is replicated when the initial graph is built, not here: which versions of global variables
it reads depends on where the call stands.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import Edge, ScriptGraph
from lipstick.systems.scripts.model import Role


def function_call(graph: ScriptGraph) -> int:
    """Replace every caller by edges from its arguments to the `paramIn`s."""
    callers = graph.of_operation("caller")
    for caller in callers:
        given: dict[object, list[tuple[Edge, str | None]]] = {}
        callees = []
        for edge, reason in graph.incoming[caller.id].items():
            if edge.role is Role.ACTIVITY:
                given.setdefault(edge.key, []).append((edge, reason))
            else:
                callees.append((edge, reason))
        for edge in list(graph.outgoing[caller.id]):
            if edge.role is Role.CALLS:
                continue
            for source, reason in (*given.get(edge.variable, ()), *callees):
                graph.link(Edge(source.source, edge.target), reason)
        for edge in list(graph.outgoing[caller.id]):
            if edge.role is Role.CALLS:
                graph.remove(edge.target)
        graph.remove(caller.id)
    return len(callers)
