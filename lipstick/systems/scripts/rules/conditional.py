"""Control flow becomes data flow: candidates, selections and a union (Figs 5 and 6).

LHS: a block, its branch PEs, each with conditions and with the views that variables have at its
end; readers of a variable of the block. RHS: per variable and branch a selection, which forwards
the candidate if the conditions hold, and a union of these, which the readers read.
"""

from __future__ import annotations

from lipstick.systems.scripts.graph import Edge, Reference, ScriptGraph
from lipstick.systems.scripts.model import Key, Node, NodeKind, Role

_BLOCKS = ("block", "head")


def conditional(graph: ScriptGraph) -> int:
    """Replace every variable of a block, or of the head of a loop, that something reads."""
    return _Blocks(graph).replace()


class _Blocks:
    def __init__(self, graph: ScriptGraph) -> None:
        self.graph = graph
        self.blocks = {node.id: node for node in graph.of_operation(*_BLOCKS)}
        self.branches = {node.id for node in graph.of_operation("branch")}
        self.candidates: dict[tuple[int, Key | None], list[tuple[Edge, str | None]]] = {}
        self.conditions: dict[int, list[tuple[Edge, str | None]]] = {}
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
        graph.link(Edge(union.id, view.id))
        for branch, held, role in parts:
            self._select(branch, held, role, union, name)
        graph.moved[reference] = [(view.id, None)]
        return sources

    def _select(
        self, branch: int, held: list[tuple[Edge, str | None]], role: Role, union: Node, name: str
    ) -> None:
        graph = self.graph
        node = graph.nodes[branch]
        back = Role.BACK if role is Role.BACK else Role.DATA
        conditions = self.conditions[branch]
        if not conditions and role is not Role.BACK:
            for edge, reason in held:
                graph.link(Edge(edge.source, union.id, Role.DATA, edge.variable), reason)
            return
        selection = self._add(node, NodeKind.COMPUTING, node.name, "selection", ratio="1:1")
        for edge, reason in (*held, *conditions):
            graph.link(Edge(edge.source, selection.id, Role.DATA, edge.variable), reason)
        for edge, _ in held:
            source = graph.nodes[edge.source]
            source.initial |= source.kind is NodeKind.VIEW and source.name == name
        chosen = self._add(node, NodeKind.VIEW, name, "view")
        graph.link(Edge(selection.id, chosen.id))
        graph.link(Edge(chosen.id, union.id, back))

    def _add(self, like: Node, kind: NodeKind, name: str, operation: str, **more: str) -> Node:
        return self.graph.add(kind, name, operation, like.place, instance=like.instance, **more)

    def _readers(self) -> dict[Reference, list[Edge]]:
        """The edges that leave blocks, by block and variable."""
        readers: dict[Reference, list[Edge]] = {}
        for block in self.blocks:
            for edge in self.graph.outgoing[block]:
                if edge.variable is not None:
                    readers.setdefault((block, edge.variable), []).append(edge)
        return readers

    def _redirect(self, reference: Reference, edges: list[Edge]) -> None:
        """Let the readers of a variable of a block read what stands for it."""
        graph = self.graph
        sources = [n for n in graph.resolve([reference]) if n not in self.blocks]
        for edge in edges:
            reason = graph.unlink(edge)
            if edge.target in self.branches:
                continue
            for source in sources:
                graph.link(Edge(source, edge.target, edge.role, None, edge.key), reason)
