"""Bounded loops, unfolded into nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lipstick.workflow.definition.shape import Edge, Shape
from lipstick.workflow.errors import LoopError, UnknownNodeError
from semiring.door import checked


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
        How many rounds: at least 1.

    Raises
    ------
    LoopError
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
            raise LoopError(f"A loop runs at least once, not {times} times.")
        if not self.nodes:
            raise LoopError("A loop has no nodes: name those that are repeated.")


def unfold(shape: Shape, loops: tuple[Loop, ...]) -> Shape:
    """Return the shape with every node of a loop's body repeated.

    Raises
    ------
    UnknownNodeError
        For a loop over nodes that are not there.
    LoopError
        For nodes in two loops, input nodes in one, or edges ``back`` that leave the body.
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
            raise UnknownNodeError(
                f"A loop repeats {node}, which is no node.\nThe nodes are: "
                f"{', '.join(shape.nodes)}.",
                where,
            )
        if node in taken:
            raise LoopError(
                f"Node {node} is in two loops; a loop in a loop is not unfolded.", where
            )
        if node in shape.inputs:
            raise LoopError(
                f"Node {node} is an input node in a loop, which would ask for its input in every "
                "round.\nTake it out of the loop.",
                where,
            )
    for edge in loop.back:
        if edge.source not in loop.nodes or edge.target not in loop.nodes:
            raise LoopError(
                f"The edge back {edge} leaves the loop over {', '.join(loop.nodes)}.\n"
                "It leads from a node of the loop to a node of the loop.",
                where,
            )
