"""Questions: ancestors and descendants of one event and of all results, from a store."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmark_workflowgen.streams.chains import SOURCE, chain, events
from lipstick.systems.streams import (
    Assertions,
    Events,
    Runner,
    Stored,
    ancestors,
    descendants,
)
from lipstick.systems.streams.ancestors import Ranges, walk_back
from lipstick.systems.streams.events import resolve

RESULTS = "s3"
ALL = 1_000_000
"""Results that are asked about at once."""


def measured(*, events_: int, batches: list[int], questions: int) -> Iterator[dict[str, Any]]:
    """Yield a row for every number of events a batch: times of questions to a store just opened."""
    for batch in batches:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "store"
            record(store, events_, batch)
            yield {"batch": batch, **_asked(store, events_, questions)}


def record(store: Path, count: int, batch: int) -> None:
    """Record means of 20 ticks over so many events, in batches of so many."""
    with Assertions(store) as recorder:
        runner = Runner(chain("window 20", 3), recorders=[recorder])
        for first in range(0, count, batch):
            table = events(batch, 0, seed=first)
            shifted = table.column("ts").to_numpy() + first
            runner.push({SOURCE: table.set_column(0, "ts", [shifted])})


def _asked(store: Path, count: int, questions: int) -> dict[str, Any]:
    chance = np.random.default_rng(0)
    _milliseconds(lambda: ancestors(Stored(store), Events(RESULTS, 1)))  # imports what it needs
    opened = _milliseconds(lambda: Stored(store))
    recording = Stored(store)
    numbers = chance.integers(1, count, questions).tolist()
    back = [
        _milliseconds(partial(ancestors, recording, Events(RESULTS, number))) for number in numbers
    ]
    recording = Stored(store)
    forth = [
        _milliseconds(partial(descendants, recording, Events(SOURCE, number))) for number in numbers
    ]
    wanted = Events(RESULTS, t=(0, ALL))
    results = min(count, ALL)
    recording = Stored(store)
    whole = _core_seconds(lambda: ancestors(recording, wanted))
    each = _core_seconds(lambda: _ranges(recording, wanted))
    return {
        "open ms": round(opened, 1),
        "ancestors ms": round(float(np.median(back)), 1),
        "most": round(max(back), 1),
        "descendants ms": round(float(np.median(forth)), 1),
        "most ": round(max(forth), 1),
        "results/s together": round(results / whole),
        "results/s each": round(results / each),
    }


def _ranges(recording: Stored, wanted: Events) -> None:
    """The ancestors of each result, as ranges of numbers: what a job of Spark gives."""
    keys = resolve(recording, wanted)
    walk_back(recording, wanted.sid, Ranges.of(keys, np.arange(len(keys), dtype=np.int64)))


def _core_seconds(function: Callable[[], object]) -> float:
    """Seconds of processor time, all threads together."""
    started = time.process_time()
    function()
    return time.process_time() - started


def _milliseconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return (time.perf_counter() - started) * 1e3
