"""Rules of flow transformation: control dependence becomes data dependence (section IV-C)."""

from __future__ import annotations

from lipstick.systems.scripts.graph import Reference, ScriptEdge, ScriptGraph
from lipstick.systems.scripts.model import Key, NodeKind, Place, Role, ScriptNode, Window

_BLOCKS = ("block", "head")


def conditional(graph: ScriptGraph) -> int:
    """Replace every variable of a block, or of the head of a loop, that something reads.

    Control flow becomes data flow: candidates, selections and a union (Figs 5 and 6).

    LHS: a block, its branch PEs, each with conditions and with the views that variables have at
    its end; readers of a variable of the block. RHS: per variable and branch a selection, which
    forwards the candidate if the conditions hold, and a union of these, which the readers read.
    """
    return _Blocks(graph).replace()


class _Blocks:
    def __init__(self, graph: ScriptGraph) -> None:
        self.graph = graph
        self.blocks = {node.id: node for node in graph.of_operation(*_BLOCKS)}
        self.branches = {node.id for node in graph.of_operation("branch")}
        self.candidates: dict[tuple[int, Key | None], list[tuple[ScriptEdge, str | None]]] = {}
        self.conditions: dict[int, list[tuple[ScriptEdge, str | None]]] = {}
        for branch in self.branches:
            conditions = self.conditions.setdefault(branch, [])
            for edge, reason in graph.incoming[branch].items():
                if edge.role is Role.ACTIVITY:
                    self.candidates.setdefault((branch, edge.key), []).append((edge, reason))
                elif edge.role is Role.CONDITION:
                    conditions.append((edge, reason))

    def replace(self) -> int:
        graph = self.graph
        readers = self._readers()
        waiting = [
            reference
            for reference, edges in readers.items()
            if any(edge.target not in self.branches for edge in edges)
        ]
        waiting += [reference for reference in graph.results if reference[0] in self.blocks]
        done: set[Reference] = set()
        while waiting:
            reference = waiting.pop()
            if reference in done:
                continue
            done.add(reference)
            for source in self._replace(reference):
                if source[0] in self.blocks and source not in done:
                    waiting.append(source)
        for reference, edges in self._readers().items():
            self._redirect(reference, edges)
        for node in [*self.branches, *self.blocks]:
            graph.remove(node)
        return len(done)

    def _replace(self, reference: Reference) -> list[Reference]:
        """Add what stands for a variable of a block; return what its candidates are."""
        graph, (block, key) = self.graph, reference
        parts = []
        for edge in graph.incoming[block]:
            if edge.role in (Role.BRANCH, Role.BACK):
                held = self.candidates.get((edge.source, key), [])
                if held:
                    parts.append((edge.source, held, edge.role))
        sources = [(edge.source, edge.variable) for _, held, _ in parts for edge, _ in held]
        if not any(role is Role.BACK for _, _, role in parts) and (
            self.blocks[block].operation == "head" or not parts
        ):
            # The loop does not change the variable: its readers read what there was before.
            graph.moved[reference] = sources
            return sources
        node = self.blocks[block]
        name = graph.names.get(key, str(key))
        union = self._add(node, NodeKind.COMPUTING, "union", "union")
        view = self._add(node, NodeKind.VIEW, name, "view")
        graph.link(ScriptEdge(union.id, view.id))
        for branch, held, role in parts:
            self._select(branch, held, role, union, name)
        graph.moved[reference] = [(view.id, None)]
        return sources

    def _select(
        self,
        branch: int,
        held: list[tuple[ScriptEdge, str | None]],
        role: Role,
        union: ScriptNode,
        name: str,
    ) -> None:
        graph = self.graph
        node = graph.nodes[branch]
        back = Role.BACK if role is Role.BACK else Role.DATA
        conditions = self.conditions[branch]
        if not conditions and role is not Role.BACK:
            for edge, reason in held:
                graph.link(ScriptEdge(edge.source, union.id, Role.DATA, edge.variable), reason)
            return
        selection = self._add(node, NodeKind.COMPUTING, node.name, "selection", ratio="1:1")
        for edge, reason in (*held, *conditions):
            graph.link(ScriptEdge(edge.source, selection.id, Role.DATA, edge.variable), reason)
        for edge, _ in held:
            source = graph.nodes[edge.source]
            source.initial |= source.kind is NodeKind.VIEW and source.name == name
        chosen = self._add(node, NodeKind.VIEW, name, "view")
        graph.link(ScriptEdge(selection.id, chosen.id))
        graph.link(ScriptEdge(chosen.id, union.id, back))

    def _add(
        self, like: ScriptNode, kind: NodeKind, name: str, operation: str, **more: str
    ) -> ScriptNode:
        return self.graph.add(kind, name, operation, like.place, instance=like.instance, **more)

    def _readers(self) -> dict[Reference, list[ScriptEdge]]:
        """The edges that leave blocks, by block and variable."""
        readers: dict[Reference, list[ScriptEdge]] = {}
        for block in self.blocks:
            for edge in self.graph.outgoing[block]:
                if edge.variable is not None:
                    readers.setdefault((block, edge.variable), []).append(edge)
        return readers

    def _redirect(self, reference: Reference, edges: list[ScriptEdge]) -> None:
        """Let the readers of a variable of a block read what stands for it."""
        graph = self.graph
        sources = [n for n in graph.resolve([reference]) if n not in self.blocks]
        for edge in edges:
            reason = graph.unlink(edge)
            if edge.target in self.branches:
                continue
            for source in sources:
                graph.link(ScriptEdge(source, edge.target, edge.role, None, edge.key), reason)


def function_call(graph: ScriptGraph) -> int:
    """Replace every caller by edges from its arguments to the `paramIn`s.

    A call of a user function becomes its body (Fig. 9).

    LHS: the caller PE with arguments and what connects it to the definition of the function;
    `paramIn` PEs that read parameters of the caller. RHS: every `paramIn` reads its argument,
    and depends on the definition.

    The body is replicated when the initial graph is built, not here: which versions of global
    variables it reads depends on where the call stands.
    """
    callers = graph.of_operation("caller")
    for caller in callers:
        given: dict[object, list[tuple[ScriptEdge, str | None]]] = {}
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
                graph.link(ScriptEdge(source.source, edge.target), reason)
        for edge in list(graph.outgoing[caller.id]):
            if edge.role is Role.CALLS:
                graph.remove(edge.target)
        graph.remove(caller.id)
    return len(callers)


_FARTHEST = 40
"""Nodes between the variable and the source PEs at most."""


def loop_over_products(graph: ScriptGraph) -> int:
    """Take away loop PEs, and views of loop variables, that only source PEs depend on.

    A loop whose variable only chooses what is read is not a loop over data (Fig. 7).

    LHS: a range, a loop PE, the view of its variable, and source PEs that alone depend on it,
    perhaps through what computes the names of files. RHS: they depend on the range; window and
    trigger are 1, the input-output ratio is 1:1.
    """
    applied = 0
    for loop in graph.of_operation("loop"):
        views = list(graph.successors(loop.id))
        sources = _sources(graph, views)
        if sources is None:
            continue
        behind = list(graph.incoming[loop.id].items())
        for view in views:
            for edge, reason in list(graph.outgoing[view].items()):
                for before, why in behind:
                    graph.link(ScriptEdge(before.source, edge.target, edge.role), reason or why)
            graph.moved[view, None] = [(before.source, None) for before, _ in behind]
            graph.remove(view)
        graph.remove(loop.id)
        for source in sources:
            source.window, source.trigger, source.ratio = Window(1), 1, "1:1"
        applied += 1
    return applied


def _sources(graph: ScriptGraph, views: list[int]) -> list[ScriptNode] | None:
    """The source PEs that views lead to; None if they lead to anything else."""
    sources: dict[int, ScriptNode] = {}
    names = {graph.nodes[number].name for number in views}
    seen = set(views)
    waiting = list(views)
    while waiting:
        number = waiting.pop()
        after = list(graph.successors(number))
        if not after and graph.nodes[number].name not in names:
            return None
        for target in after:
            node = graph.nodes[target]
            if node.kind is NodeKind.SOURCE and node.operation == "call":
                sources[target] = node
            elif target not in seen:
                if _is_other(node, names):
                    return None
                seen.add(target)
                waiting.append(target)
        if len(seen) > _FARTHEST:
            return None
    return list(sources.values()) or None


def _is_other(node: ScriptNode, names: set[str]) -> bool:
    """Return True for a version of a variable other than the loop's, which may be read later."""
    return node.kind is NodeKind.VIEW and not node.intermediate and node.name not in names


def loop_over_data(graph: ScriptGraph) -> int:
    """Note window, trigger and iterations of the PEs that depend on a loop variable.

    A loop over a range that manipulates data is a window and a trigger (Fig. 8).

    LHS: a range of constants, a loop PE, the view of its variable, and the PEs of the loop that
    depend on it. RHS: the window of these is ``end - start + 1``, their trigger the increment,
    as the paper has it; beside these stands how often they run, since Python's `range` excludes
    its end.
    """
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


def earlier_iterations(graph: ScriptGraph) -> int:
    """Replace the edges from iterations to the next ones. O(nodes + edges).

    What earlier iterations of a loop do becomes one PE, and the graph acyclic.

    LHS: nodes that feed one another, through what an iteration leaves to the next. RHS: the
    edge from one iteration to the next is gone; in its place a PE stands for all earlier
    iterations. It depends on all that the nodes depend on from outside, and carries their
    lines.

    This is ours: the paper has no graphs with cycles, since it has no variables that a loop
    carries.
    """
    unions = graph.of_operation("union")
    if not any(e.role is Role.BACK for union in unions for e in graph.incoming[union.id]):
        return 0
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
                graph.link(ScriptEdge(edge.source, loop.id), reason)
    view = graph.add(
        NodeKind.VIEW,
        ", ".join(variables),
        "view",
        first.place,
        intermediate=True,
        instance=first.instance,
    )
    graph.link(ScriptEdge(loop.id, view.id))
    for edge in unions:
        reason = graph.unlink(edge)
        graph.link(ScriptEdge(view.id, edge.target), reason)


def _cycles(graph: ScriptGraph) -> list[set[int]]:
    """Return the strongly connected components of more than one node."""
    from networkx import DiGraph, strongly_connected_components

    edges = DiGraph((edge.source, edge.target) for out in graph.outgoing.values() for edge in out)
    return [part for part in strongly_connected_components(edges) if len(part) > 1]
