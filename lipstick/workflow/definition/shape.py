"""The graph of a workflow: nodes, edges, and the orders they can run in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lipstick.workflow.definition.module import Module
from lipstick.workflow.errors import CycleError
from semiring.door import checked


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
    """The nodes in topological order; where it is open, in the order they are written.

    This is the order whose outcome every run has, also a parallel one: nodes of one module, which
    share its state, run in it.

    Raises
    ------
    CycleError
        Naming the nodes of a cycle.
    """
    waiting = {node: {edge.source for edge in shape.incoming(node)} for node in shape.nodes}
    order: list[str] = []
    while waiting:
        ready = next((node for node, before in waiting.items() if not before), None)
        if ready is None:
            cycle = _cycle(waiting)
            raise CycleError(
                f"The nodes {' → '.join((*cycle, cycle[0]))} form a cycle.\n"
                "A workflow has none: a bounded loop is declared with Loop(times=n), which "
                "unfolds it.",
                ("nodes", cycle[0]),
            )
        order.append(ready)
        del waiting[ready]
        for before in waiting.values():
            before.discard(ready)
    return tuple(order)


def _cycle(waiting: Mapping[str, set[str]]) -> list[str]:
    path = [next(iter(waiting))]
    while True:
        before = next(node for node in waiting if node in waiting[path[-1]])
        if before in path:
            cycle = path[path.index(before) :][::-1]
            first = cycle.index(next(node for node in waiting if node in cycle))
            return cycle[first:] + cycle[:first]
        path.append(before)


def dependencies(shape: Shape) -> Mapping[str, frozenset[str]]:
    """What each node waits for in an execution: its predecessors, and nodes of the same module.

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
    """Per node which invocation of its module it is in an execution, from 1, and of how many."""
    order = execution_order(shape)
    totals: dict[str, int] = {}
    number: dict[str, int] = {}
    for node in order:
        module = shape.nodes[node].name
        totals[module] = totals.get(module, 0) + 1
        number[node] = totals[module]
    return {node: (number[node], totals[shape.nodes[node].name]) for node in order}
