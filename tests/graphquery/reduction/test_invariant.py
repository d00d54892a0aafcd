"""The invariant over random jobs, and the laws of merging, late edges among them."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphquery.reduction import (
    EdgeType,
    Evidence,
    Partial,
    Reducer,
    ReductionCycleError,
    merge,
    reduce,
)
from graphquery.reduction.late import repair
from semiring.semirings import Counting
from tests.graphquery.reduction.jobs import full, random_job
from tests.graphquery.reduction.oracle import job_labels, job_pairs, labels, swept
from tests.graphquery.reduction.random import check
from tests.graphquery.reduction.streams import edges_of, messages, through

SAMPLE = int(os.environ.get("LIPSTICK_REDUCED", "30"))
"""How many random jobs the tests take; the command takes any number."""


def test_random_jobs_by_both_oracles() -> None:
    """Pairs, labels, completeness and size, whatever the order, partitions, flushes, evidence."""
    cases = check(list(range(20_000, 20_000 + SAMPLE)))
    assert sum(len(case.expected) for case in cases) > 5 * SAMPLE
    several = sum(_has_several_readers(case.job.edges) for case in cases)
    assert several > SAMPLE // 4


def _has_several_readers(edges: tuple[tuple[str, str, EdgeType], ...]) -> bool:
    generated = {source for source, _, kind in edges if kind is EdgeType.GENERATED}
    read = [dest for _, dest, kind in edges if kind is EdgeType.USED and dest in generated]
    return len(read) > len(set(read))


def canonical(partial: Partial) -> tuple[object, ...]:
    """A partial graph, whatever the order of its parts."""
    keys = partial.keys.to_pylist()
    known = partial.vertices
    names = [*partial.functions, "several", "unknown"]
    rows = zip(
        keys,
        known.entering.tolist(),
        known.leaving.tolist(),
        known.due_entering.tolist(),
        known.due_leaving.tolist(),
        known.roles.tolist(),
        [names[index] for index in known.scope.tolist()],
        known.ended.tolist(),
        strict=True,
    )
    label = partial.edges.label
    values = [1] * len(partial.edges) if label is None else label.tolist()
    ends = zip(partial.edges.source, partial.edges.dest, values, strict=True)
    edges = sorted((keys[source], keys[dest], value) for source, dest, value in ends)
    return sorted(rows), edges, dict(partial.functions)


@given(seed=st.integers(0, 2**32), cuts=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_merging_is_associative_and_commutative(seed: int, cuts: tuple[float, float]) -> None:
    rng = np.random.default_rng(seed)
    parts = messages(random_job(rng), "functions", rng, Counting())
    low, high = sorted(int(cut * len(parts)) for cut in cuts)
    empty = Partial.about({}, pa.string(), Counting())
    a, b, c = (
        merge([empty, *each], Counting()) for each in (parts[:low], parts[low:high], parts[high:])
    )
    expected = canonical(merge([a, b, c], Counting()))
    assert canonical(merge([merge([a, b], Counting()), c], Counting())) == expected
    assert canonical(merge([a, merge([b, c], Counting())], Counting())) == expected
    assert canonical(merge([c, a, b], Counting())) == expected


@given(seed=st.integers(0, 2**32), width=st.integers(1, 5))
def test_any_partition_order_and_duplication_gives_one_graph(seed: int, width: int) -> None:
    """Messages have keys, by which what was delivered twice is taken once, wherever it went."""
    rng = np.random.default_rng(seed)
    job = random_job(rng)
    parts = dict(enumerate(messages(job, "degrees", rng)))
    expected = _reduced(parts)
    piles: list[dict[int, Partial]] = [{} for _ in range(width)]
    for key, part in parts.items():
        for pile in rng.choice(width, int(rng.integers(1, 3))):
            piles[int(pile)][key] = part
    together: dict[int, Partial] = {}
    for pile in rng.permutation(width):
        together |= piles[int(pile)]
    assert _reduced(together | together) == expected
    assert swept(expected, job.effects, job.causes) == job_pairs(job)


def _reduced(parts: dict[int, Partial]) -> set[tuple[str, str]]:
    reducer = Reducer(hubs=False)
    for part in parts.values():
        reducer.add(part)
    reducer.seal()
    return {edge[:2] for edge in edges_of(reducer.take_final())}


@given(seed=st.integers(0, 2**32))
def test_reducing_again_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    parts = messages(random_job(rng), "some", rng)
    once = reduce(merge(parts)).state
    again = reduce(once)
    assert canonical(again.state) == canonical(once)
    assert len(again.final.edges) == 0


@given(seed=st.integers(0, 2**32), labelled=st.booleans(), hubs=st.booleans())
def test_late_edges_are_repaired_from_the_raw_ones(seed: int, labelled: bool, hubs: bool) -> None:
    """After the seal: pairs, and the labels of all paths, are those of the whole graph."""
    rng = np.random.default_rng(seed)
    job = random_job(rng)
    semiring = Counting() if labelled else None
    is_late = rng.random(len(job.edges)) < 0.2
    in_time, late = (np.flatnonzero(~is_late).tolist(), np.flatnonzero(is_late).tolist())
    early = full(job, in_time, semiring)
    finals, _ = through([early], rng, semiring, hubs=hubs)
    before = edges_of(finals)
    live = pa.array(sorted({end for edge in before for end in edge[:2]}), pa.string())
    added = repair(early, full(job, late, semiring), live, semiring=semiring)
    mended = before + edges_of([reduce(added, Evidence(sealed=True), hubs=hubs).final])
    # A terminal is what the whole graph says it is, or was kept: declared terminals were not.
    effects, causes = job.effects - job.kept, job.causes - job.kept
    full_pairs = swept([edge[:2] for edge in job.edges], effects, causes)
    assert swept([edge[:2] for edge in mended], effects, causes) == full_pairs
    if semiring is not None:
        sums, wanted = labels(mended, effects, causes, semiring), job_labels(job, semiring)
        assert all(sums[pair] == wanted[pair] for pair in full_pairs)


@given(seed=st.integers(0, 2**32))
def test_late_edges_meet_what_is_open(seed: int) -> None:
    """Before the seal: executions end, the watermark passes, and some of their edges come late."""
    rng = np.random.default_rng(seed)
    job = random_job(rng)
    order = rng.permutation(len(job.edges)).tolist()
    cut = int(rng.integers(0, len(order) + 1))
    first, later = order[:cut], order[cut:]
    ended = [f for f in sorted(job.activities) if rng.random() < 0.5]
    reducer = Reducer(hubs=False, batch=1)
    reducer.add(full(job, first))
    reducer.add(Partial.declaring(pa.array(ended, pa.string()), ended=1))
    reducer.advance(2)
    finals = reducer.take_final()
    is_late = [bool({*job.edges[index][:2]} & {*ended}) for index in later]
    late = [index for index, flag in zip(later, is_late, strict=True) if flag]
    live = pa.array(sorted({end for e in edges_of(finals) for end in e[:2]}), pa.string())
    opened = reducer.state.keys
    reducer.add(repair(full(job, first), full(job, late), live, opened))
    reducer.add(full(job, [p for p, flag in zip(later, is_late, strict=True) if not flag]))
    reducer.seal()
    late_edges = edges_of(finals + reducer.take_final())
    effects, causes = job.effects - job.kept, job.causes - job.kept
    expected = swept([edge[:2] for edge in job.edges], effects, causes)
    assert swept([edge[:2] for edge in late_edges], effects, causes) == expected


def test_late_edges_that_close_a_cycle_are_refused() -> None:
    def part(*ends: tuple[str, str]) -> Partial:
        source, dest = zip(*ends, strict=True)
        return Partial.of_edges(pa.array(source), pa.array(dest))

    raw = part(("o", "a"), ("a", "b"), ("b", "i"))
    with pytest.raises(ReductionCycleError, match="Late edges close a cycle through"):
        repair(raw, part(("b", "a")), pa.array(["o", "i"]))
