"""The peak state of a reducer, over streams of increasingly many consecutive computations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmark_workflowgen.events.jobs import JobExecution, batches, partial_of
from graphquery.reduction import Reducer


def measure(executions: Sequence[JobExecution], computations: int, batch: int) -> dict[str, Any]:
    """Reduce a number of computations, each with its own entities; return the peak of the state."""
    reducer = Reducer(batch=batch)
    kept = 0
    for number in range(computations):
        for group in batches([renamed(each, str(number)) for each in executions], batch):
            reducer.add(partial_of(group))
        kept += sum(len(final.edges) for final in reducer.take_final())
    reducer.seal()
    report = reducer.report
    return {
        "computations": computations,
        "edges": report.received,
        "kept": kept,
        "peak edges": report.peak_edges,
        "peak bytes": report.peak_bytes,
        "peak of edges": round(report.peak_edges / report.received, 3),
    }


def renamed(execution: JobExecution, prefix: str) -> JobExecution:
    """Return the same execution in a different computation."""
    return replace(
        execution,
        name=f"{prefix}:{execution.name}",
        uses=tuple(f"{prefix}:{each}" for each in execution.uses),
        generates=tuple(f"{prefix}:{each}" for each in execution.generates),
    )
