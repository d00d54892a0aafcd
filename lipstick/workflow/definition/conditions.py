"""The conditions of Definition 2.2, each with its own error.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011.
"""

from __future__ import annotations

from collections.abc import Mapping

from lipstick.workflow.definition.shape import Edge, Shape, execution_order
from lipstick.workflow.errors import (
    DisconnectedError,
    EdgeOverlapError,
    EdgeRelationError,
    InputNodeError,
    ModuleNameError,
    OutputNodeError,
    SchemaMismatchError,
    UncoveredError,
    UnknownNodeError,
)


def check(shape: Shape, declared: Shape) -> None:
    """Check a workflow's structure.

    Parameters
    ----------
    shape
        The graph with loops unfolded.
    declared
        The graph as it is written, to say where.

    Raises
    ------
    WorkflowError
        The subclass for the first condition that does not hold.
    """
    _check_names(declared)
    for node in (*shape.inputs, *shape.outputs):
        if node not in shape.nodes:
            role = "input" if node in shape.inputs else "output"
            raise UnknownNodeError(
                f"The {role} {node} is no node.\nThe nodes are: {', '.join(shape.nodes)}.",
                (f"{role}s",),
            )
    for edge in shape.edges:
        for node in (edge.source, edge.target):
            if node not in shape.nodes:
                raise UnknownNodeError(
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
    """The relations that an edge carries, from the start's output to the end's input."""
    if edge.relations is not None:
        return edge.relations
    outputs, inputs = shape.nodes[edge.source].outputs, shape.nodes[edge.target].inputs
    return {name: name for name in outputs if name in inputs}


def _place(edge: Edge, declared: Shape) -> tuple[str | int, ...]:
    """Where an edge is written: an unfolded one at the edge it comes from."""
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
            raise ModuleNameError(
                f"Two different modules are called {module.name}, one of them at node {node}.\n"
                "Names of modules are unique: rename one.",
                ("nodes", node),
            )
        named = specifications.setdefault(module.specification.name, module.specification)
        if named != module.specification:
            raise ModuleNameError(
                f"Two different specifications are called {module.specification.name}, one of "
                f"them that of {module.name}.\nRename one.",
                ("modules", module.name),
            )


def _check_connected(shape: Shape) -> None:
    if not shape.nodes:
        raise DisconnectedError("The workflow has no nodes.", ("nodes",))
    neighbours: dict[str, set[str]] = {node: set() for node in shape.nodes}
    for edge in shape.edges:
        neighbours[edge.source].add(edge.target)
        neighbours[edge.target].add(edge.source)
    first = next(iter(shape.nodes))
    reached, frontier = {first}, [first]
    while frontier:
        new = neighbours[frontier.pop()] - reached
        reached |= new
        frontier.extend(new)
    apart = [node for node in shape.nodes if node not in reached]
    if apart:
        raise DisconnectedError(
            f"No path joins {first} and {', '.join(apart)}.\n"
            "A workflow is connected: join the parts, or run them as workflows of their own.",
            ("nodes", apart[0]),
        )


def _check_relations(edge: Edge, shape: Shape, declared: Shape) -> None:
    source, target = shape.nodes[edge.source], shape.nodes[edge.target]
    path = _place(edge, declared)
    carried = flows(shape, edge)
    if not carried:
        raise EdgeRelationError(
            f"The edge {edge} carries no relation.\n"
            f"{source.name} gives {', '.join(source.outputs) or 'nothing'}; {target.name} takes "
            f"{', '.join(target.inputs) or 'nothing'}. Name the relations of the edge.",
            path,
        )
    for output, taken in carried.items():
        if output not in source.outputs:
            raise EdgeRelationError(
                f"The edge {edge} carries {output}, which is no output of {source.name}.\n"
                f"Its outputs are: {', '.join(source.outputs) or 'none'}.",
                path,
            )
        if taken not in target.inputs:
            raise EdgeRelationError(
                f"The edge {edge} leads to {taken}, which is no input of {target.name}.\n"
                f"Its inputs are: {', '.join(target.inputs) or 'none'}.",
                path,
            )
        difference = target.inputs[taken].difference(source.outputs[output])
        if difference is not None:
            raise SchemaMismatchError(
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
            raise EdgeOverlapError(
                f"Both {seen[taken]} and {bringer} bring {taken} to {target.name}.\n"
                "Relations of edges into one node are disjoint, unless the relation is declared "
                f"'union': declare {taken} so, or rename one.",
                path,
            )
        seen[taken] = bringer


def _check_ends(shape: Shape, declared: Shape) -> None:
    for node in shape.inputs:
        for edge in shape.incoming(node):
            raise InputNodeError(
                f"The input node {node} has an incoming edge, {edge}.\n"
                "Input nodes get their relations from outside: remove the edge, or the input.",
                _place(edge, declared),
            )
    for node in shape.outputs:
        for edge in shape.outgoing(node):
            raise OutputNodeError(
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
            raise UncoveredError(
                f"No edge brings {name} to node {node} ({module.name}), which is no input node.\n"
                f"Add an edge that carries {name}, or declare it 'optional'.",
                ("nodes", node) if node in declared.nodes else ("nodes",),
            )
