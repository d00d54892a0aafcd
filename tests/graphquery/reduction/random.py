"""Random jobs through random reducers, held against both oracles.

``python -m tests.graphquery.reduction.random 0-10000 --output FILE`` goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphquery.reduction import Final
from semiring.base import Semiring
from semiring.semirings import Counting, Polynomials, Tropical, Viterbi, Why
from tests.graphquery.reduction.jobs import Job, random_job
from tests.graphquery.reduction.oracle import Pair, job_labels, labels, recursive, swept
from tests.graphquery.reduction.streams import (
    edges_of,
    messages,
    random_evidence,
    through,
    through_shards,
)

SEMIRINGS = (None, Counting(), Tropical(), Why(), Viterbi(), Polynomials())
TOGETHER = 100


@dataclass(frozen=True)
class Case:
    """One job reduced one way."""

    seed: int
    job: Job
    reduced: set[Pair]
    expected: set[Pair]


def run(seed: int) -> Case:
    """Reduce a random job, and hold it against the sweep and the labels of all paths.

    Raises
    ------
    AssertionError
        Naming the seed.
    """
    rng = np.random.default_rng(seed)
    job = random_job(rng)
    semiring = SEMIRINGS[seed % len(SEMIRINGS)]
    evidence = random_evidence(rng)
    hubs = bool(rng.random() < 0.5)
    parts = messages(job, evidence, rng, semiring)
    finals, last = through(parts, rng, semiring, hubs=hubs)
    where = f"seed {seed}, {evidence}, hubs {hubs}, {semiring}"
    assert len(last.state.edges) == 0, f"{where}: edges are left"
    assert len(last.state.keys) == 0, f"{where}: vertices are left"
    assert last.report.exact, f"{where}: {last.report.named}"
    expected = swept({edge[:2] for edge in job.edges}, job.effects, job.causes)
    reduced = compare(finals, job, expected, semiring, where, hubs=hubs)
    shards = through_shards(parts, rng, semiring, hubs=hubs)
    where += f", {shards.count} shards"
    assert all(len(state.keys) == 0 for state in shards.states), f"{where}: vertices are left"
    assert not shards.reported, f"{where}: {shards.reported}"
    compare(shards.finals, job, expected, semiring, where, hubs=hubs)
    return Case(seed, job, reduced, expected)


def compare(
    finals: list[Final],
    job: Job,
    expected: set[Pair],
    semiring: Semiring[Any] | None,
    where: str,
    *,
    hubs: bool,
) -> set[Pair]:
    """Hold final edges against the pairs that there are; return the pairs that they tell."""
    edges = edges_of(finals)
    ends = [edge[:2] for edge in edges]
    full = {edge[:2] for edge in job.edges}
    reduced = swept(ends, job.effects, job.causes)
    assert reduced == expected, f"{where}: lost {expected - reduced}, new {reduced - expected}"
    assert len(ends) == len(set(ends)), f"{where}: an edge came out twice"
    vertices = {end for pair in ends for end in pair}
    if hubs:
        assert len(ends) <= len(full), f"{where}: {len(ends)} edges for {len(full)}"
    else:
        assert vertices <= job.effects | job.causes, f"{where}: an intermediate is left"
        assert set(ends) <= expected, f"{where}: an edge is not a pair"
    if semiring is not None:
        sums = labels(edges, job.effects, job.causes, semiring)
        wanted = job_labels(job, semiring)
        for pair, label in wanted.items():
            same = np.isclose(sums[pair], label) if semiring.name == "Viterbi" else None
            assert sums[pair] == label or same, f"{where}: another label of {pair}"
    return reduced


def check(seeds: list[int]) -> list[Case]:
    """Run some seeds, and hold all of them against recursive SQL.

    Raises
    ------
    AssertionError
        Naming the seed.
    """
    cases = [run(seed) for seed in seeds]
    graphs = [([e[:2] for e in c.job.edges], c.job.effects, c.job.causes) for c in cases]
    for case, pairs in zip(cases, recursive(graphs), strict=True):
        assert case.reduced == pairs, f"seed {case.seed}: SQL says otherwise"
    return cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", help="FROM-TO")
    parser.add_argument("--output", type=Path, help="where to note what was done")
    given = parser.parse_args()
    first, last = map(int, given.seeds.split("-"))
    if given.output is not None and given.output.exists():
        first = max(first, int(given.output.read_text()))
    started, pairs, edges = time.monotonic(), 0, 0
    for start in range(first, last, TOGETHER):
        cases = check(list(range(start, min(start + TOGETHER, last))))
        pairs += sum(len(case.expected) for case in cases)
        edges += sum(len(case.job.edges) for case in cases)
        if given.output is not None:
            given.output.write_text(str(start + len(cases)))
        if start % 1000 == 0:
            print(f"{start + len(cases):,}: {time.monotonic() - started:.0f} s", flush=True)
    print(f"{last - first:,} graphs, {edges:,} edges, {pairs:,} pairs: all as the oracles say")


if __name__ == "__main__":
    main()
