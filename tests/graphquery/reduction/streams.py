"""Random ways for a job's edges to arrive: order, partitions, batches, flushes, evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from graphquery.reduction import Evidence, Final, FunctionCounts, Partial, Reducer, merge
from graphquery.reduction.function_inputs import merge_functions
from graphquery.reduction.resolution import step
from graphquery.reduction.shares import Share, empty_share, joined_shares, split
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
    return [parts[index] for index in rng.permutation(len(parts))]


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


@dataclass
class Shards:
    """Shards of the second stage, stepped until nothing is told any more."""

    count: int
    semiring: Semiring[Any] | None
    hubs: bool
    sealed: bool = False

    def __post_init__(self) -> None:
        self.states = [empty_share(self.semiring) for _ in range(self.count)]
        self.waiting: list[list[Share]] = [[] for _ in range(self.count)]
        self.functions: dict[str, FunctionCounts] = {}
        self.finals: list[Final] = []
        self.reported: list[Any] = []

    def add(self, flushed: Partial) -> None:
        for waiting, share in zip(self.waiting, split(flushed, self.count), strict=True):
            waiting.append(share)
        for name, function in flushed.functions.items():
            known = [self.functions[name]] if name in self.functions else []
            self.functions[name] = merge_functions([*known, function])

    def step(self) -> bool:
        """Whether anything was told."""
        told: list[list[Share]] = [[] for _ in range(self.count)]
        for shard in range(self.count):
            parts = [self.states[shard], *self.waiting[shard]]
            evidence = Evidence(sealed=self.sealed)
            functions, hubs = self.functions, self.hubs
            share = joined_shares(parts, self.semiring)
            stepped = step(share, shard, self.count, evidence, functions, hubs=hubs)
            self.states[shard] = stepped.state
            self.finals.append(stepped.final)
            self.reported += [*stepped.excess.to_pylist(), *stepped.missing.to_pylist()]
            for target, share in stepped.told.items():
                told[target].append(share)
        self.waiting = told
        return any(told)

    def seal(self) -> None:
        self.sealed = True
        while self.step():
            pass


def through_shards(
    parts: list[Partial],
    rng: np.random.Generator,
    semiring: Semiring[Any] | None = None,
    *,
    hubs: bool = True,
) -> Shards:
    """Local reducers, random flushes, and shards that take steps at random moments."""
    batch = int(rng.choice([1, 5, 1000]))
    width = int(rng.integers(1, 4))
    local = [Reducer(semiring, hubs=hubs, batch=batch, partial=True) for _ in range(width)]
    shards = Shards(int(rng.integers(1, 5)), semiring, hubs)
    often = float(rng.choice([0.05, 0.5]))
    for part in parts:
        reducer = local[int(rng.integers(width))]
        reducer.add(part)
        if rng.random() < often:
            shards.add(reducer.flush())
            shards.finals += reducer.take_final()
        if rng.random() < often:
            shards.step()
    for reducer in local:
        shards.add(reducer.flush())
        shards.finals += reducer.take_final()
    shards.seal()
    return shards


def random_evidence(rng: np.random.Generator) -> str:
    return str(rng.choice(EVIDENCE))


def edges_of(finals: list[Final]) -> list[tuple[str, str, Any]]:
    """Final edges with their labels; True where there are none."""
    labelled_edges = []
    for final in finals:
        keys, edges = final.keys.to_pylist(), final.edges
        values: list[Any] = [True] * len(edges)
        if edges.label is not None and edges.semiring is not None:
            values = edges.semiring.unpack(edges.label)
        ends = zip(edges.source.tolist(), edges.dest.tolist(), values, strict=True)
        labelled_edges += [(keys[source], keys[dest], label) for source, dest, label in ends]
    return labelled_edges


def without(job: Job, **changes: Any) -> Job:
    return replace(job, **changes)
