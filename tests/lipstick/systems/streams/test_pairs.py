"""The pairs that joins matched, against those that the oracle carried."""

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.pairs import matched_pairs
from lipstick.systems.streams.recording import InMemory
from tests.lipstick.systems.streams import oracle
from tests.lipstick.systems.streams.generated import (
    graph_of,
    random_inputs,
    random_specs,
    run_graph,
)


@pytest.mark.parametrize("first", range(4000, 4040, 20))
def test_random_joins(first: int) -> None:
    """Of all outputs, and of some in the middle."""
    compared = 0
    for seed in range(first, first + 20):
        rng = np.random.default_rng(seed)
        specs = random_specs(rng)
        inputs = random_inputs(specs, rng, 5, 40)
        expected = oracle.run(specs, inputs, oracle.random_delay(seed, 7))
        _, recording = run_graph(specs, inputs, seed, 5)
        for spec in specs:
            if "join" not in spec.kind or not expected[spec.sid]:
                continue
            times = sorted(event.t for event in expected[spec.sid])
            middle = (times[len(times) // 3], times[-len(times) // 3])
            for period in (None, middle):
                have: dict[Any, set[Any]] = defaultdict(set)
                asked_events = Events(spec.sid, t=period)
                for row in matched_pairs(graph_of(specs), recording, asked_events).to_pylist():
                    name = (row["key"], row["n"])
                    for sid, side in zip(spec.inputs, ("left", "right"), strict=True):
                        have[name].add((sid, row["key"], row[f"{side}_n"]))
                want = {
                    (_text(event.key), event.n): {
                        (sid, _text(key), n) for sid, key, n in event.matched
                    }
                    for event in expected[spec.sid]
                    if period is None or period[0] <= event.t <= period[1]
                }
                assert have == want, f"seed {seed}: {spec}"
                compared += len(want)
    assert compared > 100


def _text(key: Any) -> str | None:
    return None if key is None else str(key)


def test_pairs_are_of_joins_of_the_graph_that_was_run() -> None:
    graph = Graph("q")
    first, two = graph.source("one", time="ts"), graph.source("two", time="ts")
    first.join_time(two, 5, 5, (("v", "v"),), name="j")
    recording = InMemory()
    runner = Runner(graph, recorders=[recording])
    for sid in ("one", "two"):
        runner.push({sid: pa.table({"ts": [1, 2, 9], "v": [1, 2, 3]})})
    runner.close()
    pairs = matched_pairs(graph, recording, Events("j", 2)).to_pylist()
    assert [(row["left_n"], row["right_n"], row["right_t"]) for row in pairs] == [
        (1, 1, 1),
        (2, 2, 2),
    ]
    assert matched_pairs(graph, recording, Events("j", t=(50, 60))).num_rows == 0
    with pytest.raises(StreamError, match="made by a source: pairs are of joins"):
        matched_pairs(graph, recording, Events("one", 1))
    other = Graph("q")
    other.source("one", time="ts")
    with pytest.raises(StreamError, match="not the one that was recorded"):
        matched_pairs(other, recording, Events("j", 1))
