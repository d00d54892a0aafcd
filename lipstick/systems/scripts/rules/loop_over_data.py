"""A loop over a range that manipulates data is a window and a trigger (Fig. 8).

LHS: a range of constants, a loop PE, the view of its variable, and the PEs of the loop that depend
on it. RHS: the window of these is ``end - start + 1``, their trigger the increment, as the paper
has it; beside these stands how often they run, since Python's `range` excludes its end.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import NodeKind, Window


def loop_over_data(graph: ScriptGraph) -> int:
    """Note window, trigger and iterations of the PEs that depend on a loop variable."""
    applied = 0
    for loop in graph.of_operation("loop"):
        span = loop.span
        if loop.value is None or span is None:
            continue
        start, end, increment = loop.value
        window = Window(abs(end - start) + 1)
        seen = {loop.id}
        waiting = [loop.id]
        while waiting:
            for target in graph.successors(waiting.pop()):
                node = graph.nodes[target]
                inside = node.place.file == span.file and span.line <= node.place.line <= span.end
                if target in seen or not inside or node.operation in ("union", "selection"):
                    continue
                seen.add(target)
                waiting.append(target)
                if node.kind is not NodeKind.VIEW:
                    node.window, node.trigger = window, increment
                    node.iterations = loop.iterations
                    applied += 1
    return applied
