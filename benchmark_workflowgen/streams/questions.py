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
from lipstick.streams import (
    Assertions,
    Events,
    Runner,
    Stored,
    ancestors,
    ancestors_of_each,
    descendants,
)

RESULTS = "s3"


def measured(*, events_: int, batches: list[int], questions: int) -> Iterator[dict[str, Any]]:
    """A row for every number of events a batch: times of questions to a store just opened."""
    for batch in batches:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "store"
            with Assertions(store) as recorder:
                runner = Runner(chain("window 20", 3), recorders=[recorder])
                for first in range(0, events_, batch):
                    table = events(batch, 0, seed=first)
                    shifted = table.column("ts").to_numpy() + first
                    runner.push({SOURCE: table.set_column(0, "ts", [shifted])})
            yield {"batch": batch, **_asked(store, events_, questions)}


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
    span = (0, 1_000_000)
    asked = Events(RESULTS, t=span)
    recording = Stored(store)
    whole = _milliseconds(lambda: ancestors(recording, asked))
    each = _milliseconds(lambda: ancestors_of_each(recording, asked))
    return {
        "open ms": round(opened, 1),
        "ancestors ms": round(float(np.median(back)), 1),
        "most": round(max(back), 1),
        "descendants ms": round(float(np.median(forth)), 1),
        "most ": round(max(forth), 1),
        "results/s together": round(min(count, span[1]) / whole * 1e3),
        "results/s each": round(min(count, span[1]) / each * 1e3),
    }


def _milliseconds(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return (time.perf_counter() - started) * 1e3
