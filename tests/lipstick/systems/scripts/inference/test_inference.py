"""Inference held against recorded provenance over random streams."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark_workflowgen.inference.simulate import Simulated, simulate
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.inference import (
    Distribution,
    Method,
    ProcessingElement,
    Ranges,
    Situation,
    StorageChoice,
    View,
    basic,
    by_sequence,
    choose,
    multi_step,
    offset_accuracy,
    one_to_one,
    optimal_offset,
    posterior,
    probabilistic,
    trigger_origin,
)
from lipstick.systems.scripts.inference.infer import chain

STREAMS = int(os.environ.get("LIPSTICK_STREAMS", "40"))
"""Random streams; with more of them the oracle looks further."""

FIG_14 = [(1, 3), (2, 3), (1, 4)]
"""Mean delay and mean sampling time of the paper's three settings; window and trigger are 10."""


def view(*times: int) -> View:
    return View(np.array(times, dtype=np.int64))


def brute(element: ProcessingElement, inputs: View, time: int) -> dict[tuple[int, ...], float]:
    """The probability of every set of inputs of an output, tuple by tuple."""
    chances: dict[tuple[int, ...], float] = {}
    for delay in element.delay.support.tolist():
        trigger = time - delay
        if element.origin is not None and (trigger - element.origin) % element.trigger:
            continue
        inside = [p for p, t in enumerate(inputs.times) if trigger - element.window <= t < trigger]
        key = tuple(inside)
        chances[key] = chances.get(key, 0.0) + float(element.delay.probabilities[delay])
    whole = sum(chances.values())
    return {key: p / whole for key, p in chances.items()}


def drawn(seed: int) -> tuple[list[ProcessingElement], Distribution, Simulated]:
    """A random element and a stream that it has processed."""
    random = np.random.default_rng(seed)
    trigger = int(random.integers(2, 12))
    delay = Distribution(random.dirichlet(np.ones(int(random.integers(1, 6)))))
    element = ProcessingElement(int(random.integers(1, 20)), trigger, delay, origin=None)
    gap = Distribution.poisson(float(random.uniform(0.5, 5)))
    return [element], gap, simulate([element], gap, 600, seed)


def test_fig_13_is_basic_inference() -> None:
    inputs, element = view(1, 3, 5, 7, 9, 11), ProcessingElement(5, 5)
    [ten] = [basic(element, inputs, view(10))]
    assert inputs.times[ten.of(0)[0]].tolist() == [5, 7, 9]
    late = basic(element, inputs, view(11))
    assert inputs.times[late.of(0)[0]].tolist() == [7, 9], "the tuple of time 5 is wrongly left out"
    told = basic(replace(element, delay=Distribution.constant(1)), inputs, view(11))
    assert inputs.times[told.of(0)[0]].tolist() == [5, 7, 9]


@pytest.mark.parametrize("seed", range(STREAMS))
def test_basic_inference_is_exact_where_the_delay_does_not_vary(seed: int) -> None:
    [element], gap, _ = drawn(seed)
    known = replace(element, delay=Distribution.constant(seed % 4))
    stream = simulate([known], gap, 600, seed)
    assert basic(known, stream.inputs, stream.outputs).score(stream.truth).exact == 1.0


@pytest.mark.parametrize("seed", range(STREAMS))
def test_posterior_inference_is_that_of_all_delays_one_by_one(seed: int) -> None:
    [element], _, stream = drawn(seed)
    first = stream.outputs.times[0] if len(stream.outputs) else 0
    for known in (element, replace(element, origin=element.window % element.trigger)):
        inferred = posterior(known, stream.inputs, stream.outputs)
        assert int(first) >= 0
        for output in range(0, len(inferred), 7):
            sets = brute(known, stream.inputs, int(stream.outputs.times[output]))
            places, probability = inferred.of(output)
            assert probability == pytest.approx(max(sets.values())), f"seed {seed}, {output}"
            assert sets[tuple(places.tolist())] == pytest.approx(probability), f"seed {seed}"


@pytest.mark.parametrize("setting", FIG_14, ids=str)
def test_answers_are_right_as_often_as_they_say(setting: tuple[int, int]) -> None:
    delay, gap = (Distribution.poisson(mean) for mean in setting)
    element = ProcessingElement(10, 10, delay)
    stream = simulate([element], gap, 400_000, 5)
    inferred = posterior(element, stream.inputs, stream.outputs)
    score, best = (
        inferred.score(stream.truth),
        probabilistic(element, stream.inputs, stream.outputs),
    )
    assert abs(score.exact - score.claimed) < 0.02
    assert abs(best.score(stream.truth).exact - best.probabilities[0]) < 0.02
    assert score.exact > best.score(stream.truth).exact - 0.005
    right = (inferred.starts == stream.truth.starts) & (inferred.stops == stream.truth.stops)
    for low in np.arange(0.3, 1.0, 0.1):
        some = (inferred.probabilities >= low) & (inferred.probabilities < low + 0.1)
        if some.sum() > 4_000:
            assert abs(right[some].mean() - inferred.probabilities[some].mean()) < 0.02, low


@pytest.mark.parametrize("setting", FIG_14, ids=str)
def test_a_known_grid_of_triggers_gives_999_of_1000(setting: tuple[int, int]) -> None:
    delay, gap = (Distribution.poisson(mean) for mean in setting)
    element = ProcessingElement(10, 10, delay)
    stream = simulate([element], gap, 200_000, 6)
    assert trigger_origin(element, stream.outputs) == 0
    known = replace(element, origin=0)
    assert posterior(known, stream.inputs, stream.outputs).score(stream.truth).exact >= 0.999
    twice = simulate([element, element], gap, 200_000, 7)
    ranges = multi_step([element, known], twice.inputs, twice.outputs)
    assert ranges.score(twice.truth).exact >= 0.999


@pytest.mark.parametrize("setting", FIG_14, ids=str)
def test_multi_step_is_calibrated(setting: tuple[int, int]) -> None:
    delay, gap = (Distribution.poisson(mean) for mean in setting)
    element = ProcessingElement(10, 10, delay)
    stream = simulate([element, element], gap, 200_000, 8)
    score = multi_step([element, element], stream.inputs, stream.outputs).score(stream.truth)
    assert abs(score.exact - score.claimed) < 0.02
    single_step = simulate([element], gap, 200_000, 8)
    single = posterior(element, single_step.inputs, single_step.outputs).score(single_step.truth)
    assert abs(score.exact - single.exact) < 0.03


def test_a_chain_of_one_is_one_step() -> None:
    [element], _, stream = drawn(3)
    single_step = posterior(element, stream.inputs, stream.outputs)
    other = multi_step([element], stream.inputs, stream.outputs)
    assert (single_step.starts == other.starts).all()
    assert single_step.probabilities == pytest.approx(other.probabilities)


def test_the_windows_of_a_chain_have_all_of_the_probability() -> None:
    element = ProcessingElement(12, 5, Distribution(np.array([0.2, 0.5, 0.3])))
    for count in (1, 2, 3):
        hypotheses = chain([element] * count)
        assert sum(each.probability for each in hypotheses) == pytest.approx(1, abs=1e-3)


def test_the_offset_accuracy_is_that_of_the_definitions() -> None:
    gap = Distribution.poisson(3).without_zero()
    accuracies = offset_accuracy(Distribution.poisson(1), gap, np.arange(4))
    assert accuracies == pytest.approx([0.575, 0.637, 0.451, 0.237], abs=0.007)
    assert optimal_offset(Distribution.poisson(1), gap).value == 1
    assert optimal_offset(Distribution.poisson(2), gap).value == 2


def test_windows_and_triggers_by_tuples_follow_by_counting() -> None:
    inputs, outputs = view(1, 2, 2, 5, 9, 9), view(3, 9, 9)
    last = by_sequence(
        ProcessingElement(3, 2, window_by="tuples", trigger_by="tuples"), inputs, outputs
    )
    assert [last.of(k)[0].tolist() for k in range(3)] == [[0, 1], [1, 2, 3], [3, 4, 5]]
    assert not last.inferred
    by_time = by_sequence(ProcessingElement(4, 2, trigger_by="tuples"), inputs, outputs)
    assert [by_time.of(k)[0].tolist() for k in range(3)] == [[0, 1], [1, 2, 3], [4, 5]]
    timed = by_sequence(ProcessingElement(2, 5, window_by="tuples"), inputs, view(5, 10))
    assert [timed.of(k)[0].tolist() for k in range(2)] == [[1, 2], [4, 5]]
    with pytest.raises(ScriptError, match="The views are not whole"):
        by_sequence(ProcessingElement(3, 3, trigger_by="tuples"), inputs, outputs)


def test_one_to_one_is_by_rank() -> None:
    ranges = one_to_one(view(1, 2, 2), view(2, 3, 4))
    assert [ranges.of(k)[0].tolist() for k in range(3)] == [[0], [1], [2]]
    with pytest.raises(ScriptError, match="are not 1:1"):
        one_to_one(view(1, 2), view(2))
    with pytest.raises(ScriptError, match="before its input"):
        one_to_one(view(1, 5), view(2, 3))


def test_views_are_checked(tmp_path: Path) -> None:
    table = pa.table({"txn_time": [3, 1, 1], "seq": [1, 3, 2], "late": [None, 1, 2]})
    pq.write_table(table, tmp_path / "v.parquet")
    assert View.read(tmp_path / "v.parquet").times.tolist() == [1, 1, 3]
    with pytest.raises(ScriptError, match="has no column 'when'; it has txn_time, seq, late"):
        View.of(table, "when")
    with pytest.raises(ScriptError, match="1 tuples have no time in 'late'"):
        View.of(table, "late")
    with pytest.raises(ScriptError, match="times are whole numbers or timestamps"):
        View.of(pa.table({"txn_time": ["a"], "seq": [1]}))
    with pytest.raises(ScriptError, match="Transaction times descend"):
        view(2, 1)


def test_what_cannot_be_inferred_is_refused() -> None:
    varying = ProcessingElement(5, 5, Distribution.poisson(1))
    with pytest.raises(ScriptError, match="needs a delay that does not vary"):
        basic(varying, view(1), view(5))
    with pytest.raises(ScriptError, match="both are at least 1"):
        ProcessingElement(0, 5)
    with pytest.raises(ScriptError, match="There are no samples"):
        Distribution.learned(np.array([], dtype=np.int64))
    with pytest.raises(ScriptError, match="whole time units"):
        Distribution.learned(np.array([0.5]))
    with pytest.raises(ScriptError, match="sum to 1"):
        Distribution(np.array([0.5]))
    with pytest.raises(ScriptError, match="infer step by step"):
        multi_step([ProcessingElement(1, 1, ratio="1:1")], view(1), view(2))


def test_ranges_are_written_and_read(tmp_path: Path) -> None:
    ranges = Ranges(np.array([0, 1]), np.array([2, 4]), np.array([0.5, 1.0]))
    ranges.write(tmp_path / "r.parquet")
    again = Ranges.read(tmp_path / "r.parquet")
    assert (again.starts == ranges.starts).all()
    assert again.inferred
    assert (again.stops == ranges.stops).all()
    ranges.write(tmp_path / "p.parquet", pairs=True)
    pairs = pq.read_table(tmp_path / "p.parquet")
    assert pairs["output"].to_pylist() == [0, 0, 1, 1, 1]
    assert pairs["input"].to_pylist() == [0, 1, 1, 2, 3]


@pytest.mark.parametrize(
    ("situation", "method"),
    [
        (Situation(output_persistent=False), Method.SKIPPED),
        (Situation(selectivity=0.1), Method.EXPLICIT),
        (Situation(selectivity=0.9, offline=True), Method.BASIC),
        (Situation(distributions=False), Method.COLLECT),
        (Situation(delay_varies=False, sampling_varies=False), Method.BASIC),
        (Situation(source_persistent=False), Method.MULTI_STEP),
        (Situation(), Method.PROBABILISTIC),
    ],
)
def test_fig_16_chooses(situation: Situation, method: Method) -> None:
    choice = choose(situation)
    assert isinstance(choice, StorageChoice)
    assert choice.method is method
    assert choice.nulls == (situation.selectivity == 0.9)
