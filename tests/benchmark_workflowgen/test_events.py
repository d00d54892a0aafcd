"""The paper's experiments on streams of events, small."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark_workflowgen.events import accuracy, partitions, queries, state
from benchmark_workflowgen.events.jobs import JobExecution, edges_of, ends_of, hashtag_count
from benchmark_workflowgen.events.streaming_job import emitted
from benchmark_workflowgen.experiments.events import EXPERIMENTS
from benchmark_workflowgen.harness import preset_values
from lipstick.systems.events import reduce_files


@pytest.fixture(scope="module")
def executions() -> list[JobExecution]:
    return hashtag_count(600, 3)


def test_the_exact_algorithm_keeps_all_pairs_under_disorder(executions: list[JobExecution]) -> None:
    rows = {row["algorithm"]: row for row in accuracy.measure(executions, 0.5, 500, 1)}
    assert rows["exact"]["recall"] == rows["exact"]["precision"] == 1
    assert rows["grouping"]["recall"] == 1
    assert rows["as printed"]["recall"] < rows["window, raw"]["recall"] < 1
    assert rows["Chen et al."]["recall"] < 1
    in_order = {row["algorithm"]: row for row in accuracy.measure(executions, 0.0, 500, 1)}
    assert in_order["Chen et al."]["recall"] == 1


def test_local_reducers_leave_less_where_functions_are_together(
    executions: list[JobExecution],
) -> None:
    left = {
        (name, size): partitions.measure(executions, name, size, 3)
        for name in partitions.PARTITIONINGS
        for size in (100, 5_000)
    }
    assert len({row["final"] for row in left.values()}) == 1
    whole = {name: left[name, 5_000]["local, exact"] for name in partitions.PARTITIONINGS}
    assert whole["vertical"] < whole["random"] < whole["horizontal"]
    assert all(row["local, exact"] <= row["local, published"] for row in left.values())


def test_the_ratio_is_told_with_dead_ends_and_without(executions: list[JobExecution]) -> None:
    every, alive = partitions.table_one(executions, 1_000, 3)
    assert every["edges in"] == len(edges_of(executions))
    assert every["edges out"] == alive["edges out"]
    assert every["edge ratio"] > alive["edge ratio"] > 1
    assert every["bytes in"] > every["bytes local"] > every["bytes out"]


def test_questions_are_answered_alike(executions: list[JobExecution], tmp_path: Path) -> None:
    full, reduced = queries.measure(executions, tmp_path, 5)
    assert full["edges"] == len(edges_of(executions))
    assert reduced["store bytes"] < full["store bytes"]


def test_the_state_does_not_grow_with_the_stream(executions: list[JobExecution]) -> None:
    few, many = (state.measure(executions, number, 500) for number in (1, 4))
    assert many["edges"] == 4 * few["edges"]
    assert many["kept"] == 4 * few["kept"]
    assert many["peak edges"] < 1.2 * few["peak edges"]


def test_what_is_emitted_is_the_computation(executions: list[JobExecution], tmp_path: Path) -> None:
    assert emitted(600, tmp_path / "in", 4) == len(edges_of(hashtag_count(600, 4)))
    assert len(list((tmp_path / "in").iterdir())) == 4
    progress = reduce_files([tmp_path / "in"], tmp_path / "store").topics["hashtags"]
    assert progress.exact
    outputs, _ = ends_of(executions)
    assert progress.report.kept >= len(outputs)


def test_the_preset_has_parameters_for_every_experiment() -> None:
    given = preset_values("events")
    assert list(given) == list(EXPERIMENTS)
    assert all({"title", "paper", "tweets"} <= set(each) for each in given.values())
