"""Random ways for a job's edges to arrive: order, partitions, batches, flushes, evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.reduction import Final, Partial, Reducer, merge
from semiring.base import Semiring
from tests.graphquery.reduction.jobs import EVIDENCE, Job, counted, declared, full

Pair = tuple[str, str]


def messages(
    job: Job, evidence: str, rng: np.random.Generator, semiring: Semiring[Any] | None = None
) -> list[Partial]:
    """A job's edges in messages of random sizes, and its declarations, in a random order."""
    order = rng.permutation(len(job.edges)).tolist()
    widest = int(rng.choice([1, 3, 10]))
    parts = declared(job, evidence, rng, semiring)
    while order:
        size = int(rng.integers(1, widest + 1))
        places, order = order[:size], order[size:]
        part = full(job, places, semiring)
        if evidence == "functions":
            counts = Partial.about(counted(job, places), pa.string(), semiring)
            part = merge([part, counts], semiring)
        parts.append(part)
    return [parts[place] for place in rng.permutation(len(parts))]


def through(
    parts: list[Partial],
    rng: np.random.Generator,
    semiring: Semiring[Any] | None = None,
    *,
    hubs: bool = True,
) -> tuple[list[Final], Reducer]:
    """Local reducers, whichever a message happens to go to, random flushes, and a global one."""
    width = int(rng.integers(0, 6))
    batch = int(rng.choice([1, 5, 1000]))
    last = Reducer(semiring, hubs=hubs, batch=batch)
    if width == 0:
        for part in parts:
            last.add(part)
        last.seal()
        return last.take_final(), last
    local = [Reducer(semiring, hubs=hubs, batch=batch, partial=True) for _ in range(width)]
    finals: list[Final] = []
    often = float(rng.choice([0.05, 0.5]))
    for part in parts:
        reducer = local[int(rng.integers(width))]
        reducer.add(part)
        if rng.random() < often:
            last.add(reducer.flush())
            finals += reducer.take_final()
    for reducer in local:
        last.add(reducer.flush())
        finals += reducer.take_final()
    last.seal()
    return finals + last.take_final(), last


def random_evidence(rng: np.random.Generator) -> str:
    return str(rng.choice(EVIDENCE))


def edges_of(finals: list[Final]) -> list[tuple[str, str, Any]]:
    """Final edges with their labels; True where there are none."""
    found = []
    for final in finals:
        keys, edges = final.keys.to_pylist(), final.edges
        values: list[Any] = [True] * len(edges)
        if edges.label is not None and edges.semiring is not None:
            values = edges.semiring.unpack(edges.label)
        ends = zip(edges.source.tolist(), edges.dest.tolist(), values, strict=True)
        found += [(keys[source], keys[dest], label) for source, dest, label in ends]
    return found


def without(job: Job, **changes: Any) -> Job:
    return replace(job, **changes)
