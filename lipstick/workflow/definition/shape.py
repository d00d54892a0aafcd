"""The graph of a workflow: nodes and edges, bounded loops, orders of execution, and conditions.

Loops are unfolded into nodes. Each condition of Definition 2.2 has its own error.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definition 2.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from lipstick.workflow.definition.module import Module
from lipstick.workflow.errors import (
    DefinitionError,
)
from semiring.support.door import checked

if TYPE_CHECKING:
    from networkx import DiGraph


@checked
@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a workflow.

    Parameters
    ----------
    source, target
        Nodes.
    relations
        Which relation of S_out becomes which of S_in: a mapping, or names that are the same on
        both sides. None: every name that both have.
    """

    source: str
    target: str
    relations: Mapping[str, str] | None = field(default=None)

    def __init__(
        self,
        source: str,
        target: str,
        relations: Mapping[str, str] | Iterable[str] | str | None = None,
    ) -> None:
        carried: Mapping[str, str] | None = None
        if isinstance(relations, str):
            carried = {relations: relations}
        elif isinstance(relations, Mapping):
            carried = dict(relations)
        elif relations is not None:
            carried = {name: name for name in relations}
        object.__setattr__(self, "source", source)
        object.__setattr__(self, "target", target)
        object.__setattr__(
            self, "relations", None if carried is None else MappingProxyType(dict(carried))
        )

    def __str__(self) -> str:
        return f"{self.source} → {self.target}"


@dataclass(frozen=True, slots=True)
class Shape:
    """Nodes, edges, inputs and outputs, without loops."""

    nodes: Mapping[str, Module]
    edges: tuple[Edge, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def incoming(self, node: str) -> tuple[Edge, ...]:
        """The edges into a node, in the order they are written."""
        return tuple(edge for edge in self.edges if edge.target == node)

    def outgoing(self, node: str) -> tuple[Edge, ...]:
        """The edges out of a node, in the order they are written."""
        return tuple(edge for edge in self.edges if edge.source == node)


def execution_order(shape: Shape) -> tuple[str, ...]:
    """Return the nodes in topological order; ties are in written order.

    Every run, also a parallel one, has the outcome of this order: nodes of one module, which share
    its state, run in it.

    Raises
    ------
    DefinitionError
        Naming the nodes of a cycle.
    """
    from networkx import NetworkXUnfeasible, lexicographical_topological_sort

    place = {node: number for number, node in enumerate(shape.nodes)}
    try:
        return tuple(lexicographical_topological_sort(_digraph(shape), place.__getitem__))
    except NetworkXUnfeasible as error:
        cycle = _cycle(shape, place)
        raise DefinitionError(
            f"The nodes {' → '.join((*cycle, cycle[0]))} form a cycle.\n"
            "A workflow has none: a bounded loop is declared with Loop(times=n), which "
            "unfolds it.",
            ("nodes", cycle[0]),
        ) from error


def _digraph(shape: Shape) -> DiGraph:
    from networkx import DiGraph

    graph = DiGraph()
    graph.add_nodes_from(shape.nodes)
    graph.add_edges_from((edge.source, edge.target) for edge in shape.edges)
    return graph


def _cycle(shape: Shape, place: Mapping[str, int]) -> list[str]:
    """Return the nodes of a cycle, starting with the one that is written first."""
    from networkx import find_cycle

    cycle = [source for source, _ in find_cycle(_digraph(shape))]
    first = cycle.index(min(cycle, key=place.__getitem__))
    return cycle[first:] + cycle[:first]


def dependencies(shape: Shape) -> Mapping[str, frozenset[str]]:
    """Return, by node, the nodes it waits for: its predecessors, and nodes of the same module.

    The keys are in :func:`execution_order`.
    """
    order = execution_order(shape)
    before_each: dict[str, frozenset[str]] = {}
    last: dict[str, str] = {}
    for node in order:
        before = {edge.source for edge in shape.incoming(node)}
        module = shape.nodes[node].name
        if module in last:
            before.add(last[module])
        last[module] = node
        before_each[node] = frozenset(before)
    return before_each


def invocation_numbers(shape: Shape) -> Mapping[str, tuple[int, int]]:
    """Return, by node, the number of its invocation within an execution, from 1, and their
    count.
    """
    order = execution_order(shape)
    totals: dict[str, int] = {}
    number: dict[str, int] = {}
    for node in order:
        module = shape.nodes[node].name
        totals[module] = totals.get(module, 0) + 1
        number[node] = totals[module]
    return {node: (number[node], totals[shape.nodes[node].name]) for node in order}


def check(shape: Shape, declared: Shape) -> None:
    """Check a workflow's structure.

    Parameters
    ----------
    shape
        The graph with loops unfolded.
    declared
        The graph as written, for locations in errors.

    Raises
    ------
    WorkflowError
        The subclass for the first condition that does not hold.
    """
    _check_names(declared)
    for node in (*shape.inputs, *shape.outputs):
        if node not in shape.nodes:
            role = "input" if node in shape.inputs else "output"
            raise DefinitionError(
                f"The {role} {node} is not a node.\nThe nodes are: {', '.join(shape.nodes)}.",
                (f"{role}s",),
            )
    for edge in shape.edges:
        for node in (edge.source, edge.target):
            if node not in shape.nodes:
                raise DefinitionError(
                    f"The edge {edge} has no node {node} to join.\n"
                    f"The nodes are: {', '.join(shape.nodes)}.",
                    _place(edge, declared),
                )
    _check_connected(shape)
    execution_order(shape)
    for edge in shape.edges:
        _check_relations(edge, shape, declared)
    _check_ends(shape, declared)
    for node in shape.nodes:
        _check_covered(node, shape, declared)


def flows(shape: Shape, edge: Edge) -> Mapping[str, str]:
    """Return the relations that an edge carries, from the start's output to the end's input."""
    if edge.relations is not None:
        return edge.relations
    outputs, inputs = shape.nodes[edge.source].outputs, shape.nodes[edge.target].inputs
    return {name: name for name in outputs if name in inputs}


def _place(edge: Edge, declared: Shape) -> tuple[str | int, ...]:
    """Return the place of an edge in the document; an unfolded edge has that of its origin."""
    for number, other in enumerate(declared.edges):
        if other == edge or (_base(edge.source, other.source) and _base(edge.target, other.target)):
            return ("edges", number)
    return ("edges",)


def _base(node: str, written: str) -> bool:
    return node == written or (
        node.startswith(f"{written}.") and node.removeprefix(f"{written}.").isdigit()
    )


def _check_names(declared: Shape) -> None:
    known: dict[str, object] = {}
    specifications: dict[str, object] = {}
    for node, module in declared.nodes.items():
        other = known.setdefault(module.name, module)
        if other != module:
            raise DefinitionError(
                f"Two different modules are called {module.name}, one of them at node {node}.\n"
                "Names of modules are unique: rename one.",
                ("nodes", node),
            )
        named = specifications.setdefault(module.specification.name, module.specification)
        if named != module.specification:
            raise DefinitionError(
                f"Two different specifications are called {module.specification.name}, one of "
                f"them that of {module.name}.\nRename one.",
                ("modules", module.name),
            )


def _check_connected(shape: Shape) -> None:
    if not shape.nodes:
        raise DefinitionError("The workflow has no nodes.", ("nodes",))
    from networkx import node_connected_component

    first = next(iter(shape.nodes))
    reached = node_connected_component(_digraph(shape).to_undirected(), first)
    apart = [node for node in shape.nodes if node not in reached]
    if apart:
        raise DefinitionError(
            f"No path joins {first} and {', '.join(apart)}.\n"
            "A workflow is connected: join the parts, or run them as workflows of their own.",
            ("nodes", apart[0]),
        )


def _check_relations(edge: Edge, shape: Shape, declared: Shape) -> None:
    source, target = shape.nodes[edge.source], shape.nodes[edge.target]
    path = _place(edge, declared)
    carried = flows(shape, edge)
    if not carried:
        raise DefinitionError(
            f"The edge {edge} carries no relation.\n"
            f"{source.name} gives {', '.join(source.outputs) or 'nothing'}; {target.name} takes "
            f"{', '.join(target.inputs) or 'nothing'}. Name the relations of the edge.",
            path,
        )
    for output, taken in carried.items():
        if output not in source.outputs:
            raise DefinitionError(
                f"The edge {edge} carries {output}, which is not an output of {source.name}.\n"
                f"Its outputs are: {', '.join(source.outputs) or 'none'}.",
                path,
            )
        if taken not in target.inputs:
            raise DefinitionError(
                f"The edge {edge} leads to {taken}, which is not an input of {target.name}.\n"
                f"Its inputs are: {', '.join(target.inputs) or 'none'}.",
                path,
            )
        difference = target.inputs[taken].difference(source.outputs[output])
        if difference is not None:
            raise DefinitionError(
                f"The edge {edge} carries {output} of {source.name} to {taken} of {target.name}, "
                f"but {difference}.\nGive both the same columns, in the same order.",
                path,
            )
    _check_disjoint(edge, carried, shape, path)


def _check_disjoint(
    edge: Edge, carried: Mapping[str, str], shape: Shape, path: tuple[str | int, ...]
) -> None:
    target = shape.nodes[edge.target]
    brought = [(taken, edge) for taken in carried.values()]
    for other in shape.incoming(edge.target):
        if other is edge:
            break
        brought = [*((taken, other) for taken in flows(shape, other).values()), *brought]
    seen: dict[str, Edge] = {}
    for taken, bringer in brought:
        if taken in seen and not target.inputs[taken].union:
            raise DefinitionError(
                f"Both {seen[taken]} and {bringer} bring {taken} to {target.name}.\n"
                "Relations of edges into one node are disjoint, unless the relation is declared "
                f"'union': declare {taken} so, or rename one.",
                path,
            )
        seen[taken] = bringer


def _check_ends(shape: Shape, declared: Shape) -> None:
    for node in shape.inputs:
        for edge in shape.incoming(node):
            raise DefinitionError(
                f"The input node {node} has an incoming edge, {edge}.\n"
                "Input nodes get their relations from outside: remove the edge, or the input.",
                _place(edge, declared),
            )
    for node in shape.outputs:
        for edge in shape.outgoing(node):
            raise DefinitionError(
                f"The output node {node} has an outgoing edge, {edge}.\n"
                "Remove the edge, or the output.",
                _place(edge, declared),
            )


def _check_covered(node: str, shape: Shape, declared: Shape) -> None:
    if node in shape.inputs:
        return
    module = shape.nodes[node]
    brought = {t for edge in shape.incoming(node) for t in flows(shape, edge).values()}
    for name, relation in module.inputs.items():
        if name not in brought and not relation.optional:
            raise DefinitionError(
                f"No edge brings {name} to node {node} ({module.name}), which is not an input "
                f"node.\nAdd an edge that carries {name}, or declare it 'optional'.",
                ("nodes", node) if node in declared.nodes else ("nodes",),
            )


@checked
@dataclass(frozen=True, slots=True)
class Loop:
    """A part of a workflow that runs several times in an execution.

    Node ``n`` of the body becomes ``n.1`` to ``n.times``. Edges into the body lead to the first
    round, edges out of it start at the last, and the edges ``back`` lead from each round to the
    next. A module in the body keeps its state from round to round.

    Parameters
    ----------
    nodes
        The body.
    back
        Edges from the end of a round to the beginning of the next.
    times
        The number of rounds, at least 1.

    Raises
    ------
    DefinitionError
        For no rounds or an empty body.
    """

    nodes: tuple[str, ...]
    back: tuple[Edge, ...]
    times: int

    def __init__(self, nodes: Iterable[str], back: Iterable[Edge], times: int) -> None:
        object.__setattr__(self, "nodes", tuple(nodes))
        object.__setattr__(self, "back", tuple(back))
        object.__setattr__(self, "times", times)
        if times < 1:
            raise DefinitionError(f"A loop runs at least once, not {times} times.")
        if not self.nodes:
            raise DefinitionError("A loop has no nodes: name those that are repeated.")


def unfold(shape: Shape, loops: tuple[Loop, ...]) -> Shape:
    """Return the shape with every node of a loop's body repeated.

    Raises
    ------
    DefinitionError
        For a loop over nodes that are not there, nodes in two loops, input nodes in one, or edges
        ``back`` that leave the body.
    """
    rounds: dict[str, int] = {}
    owner: dict[str, int] = {}
    for number, loop in enumerate(loops):
        _check(number, loop, shape, rounds)
        rounds.update(dict.fromkeys(loop.nodes, loop.times))
        owner.update(dict.fromkeys(loop.nodes, number))
    if not loops:
        return shape

    def copy(node: str, turn: int) -> str:
        return f"{node}.{turn}" if node in rounds else node

    nodes = {
        copy(node, turn): module
        for node, module in shape.nodes.items()
        for turn in range(1, rounds.get(node, 1) + 1)
    }
    edges: list[Edge] = []
    for edge in shape.edges:
        inside = owner.get(edge.source)
        if inside is not None and inside == owner.get(edge.target):
            turns = range(1, rounds[edge.source] + 1)
            edges += [
                Edge(copy(edge.source, t), copy(edge.target, t), edge.relations) for t in turns
            ]
        else:
            last = rounds.get(edge.source, 1)
            edges.append(Edge(copy(edge.source, last), copy(edge.target, 1), edge.relations))
    for loop in loops:
        for edge in loop.back:
            edges += [
                Edge(copy(edge.source, t), copy(edge.target, t + 1), edge.relations)
                for t in range(1, loop.times)
            ]
    outputs = tuple(copy(node, rounds.get(node, 1)) for node in shape.outputs)
    return Shape(nodes, tuple(edges), shape.inputs, outputs)


def _check(number: int, loop: Loop, shape: Shape, taken: dict[str, int]) -> None:
    where = ("loops", number)
    for node in loop.nodes:
        if node not in shape.nodes:
            raise DefinitionError(
                f"A loop repeats {node}, which is not a node.\nThe nodes are: "
                f"{', '.join(shape.nodes)}.",
                where,
            )
        if node in taken:
            raise DefinitionError(
                f"Node {node} is in two loops; a loop in a loop is not unfolded.", where
            )
        if node in shape.inputs:
            raise DefinitionError(
                f"Node {node} is an input node in a loop, which would ask for its input in every "
                "round.\nTake it out of the loop.",
                where,
            )
    for edge in loop.back:
        if edge.source not in loop.nodes or edge.target not in loop.nodes:
            raise DefinitionError(
                f"The edge back {edge} leaves the loop over {', '.join(loop.nodes)}.\n"
                "It leads from a node of the loop to a node of the loop.",
                where,
            )
