"""The matrix of dependencies that the paper uses as its baseline, and measures of accuracy.

Source: Chen et al. 2016, as far as the paper describes it: one process stores for every vertex the
inputs it depends on, and assumes that derivations arrive in the order of time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from benchmark_workflowgen.events.published_reducer import Pair, Vertex


class DependencyMatrix:
    """Of every vertex the inputs that it was known to depend on when its edges arrived."""

    def __init__(self) -> None:
        self._rows: dict[Vertex, set[Vertex]] = {}

    def add(self, group: Iterable[Pair]) -> None:
        """Add edges, one after the other. What arrives later of a cause does not reach effects."""
        for source, dest in group:
            self._rows.setdefault(source, set()).update(self._rows.get(dest) or {dest})

    @property
    def edges(self) -> set[Pair]:
        """Every vertex that has dependencies, with each."""
        return {(vertex, cause) for vertex, row in self._rows.items() for cause in row}


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The accuracy of a reduced graph against the full graph (the definitions' section 2).

    Parameters
    ----------
    recall
        The share of the full graph's pairs of output and input that the reduced graph has.
    precision
        The share of the reduced graph's pairs that the full graph has. Both are 1 if there are no
        pairs.
    pairs
        The number of pairs of the full graph.
    """

    recall: float
    precision: float
    pairs: int


def accuracy(
    full: Collection[Pair],
    reduced: Collection[Pair],
    outputs: Collection[Vertex],
    inputs: Collection[Vertex],
) -> Accuracy:
    """Compare the pairs that two graphs have paths between; edge by edge."""
    wanted = reachable(full, outputs, inputs)
    masks = reachable(reduced, outputs, inputs)
    count = sum(mask.bit_count() for mask in wanted.values())
    told = sum(mask.bit_count() for mask in masks.values())
    both = sum((mask & masks[output]).bit_count() for output, mask in wanted.items())
    return Accuracy(both / count if count else 1.0, both / told if told else 1.0, count)


def reachable(
    edges: Iterable[Pair], outputs: Iterable[Vertex], inputs: Iterable[Vertex]
) -> Mapping[Vertex, int]:
    """Of every output the inputs that a path leads to, as a set of bits.

    A sweep over the acyclic graph in reverse topological order, without recursion.
    """
    onward: dict[Vertex, list[Vertex]] = {}
    backward: dict[Vertex, list[Vertex]] = {}
    for source, dest in set(edges):
        onward.setdefault(source, []).append(dest)
        backward.setdefault(dest, []).append(source)
    bits = {vertex: 1 << number for number, vertex in enumerate(inputs)}
    masks: dict[Vertex, int] = {}
    left = {vertex: len(causes) for vertex, causes in onward.items()}
    ready = [vertex for vertex in backward if vertex not in onward]
    while ready:
        vertex = ready.pop()
        own_mask = masks.get(vertex, 0) | bits.get(vertex, 0)
        for effect in backward.get(vertex, ()):
            masks[effect] = masks.get(effect, 0) | own_mask
            left[effect] -= 1
            if not left[effect]:
                ready.append(effect)
    return {output: masks.get(output, 0) for output in outputs}
