"""Figure 13: pairs that are lost when the stream comes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmark_workflowgen.events.baseline import DependencyMatrix, accuracy
from benchmark_workflowgen.events.jobs import JobExecution, Pair, edges_of, ends_of, partial_of
from benchmark_workflowgen.events.published_reducer import Published, Remembered, WindowedReducer
from graphquery.reduction import Reducer
from graphquery.reduction.reducer import pairs

WINDOW = 1_000


def disordered(count: int, fraction: float, displacement: int, seed: int) -> list[int]:
    """Return an order of elements: a fraction of them moved by up to so many places."""
    rng = np.random.default_rng(seed)
    positions = np.arange(count, dtype=np.float64)
    moved = rng.random(count) < fraction
    positions[moved] += rng.uniform(-displacement, displacement, int(moved.sum()))
    order: list[int] = np.argsort(positions, kind="stable").tolist()
    return order


def measure(
    executions: Sequence[JobExecution], fraction: float, displacement: int, seed: int
) -> list[dict[str, Any]]:
    """Recall and precision of every algorithm over one disorder, of messages and of edges."""
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
