"""Figure 15 and Table I: edges after local and global reduction, by partitioning and batch size."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from benchmark_workflowgen.events.jobs import (
    JobExecution,
    Pair,
    batches,
    bytes_of,
    edges_of,
    partial_of,
)
from benchmark_workflowgen.events.published_reducer import Flush, Published
from graphquery.reduction import Partial, Reducer
from graphquery.reduction.reducer import pairs

PARTITIONINGS = ("horizontal", "vertical", "random")


def partition_of(execution: JobExecution, partitioning: str, count: int) -> int:
    """Return the partition of an execution's messages: by function, worker, or hash of its name."""
    if partitioning == "vertical":
        return execution.worker % count
    name = execution.function if partitioning == "horizontal" else execution.name
    return zlib.crc32(name.encode()) % count


def parts_of(
    executions: Sequence[JobExecution], partitioning: str, count: int
) -> list[list[JobExecution]]:
    """Return the executions of every partition."""
    parts: list[list[JobExecution]] = [[] for _ in range(count)]
    for each in executions:
        parts[partition_of(each, partitioning, count)].append(each)
    return parts


def measure(
    executions: Sequence[JobExecution], partitioning: str, size: int, count: int
) -> dict[str, Any]:
    """Return the numbers of edges that local reducers emit, and that remain in the end."""
    parts = parts_of(executions, partitioning, count)
    exact, out = exact_locally(parts, size)
    published = sum(published_locally(parts, size))
    return {
        "partitioning": partitioning,
        "batch": size,
        "input": len(edges_of(executions)),
        "local, exact": out + len(exact[1]),
        "local, published": published,
        "final": len(globally(*exact)),
        "largest partition": round(max(map(len, parts)) / (len(executions) / count), 2),
    }


def exact_locally(
    parts: Sequence[Sequence[JobExecution]], size: int
) -> tuple[tuple[list[Partial], set[Pair]], int]:
    """Return the flushes and final edges of exact local reducers, and the number of edges
    flushed.
    """
    flushes: list[Partial] = []
    final: set[Pair] = set()
    for part in parts:
        reducer = Reducer(partial=True, batch=size)
        for group in batches(part, size):
            reducer.add(partial_of(group))
            flushes.append(reducer.flush())
        final |= pairs(reducer.take_final())
    return (flushes, final), sum(len(each.edges) for each in flushes)


def globally(flushes: Sequence[Partial], final: set[Pair]) -> set[Pair]:
    """Return the remaining edges after all have arrived."""
    reducer = Reducer()
    for flushed in flushes:
        reducer.add(flushed)
    reducer.seal()
    return final | pairs(reducer.take_final())


def published_locally(parts: Sequence[Sequence[JobExecution]], size: int) -> list[int]:
    """Return the number of edges that reducers of the algorithm as printed emit in each flush."""
    emitted = []
    for part in parts:
        for group in batches(part, size):
            state = Published()
            for each in group:
                for side in (each.used, each.generated):
                    if side:
                        state.add(side)
            emitted.append(sum(map(len, state.flush(Flush.WHOLE))))
    return emitted


def table_one(executions: Sequence[JobExecution], size: int, count: int) -> list[dict[str, Any]]:
    """Return edges and bytes in one encoding: of the input, after local and after global reduction.

    Dead ends, executions without results, are reported separately: the paper does not state their
    number.
    """
    alive = [each for each in executions if each.generates]
    rows = []
    for name, chosen in (("all", executions), ("without dead ends", alive)):
        raw = edges_of(chosen)
        exact, _ = exact_locally(parts_of(chosen, "vertical", count), size)
        local = [*exact[1]]
        for flushed in exact[0]:
            keys = flushed.keys.to_pylist()
            ends = zip(flushed.edges.source.tolist(), flushed.edges.dest.tolist(), strict=True)
            local += [(keys[source], keys[dest]) for source, dest in ends]
        final = list(globally(*exact))
        rows.append(
            {
                "input": name,
                "edges in": len(raw),
                "edges local": len(local),
                "edges out": len(final),
                "edge ratio": round(len(raw) / len(final), 2),
                "bytes in": bytes_of(raw),
                "bytes local": bytes_of(local),
                "bytes out": bytes_of(final),
                "byte ratio": round(bytes_of(raw) / bytes_of(final), 2),
            }
        )
    return rows
