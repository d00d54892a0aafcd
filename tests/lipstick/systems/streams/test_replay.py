"""Replays: of unchanged input bit for bit, and of changed input as a run over it would be."""

from itertools import count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.changes import Changes
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.recording import InMemory
from lipstick.systems.streams.replay import replay
from lipstick.systems.streams.stored import Stored
from tests.lipstick.systems.streams.generated import (
    graph_of,
    random_inputs,
    random_specs,
    run_graph,
)


@pytest.mark.parametrize("seed", range(200, 206))
def test_unchanged_input_gives_the_recorded_output(seed: int) -> None:
    """In one batch what was recorded in many: keys and content, to the bit, of all and of some."""
    rng = np.random.default_rng(seed)
    specs = random_specs(rng)
    inputs = random_inputs(specs, rng, 5, 40)
    _, recording = run_graph(specs, inputs, seed, 5)
    graph = graph_of(specs)
    whole = replay(graph, recording)
    assert (whole.identical, whole.not_deterministic) == (True, ()), f"seed {seed}"
    part = replay(graph, recording, period=(20, 60))
    assert (part.identical, part.not_deterministic) == (True, ()), f"seed {seed}"
    for sid in graph.recorded:
        keys = recording.whole(sid)
        if graph.node(sid).operator is not None and len(keys):
            some = replay(graph, recording, events=Events(sid, t=(10, 40)))
            assert some.identical, f"seed {seed}: {sid}"


def _readings(values: list[float]) -> pa.Table:
    return pa.table({"ts": [10 * i for i in range(1, len(values) + 1)], "v": values})


def _graph() -> Graph:
    graph = Graph("q")
    window = graph.source("s", time="ts").time_window(20)
    high = window.aggregate({"v": ("mean", "v")}, name="mean").filter(_above, name="high")
    high.map(lambda table: table, name="alarm")
    return graph


def _above(table: pa.Table) -> np.ndarray:
    return table.column("v").to_numpy() > 50  # type: ignore[no-any-return]


VALUES = [60.0, 20.0, 90.0, 10.0, 80.0, 70.0]


def _recorded(path: Path) -> Stored:
    with Assertions(path) as recorder:
        runner = Runner(_graph(), recorders=[recorder])
        for start in range(0, 6, 2):
            runner.push({"s": _readings(VALUES).slice(start, 2)})
        runner.close()
    return Stored(path)


def test_corrected_removed_and_added_events(tmp_path: Path) -> None:
    """What is same, changed, gone and new is what a run over the changed input says."""
    recording = _recorded(tmp_path / "st")  # means: 60 40 56.7 40 60 53.3
    assert recording.whole("alarm").t.tolist() == [10, 30, 50, 60]
    assert replay(_graph(), recording).same.numbers("alarm") == [1, 2, 3, 4]
    corrected = replay(_graph(), recording, changes=Changes(corrected={"s": {3: {"v": 30.0}}}))
    # means: 60 40 36.7 20 40 53.3
    assert corrected.gone.streams["alarm"].t.tolist() == [30, 50]
    assert corrected.same.streams["alarm"].t.tolist() == [10, 60]
    assert len(corrected.changed) == len(corrected.appeared) == 0
    removed = replay(_graph(), recording, changes=Changes(removed={"s": [2]}))
    # means: 60 . 75 50 60 53.3
    assert removed.changed.streams["alarm"].t.tolist() == [30]
    assert removed.results.content("alarm", removed.changed.streams["alarm"]).to_pylist() == [
        {"v": 75.0}
    ]
    late = pa.table({"ts": [20], "v": [100.0]})
    added = replay(_graph(), recording, changes=Changes(added={"s": late}))
    assert added.appeared.streams["alarm"].t.tolist() == [21, 40]
    assert added.changed.streams["alarm"].t.tolist() == [30]
    assert added.same.streams["alarm"].t.tolist() == [10, 50, 60]


def test_an_operator_that_is_not_deterministic_is_named() -> None:
    numbers = count()
    graph = Graph("q")
    mapped = graph.source("s", time="ts").map(
        lambda table: {"v": [next(numbers) for _ in range(table.num_rows)]}, name="counted"
    )
    mapped.map(lambda table: table, name="after")
    for full in (True, False):
        recording = InMemory(full=full)
        runner = Runner(graph, recorders=[recording])
        runner.push({"s": _readings(VALUES)})
        runner.close()
        assert replay(graph, recording).not_deterministic == ("counted",)


def test_refusals(tmp_path: Path) -> None:
    recording = _recorded(tmp_path / "st")
    other = Graph("q")
    other.source("s", time="ts").time_window(21)
    with pytest.raises(StreamError, match="not the one that was recorded"):
        replay(other, recording)
    with pytest.raises(StreamError, match="events or of a period"):
        replay(_graph(), recording, events=Events("alarm", 1), period=(0, 1))
    with pytest.raises(StreamError, match="no event 9 in what is replayed"):
        replay(_graph(), recording, changes=Changes(removed={"s": [9]}))
    with pytest.raises(StreamError, match="only sources can be changed"):
        replay(_graph(), recording, changes=Changes(removed={"alarm": [1]}))
    with pytest.raises(StreamError, match="'ts' cannot be corrected"):
        replay(_graph(), recording, changes=Changes(corrected={"s": {1: {"ts": 3}}}))
