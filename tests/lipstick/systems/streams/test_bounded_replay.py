"""Replays from a bounded prefix find what replays from the beginning find."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.changes import Changes
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.prefix import whole
from lipstick.systems.streams.recording import InMemory, Recording
from lipstick.systems.streams.replay import ReplayOutcome
from lipstick.systems.streams.stored import Stored
from tests.lipstick.systems.streams.generated import (
    graph_of,
    random_inputs,
    random_specs,
    run_graph,
)

module = import_module("lipstick.systems.streams.replay")  # the package has a function of this name


def _told(replayed: ReplayOutcome) -> dict[str, Any]:
    told: dict[str, Any] = {"not deterministic": replayed.not_deterministic}
    for what in ("same", "changed", "gone"):
        part = getattr(replayed, what)
        told[what] = {sid: part.numbers(sid) for sid in part.streams}
    # Numbers of what was not recorded are those of the replay.
    part = replayed.appeared
    told["appeared"] = {sid: keys.t.tolist() for sid, keys in part.streams.items()}
    return told


def _changes(recording: Recording, rng: np.random.Generator, until: int) -> Changes | None:
    corrected: dict[str, Any] = {}
    removed: dict[str, Any] = {}
    for sid in recording.graph.sources:
        keys = recording.whole(sid)
        keys = keys.take(np.flatnonzero(keys.t <= until))
        if not len(keys) or rng.random() < 0.3:
            continue
        names = list(keys.n.tolist())
        if keys.code is not None:
            values = recording.codes.decode(keys.code).to_pylist()
            names = list(zip(values, names, strict=True))
        first, second = (names[int(index)] for index in rng.integers(0, len(names), 2))
        corrected[sid] = {first: {"v": int(rng.integers(0, 20))}}
        removed[sid] = [second]
    return Changes(corrected, removed) if corrected else None


@pytest.mark.parametrize("seed", range(3000, 3012))
def test_random_graphs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a random period or random results, unchanged and with changes."""
    rng = np.random.default_rng(seed)
    specs = random_specs(rng)
    batches = int(rng.choice([1, 3, 10]))
    _, recording = run_graph(specs, random_inputs(specs, rng, batches, 60), seed, batches)
    graph = graph_of(specs)
    ends = [sid for sid in graph.recorded if not graph.consumers(sid)]
    sid = ends[int(rng.integers(len(ends)))]
    times = recording.whole(sid).t
    if not len(times):
        return
    low, high = sorted(int(time) for time in rng.choice(times, 2))
    for given in ({"period": (low, high)}, {"events": Events(sid, t=(low, high))}):
        for changes in (None, _changes(recording, rng, int(times[times <= high].max()))):
            bounded = module.replay(graph, recording, changes=changes, **given)
            if changes is None:
                assert bounded.identical
                assert not bounded.not_deterministic
            with monkeypatch.context() as patch:
                patch.setattr(
                    module, "prefix_of", lambda recording, first, counted: whole(graph, first)
                )
                full = module.replay(graph, recording, changes=changes, **given)
            assert _told(bounded) == _told(full)
            assert len(bounded.results.whole(sid)) <= len(full.results.whole(sid))


def test_a_period_reads_no_more_than_its_windows_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = Graph("q")
    source = graph.source("s", time="ts")
    source.time_window(30, name="w").aggregate({"v": ("sum", "v")}, name="a")
    source.length_window(4, name="l").aggregate({"v": ("max", "v")}, name="b")
    with Assertions(tmp_path / "store") as recorder:
        runner = Runner(graph, recorders=[recorder])
        for batch in range(50):
            ts = np.arange(batch * 100, (batch + 1) * 100, 5)
            runner.push({"s": pa.table({"ts": ts, "v": ts % 7})})
    loaded: list[int] = []
    load_content = Stored.load_content

    def counted(self: Stored, sid: str, parts: Any) -> Any:
        loaded.append(len(parts))
        return load_content(self, sid, parts)

    monkeypatch.setattr(Stored, "load_content", counted)
    replayed = module.replay(graph, Stored(tmp_path / "store"), period=(2500, 2600))
    assert replayed.identical
    assert (len(replayed.same.streams["a"]), len(replayed.same.streams["b"])) == (21, 21)
    assert max(loaded) <= 3
    assert isinstance(replayed.results, InMemory)
    assert replayed.results.whole("s").t.min() == 2470
