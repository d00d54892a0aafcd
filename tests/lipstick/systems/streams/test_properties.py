"""Properties that travel with events, against the direct dependencies that the oracle writes down.

The oracle's events get the set of what they were made of directly; each property is then computed
from its definition, one event at a time.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lipstick.systems.streams.annotations import Annotation
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.properties import Count, ProcessingPath, SourceSet, TotalDelay
from lipstick.systems.streams.recording import InMemory
from semiring.base import Semiring
from semiring.semirings import Counting, Which
from semiring.token import Token
from tests.lipstick.systems.streams import oracle
from tests.lipstick.systems.streams.generated import random_inputs, random_specs, run_graph
from tests.lipstick.systems.streams.oracle import Event, Name, Spec

WINDOWS = ("time_window", "length_window")
JOINS = ("time_join", "length_join")


def _direct(sid: str, events: list[Event]) -> frozenset[Name]:
    return frozenset((sid, event.key, event.n) for event in events)


def _token(name: Name) -> Token:
    sid, key, n = name
    return Token(sid, (n,) if key is None else (key, n))


class Expected:
    """The properties of all events of a run, by definition."""

    def __init__(self, specs: list[Spec], expected: dict[str, list[Event]]) -> None:
        self.specs = specs
        self.made = expected
        self.events = {(sid, e.key, e.n): e for sid, events in expected.items() for e in events}

    def values(self, value: Callable[[Spec, Name, Event, dict[Name, Any]], Any]) -> dict[Name, Any]:
        """A value for every event, from those of what it was made of."""
        values_by_name: dict[Name, Any] = {}
        for spec in self.specs:
            for event in self.made[spec.sid]:
                name = (spec.sid, event.key, event.n)
                parents = {parent: values_by_name[parent] for parent in event.ancestors}
                values_by_name[name] = value(spec, name, event, parents)
        return values_by_name

    def annotation(self, semiring: Semiring[Any], source: Callable[[Name], Any]) -> dict[Name, Any]:
        """Annotations in a semiring in which the pairs of a join need not be told apart."""

        def value(spec: Spec, name: Name, event: Event, parents: dict[Name, Any]) -> Any:
            if spec.kind == "source":
                return source(name)
            total = semiring.sum(parents.values())
            if spec.kind not in WINDOWS + JOINS:
                return total
            at_tick = semiring.sum(
                parents[parent]
                for sid in spec.inputs
                for parent in parents
                if parent[0] == sid and self.events[parent].t == event.t - event.d
            )
            if spec.kind in JOINS:
                total = semiring.product(parents[parent] for parent in event.matched)
            return semiring.times(at_tick, semiring.delta(total))

        return self.values(value)


def _which(name: Name) -> Any:
    return Which().default(_token(name))


def _total_delay(spec: Spec, name: Name, event: Event, parents: dict[Name, Any]) -> int:
    combine: Any = max if spec.kind in JOINS else sum
    return event.d + (combine(parents.values()) if parents else 0)


def _path(spec: Spec, name: Name, event: Event, parents: dict[Name, Any]) -> frozenset[str]:
    return frozenset({spec.sid}).union(*parents.values())


def _count(spec: Spec, name: Name, event: Event, parents: dict[Name, Any]) -> int | None:
    """How many derivations; None below a join of a stream with itself, whose sides overlap."""
    twice = spec.kind in JOINS and spec.inputs[0] == spec.inputs[1]
    if twice or None in parents.values():
        return None
    return sum(parents.values()) if parents else 1


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_properties_of_random_graphs(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "of", _direct)
    for seed in range(first, first + 20):
        rng = np.random.default_rng(seed)
        specs = random_specs(rng)
        inputs = random_inputs(specs, rng, 3, 25)
        expected_events = oracle.run(specs, inputs, oracle.random_delay(seed, 7))
        streams = [spec.sid for spec in specs]
        path, sources = ProcessingPath(streams), SourceSet([s for s in streams if s[0] == "s"])
        which, counting = Which(), Counting()
        _, recording = run_graph(
            specs,
            inputs,
            seed,
            3,
            properties=[
                TotalDelay(),
                Count(),
                path,
                sources,
                Annotation(which, name="which"),
                Annotation(counting, name="counting"),
            ],
        )
        expected = Expected(specs, expected_events)
        paths = expected.values(_path)
        want: dict[str, dict[Name, Any]] = {
            "total_delay": expected.values(_total_delay),
            "count": expected.values(_count),
            "path": paths,
            "sources": {name: frozenset(s for s in paths[name] if s[0] == "s") for name in paths},
            "which": expected.annotation(which, _which),
            "counting": expected.annotation(counting, lambda name: 1),
        }
        decoded: dict[str, Callable[[Any], list[Any]]] = {
            "path": lambda values, of=path: [frozenset(names) for names in of.decode(values)],
            "sources": lambda values, of=sources: [frozenset(names) for names in of.decode(values)],
            "which": which.unpack,
            "counting": counting.unpack,
        }
        for sid in streams:
            names = _names(recording, sid)
            if not names:
                continue
            for each, values in want.items():
                packed = recording.property(sid, each)
                have = decoded[each](packed) if each in decoded else packed.tolist()
                expected_here = [values[name] for name in names]
                pairs = zip(have, expected_here, strict=True)
                wrong = [pair for pair in pairs if pair[1] is not None and pair[0] != pair[1]]
                assert not wrong, f"seed {seed}: {each} of {sid}: {wrong[:2]}"


def _names(recording: InMemory, sid: str) -> list[Name]:
    keys = recording.whole(sid)
    values: list[Any] = [None] * len(keys)
    if keys.code is not None and len(keys):
        values = recording.codes.decode(keys.code).to_pylist()
    return list(zip([sid] * len(keys), values, keys.n.tolist(), strict=True))


def test_what_is_held_does_not_grow_behind_a_filter_that_keeps_nothing() -> None:
    """Buffers shrink by the watermark, not by outputs alone; clients get results as they come."""
    graph = Graph("selective")
    source = graph.source("s1", time="ts")
    nothing = source.filter(lambda table: np.zeros(table.num_rows, dtype=np.bool_), name="none")
    source.time_window(20, name="window")
    source.join_time(nothing, 20, 20, name="joined")
    runner = Runner(graph, properties=[TotalDelay()])
    seen: list[Batch] = []
    runner.subscribe("window", seen.append)
    runner.subscribe("joined", seen.append)
    held = []
    for number in range(40):
        times = np.arange(100 * number, 100 * number + 100)
        runner.push({"s1": pa.table({"ts": times, "v": times})})
        held.append(runner.held())
    assert max(held) == held[1] <= 4 * 21
    assert len(seen) == 40
    assert all("total_delay" in batch.properties for batch in seen)
