"""Formulas of storage and memory against what is measured."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.planning import held, held_in, measured, predicted_held
from lipstick.systems.streams.stored import Stored


def _graph() -> Graph:
    graph = Graph("q")
    first = graph.source("one", time="ts", key="k", disorder=50)
    two = graph.source("two", time="ts", key="k", disorder=50)
    first.time_window(300, name="time")
    first.length_window(10, name="length")
    first.join_time(two, 100, 200, (("v", "v"),), name="time_join")
    first.join_length(two, 5, 7, (("v", "v"),), name="length_join")
    first.merge(two, name="merged").map(lambda table: {"v": table.column("v")}, name="mapped")
    return graph


def _events(count: int, first: int, step: int) -> pa.Table:
    ts = first + step * np.arange(count)
    return pa.table({"ts": ts, "k": (ts // step) % 4, "v": np.arange(count) % 3})


def test_events_in_memory_are_as_many_as_the_formula_says(tmp_path: Path) -> None:
    """Of steady streams, 1 and 1/2 events a tick, with four values of the key."""
    graph = _graph()
    with Assertions(tmp_path / "store") as recorder:
        runner = Runner(graph, recorders=[recorder])
        for batch in range(4):
            first = batch * 2000
            runner.push({"one": _events(2000, first, 1), "two": _events(1000, first, 2)})
        in_memory = runner.held_by_stream()
    recording = Stored(tmp_path / "store")
    assert held_in(recording) == in_memory
    for formula in (
        predicted_held(recording),
        held(graph, {sid: 1 / (2 if sid == "two" else 1) for sid in graph.recorded}, 4),
    ):
        for sid, count in in_memory.items():
            assert formula[sid] == pytest.approx(count, rel=0.03, abs=8), sid


def test_bytes_in_a_store_are_as_many_as_predicted(tmp_path: Path) -> None:
    """From a third of the events, what all of them take."""
    sizes = []
    for count in (1, 3):
        with Assertions(tmp_path / f"store{count}") as recorder:
            runner = Runner(_graph(), recorders=[recorder])
            for batch in range(count):
                first = batch * 20_000
                runner.push({"one": _events(20_000, first, 1), "two": _events(10_000, first, 2)})
        sizes.append(measured(Stored(tmp_path / f"store{count}")))
    for before, after in zip(*sizes, strict=True):
        bytes_now = (after.bytes_per_event or 0.0) * after.events
        assert before.predicted(90_000) == pytest.approx(bytes_now, rel=0.1), after.stream
