"""What earlier iterations of a loop do becomes one PE, and the graph acyclic.

LHS: nodes that feed one another, through what an iteration leaves to the next. RHS: the edge from
one iteration to the next is gone; in its place a PE stands for all earlier iterations. It depends
on all that the nodes depend on from outside, and carries their lines.

This is ours: the paper has no graphs with cycles, since it has no variables that a loop carries.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import Edge, ScriptGraph
from lipstick.systems.scripts.model import NodeKind, Place, Role


def earlier_iterations(graph: ScriptGraph) -> int:
    """Replace the edges from iterations to the next ones. O(nodes + edges)."""
    groups = _cycles(graph)
    for group in groups:
        _replace(graph, group)
    for union in graph.of_operation("union"):
        for edge in [edge for edge in graph.incoming[union.id] if edge.role is Role.BACK]:
            # An iteration that uses nothing of the one before it.
            reason = graph.unlink(edge)
            graph.link(edge._replace(role=Role.DATA), reason)
    return len(groups)


def _replace(graph: ScriptGraph, group: set[int]) -> None:
    members = sorted(group)
    unions = [e for n in members for e in graph.outgoing[n] if e.role is Role.BACK]
    unions = [edge for edge in unions if edge.target in group]
    heads = {edge.target for edge in unions}
    places: dict[Place, None] = {}
    unknown = None
    for number in members:
        node = graph.nodes[number]
        if node.kind is not NodeKind.VIEW:
            places.update(dict.fromkeys(sorted(graph.places(node))))
            unknown = unknown or node.unknown
    first = graph.nodes[min(heads)]
    variables = sorted({graph.nodes[n].name for h in heads for n in graph.successors(h)})
    loop = graph.add(
        NodeKind.COMPUTING,
        "earlier iterations",
        "earlier iterations",
        first.place,
        lines=tuple(places),
        instance=first.instance,
        ratio="n:1",
        unknown=unknown,
    )
    for number in members:
        for edge, reason in list(graph.incoming[number].items()):
            if edge.source not in group:
                graph.link(Edge(edge.source, loop.id), reason)
    view = graph.add(
        NodeKind.VIEW,
        ", ".join(variables),
        "view",
        first.place,
        intermediate=True,
        instance=first.instance,
    )
    graph.link(Edge(loop.id, view.id))
    for edge in unions:
        reason = graph.unlink(edge)
        graph.link(Edge(view.id, edge.target), reason)


def _cycles(graph: ScriptGraph) -> list[set[int]]:
    """The strongly connected parts of more than one node."""
    between = _between_cycles(graph)
    following = {n: [e.target for e in graph.outgoing[n] if e.target in between] for n in between}
    return [part for part in strong_components(following) if len(part) > 1]


def _between_cycles(graph: ScriptGraph) -> set[int]:
    """The nodes of cycles, and those on paths from one cycle to another.

    Nodes that no edge enters are taken away again and again, then those that no edge leaves.
    """
    waiting = {node: len(edges) for node, edges in graph.incoming.items()}
    order = [node for node, count in waiting.items() if count == 0]
    for node in order:
        for edge in graph.outgoing[node]:
            target = edge.target
            waiting[target] -= 1
            if waiting[target] == 0:
                order.append(target)
    left = waiting.keys() - set(order)
    waiting = {node: len(graph.outgoing[node]) for node in left}
    # What a node that is left leads to is left, too.
    order = [node for node, count in waiting.items() if count == 0]
    for node in order:
        for edge in graph.incoming[node]:
            source = edge.source
            if source in left:
                waiting[source] -= 1
                if waiting[source] == 0:
                    order.append(source)
    return left - set(order)


def strong_components(following: dict[int, list[int]]) -> list[set[int]]:
    """The strongly connected components of a graph.

    References
    ----------
    Tarjan, *Depth-First Search and Linear Graph Algorithms*, SIAM J. Comput. 1(2), 1972. Without
    recursion, since chains are as long as scripts are.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    components: list[set[int]] = []
    for root, first in following.items():
        if root in index:
            continue
        work = [(root, iter(first))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(following[target])))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part: set[int] = set()
                    while node not in part:
                        part.add(stack.pop())
                    on_stack -= part
                    components.append(part)
    return components
