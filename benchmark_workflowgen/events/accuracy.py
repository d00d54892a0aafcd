"""Figure 13: pairs lost when the stream arrives out of order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from graphlib import TopologicalSorter
from operator import or_
from typing import Any

import numpy as np

from benchmark_workflowgen.events.jobs import JobExecution, Pair, edges_of, ends_of, partial_of
from benchmark_workflowgen.events.published_reducer import (
    Published,
    Remembered,
    Vertex,
    WindowedReducer,
)
from graphquery.reduction import Reducer
from graphquery.reduction.reducer import pairs


class DependencyMatrix:
    """For every vertex, the inputs that it was known to depend on when its edges arrived."""

    def __init__(self) -> None:
        self._rows: dict[Vertex, set[Vertex]] = {}

    def add(self, group: Iterable[tuple[Vertex, Vertex]]) -> None:
        """Add edges, one after another. Later edges of a cause do not reach earlier effects."""
        for source, dest in group:
            self._rows.setdefault(source, set()).update(self._rows.get(dest) or {dest})

    @property
    def edges(self) -> set[tuple[Vertex, Vertex]]:
        """Every vertex with dependencies, paired with each."""
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
    full: Collection[tuple[Vertex, Vertex]],
    reduced: Collection[tuple[Vertex, Vertex]],
    outputs: Collection[Vertex],
    inputs: Collection[Vertex],
) -> Accuracy:
    """Compare the pairs connected by paths in two graphs, edge by edge."""
    wanted = reachable(full, outputs, inputs)
    masks = reachable(reduced, outputs, inputs)
    count = sum(mask.bit_count() for mask in wanted.values())
    told = sum(mask.bit_count() for mask in masks.values())
    both = sum((mask & masks[output]).bit_count() for output, mask in wanted.items())
    return Accuracy(both / count if count else 1.0, both / told if told else 1.0, count)


def reachable(
    edges: Iterable[tuple[Vertex, Vertex]], outputs: Iterable[Vertex], inputs: Iterable[Vertex]
) -> Mapping[Vertex, int]:
    """Return, for every output, the inputs that a path leads to, as a set of bits.

    A sweep over the acyclic graph in reverse topological order, without recursion.
    """
    causes: dict[Vertex, set[Vertex]] = {}
    for source, dest in edges:
        causes.setdefault(source, set()).add(dest)
    bits = {vertex: 1 << number for number, vertex in enumerate(inputs)}
    masks: dict[Vertex, int] = {}
    for vertex in TopologicalSorter(causes).static_order():
        above = (masks[cause] | bits.get(cause, 0) for cause in causes.get(vertex, ()))
        masks[vertex] = reduce(or_, above, 0)
    return {output: masks.get(output, 0) for output in outputs}


WINDOW = 1_000


def disordered(count: int, fraction: float, displacement: int, seed: int) -> list[int]:
    """Return an order of elements with a fraction of them moved by up to `distance` positions."""
    rng = np.random.default_rng(seed)
    positions = np.arange(count, dtype=np.float64)
    moved = rng.random(count) < fraction
    positions[moved] += rng.uniform(-displacement, displacement, int(moved.sum()))
    order: list[int] = np.argsort(positions, kind="stable").tolist()
    return order


def measure(
    executions: Sequence[JobExecution], fraction: float, displacement: int, seed: int
) -> list[dict[str, Any]]:
    """Return recall and precision of every algorithm for one disorder, of messages and of edges."""
    full = edges_of(executions)
    outputs, inputs = ends_of(executions)
    sides = [group for each in executions for group in (each.used, each.generated) if group]
    moved = [sides[n] for n in disordered(len(sides), fraction, displacement, seed)]
    single = [[full[n]] for n in disordered(len(full), fraction, displacement, seed)]
    whole = [executions[n] for n in disordered(len(executions), fraction, displacement, seed)]
    rows = []
    for name, unit, edges in (
        ("grouping", "message", _added(Published(), moved)),
        ("as printed", "edge", _added(Published(), single)),
        ("window, raw", "edge", _added(WindowedReducer(WINDOW), single)),
        ("window, deleted", "edge", _added(WindowedReducer(WINDOW, Remembered.DELETED), single)),
        ("Chen et al.", "edge", _added(DependencyMatrix(), single)),
        ("exact", "message", _exact(whole)),
    ):
        measured = accuracy(full, edges, outputs, inputs)
        rows.append(
            {
                "fraction": fraction,
                "displacement": displacement,
                "algorithm": name,
                "unit": unit,
                "recall": round(measured.recall, 4),
                "precision": round(measured.precision, 4),
                "pairs": measured.pairs,
            }
        )
    return rows


def _added(state: Any, groups: Sequence[Sequence[Pair]]) -> set[Pair]:
    for group in groups:
        state.add(group)
    edges: set[Pair] = state.edges
    return edges


def _exact(executions: Sequence[JobExecution]) -> set[Pair]:
    reducer = Reducer(batch=500)
    for start in range(0, len(executions), 100):
        reducer.add(partial_of(executions[start : start + 100]))
    reducer.seal()
    return pairs(reducer.take_final())
