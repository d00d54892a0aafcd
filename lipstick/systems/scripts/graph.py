"""The graph that rules rewrite: nodes, and edges in both directions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from lipstick.systems.scripts.model import DOUBT, Instance, Key, NodeKind, Place, Role, ScriptNode

Reference: TypeAlias = tuple[int, Key | None]
"""A node, and which variable of it where it is a block."""


class ScriptEdge(NamedTuple):
    """An edge.

    Attributes
    ----------
    variable
        Which variable is read, where the source is a block that holds several.
    key
        Which variable of the block an ACTIVITY edge is about.
    """

    source: int
    target: int
    role: Role = Role.DATA
    variable: Key | None = None
    key: Key | None = None


@dataclass(slots=True)
class ScriptGraph:
    """A provenance graph of a script while it is made and rewritten.

    Attributes
    ----------
    outgoing, incoming
        By node its edges in the order they were added, each with the reason why it is assumed;
        None: it is certain.
    names
        What the keys of blocks are called.
    instances
        By number, from 1, the invocations that nodes belong to.
    results
        What is asked for when the graph is done: the last versions of variables and files.
    doubts, carried
        The nodes that stand for what the text leaves open; and, for each of them that an iteration
        of a loop leaves to the next one, the other nodes that it stands for.
    moved
        Where rules have put what a reader of a node, or of a variable of a block, depends on.
    """

    nodes: dict[int, ScriptNode] = field(default_factory=dict)
    outgoing: dict[int, dict[ScriptEdge, str | None]] = field(default_factory=dict)
    incoming: dict[int, dict[ScriptEdge, str | None]] = field(default_factory=dict)
    names: dict[Key, str] = field(default_factory=dict)
    instances: list[Instance] = field(default_factory=list)
    moved: dict[Reference, list[Reference]] = field(default_factory=dict)
    results: list[Reference] = field(default_factory=list)
    doubts: set[int] = field(default_factory=set)
    carried: dict[int, set[int]] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    next_id: int = 1

    def add(
        self, kind: NodeKind, name: str, operation: str, place: Place, **properties: Any
    ) -> ScriptNode:
        """Add a node."""
        counter = "H" if kind is NodeKind.VIEW and name.startswith("<") else kind
        counter = DOUBT if operation == DOUBT else counter
        number = self.numbers.get(counter, 0) + 1
        self.numbers[counter] = number
        node = ScriptNode(self.next_id, number, kind, name, operation, place, **properties)
        self.next_id += 1
        self.nodes[node.id] = node
        self.outgoing[node.id] = {}
        self.incoming[node.id] = {}
        return node

    def link(self, edge: ScriptEdge, reason: str | None = None) -> None:
        """Add an edge; of two that are equal, a certain one stays."""
        known = self.outgoing[edge.source]
        if edge in known and known[edge] is None:
            return
        known[edge] = reason
        self.incoming[edge.target][edge] = reason

    def unlink(self, edge: ScriptEdge) -> str | None:
        """Take an edge away, and return its reason."""
        del self.incoming[edge.target][edge]
        return self.outgoing[edge.source].pop(edge)

    def remove(self, node: int) -> None:
        """Take a node and its edges away."""
        for edge in self.outgoing.pop(node):
            del self.incoming[edge.target][edge]
        for edge in self.incoming.pop(node):
            del self.outgoing[edge.source][edge]
        del self.nodes[node]

    def drop_unread_doubts(self) -> None:
        """Take away the doubts that nothing depends on, and loops' that stand for none."""
        asked = {node for node, _ in self.results}
        for node in sorted(self.doubts, reverse=True):
            unread = not self.outgoing[node] and node not in asked
            if unread or (node in self.carried and not self.incoming[node]):
                self.remove(node)
                self.doubts.discard(node)

    def move_outgoing(self, node: int, to: int) -> None:
        """Let the edges that leave a node leave another."""
        edges, self.outgoing[node] = self.outgoing[node], {}
        for edge, reason in edges.items():
            _, target, role, variable, key = edge
            del self.incoming[target][edge]
            self.link(ScriptEdge(to, target, role, variable, key), reason)

    def resolve(self, references: Iterable[Reference]) -> list[int]:
        """The nodes that stand now for what some readers depend on."""
        numbers: dict[int, None] = {}
        waiting = list(references)[::-1]
        seen = set(waiting)
        while waiting:
            reference = waiting.pop()
            if reference in self.moved:
                further = [each for each in self.moved[reference] if each not in seen]
                seen.update(further)
                waiting.extend(further[::-1])
            elif reference[0] in self.nodes:
                numbers[reference[0]] = None
        return list(numbers)

    def places(self, node: ScriptNode) -> set[Place]:
        """Return the places of a node: its lines, and the calls by which it is reached."""
        places_of_node = set(node.lines)
        if node.operation not in ("union", "selection", DOUBT):
            # Conditions and candidates have places of their own, and a doubt adds no line.
            places_of_node.add(node.place)
        calls = (self.instances[number - 1].call for number in self.around(node.instance))
        return places_of_node.union(call for call in calls if call is not None)

    def around(self, instance: int) -> Iterator[int]:
        """Yield an instance and the ones around it, the inner first; nothing for the script, 0."""
        while instance:
            yield instance
            instance = self.instances[instance - 1].outer

    def of_kind(self, *kinds: NodeKind) -> list[ScriptNode]:
        """The nodes of some kinds, in the order they were added; safe while the graph changes."""
        return [node for node in self.nodes.values() if node.kind in kinds]

    def of_operation(self, *operations: str) -> list[ScriptNode]:
        """The PEs with operations of some types, in the order they were added."""
        return [node for node in self.nodes.values() if node.operation in operations]

    def predecessors(self, node: int) -> Iterator[int]:
        """The nodes at the other ends of the edges that enter a node."""
        return (edge.source for edge in self.incoming[node])

    def successors(self, node: int) -> Iterator[int]:
        """The nodes at the other ends of the edges that leave a node."""
        return (edge.target for edge in self.outgoing[node])

    def edges(self) -> Iterator[tuple[ScriptEdge, str | None]]:
        """All edges with the reason why each is assumed."""
        for edges in self.outgoing.values():
            yield from edges.items()
