"""Latency: from a result to its property, one event at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmark_workflowgen.streams.chains import SOURCE, chain, events
from lipstick.systems.streams import Property, Runner, TotalDelay
from lipstick.systems.streams.properties import Step
from semiring.base import Array


class _Timed(Property):
    """A property, and the seconds that it took for each event of all streams together."""

    def __init__(self, inner: Property) -> None:
        self.name = inner.name
        self._inner = inner
        self.seconds = 0.0

    def source(self, step: Step) -> Array:
        return self._timed(self._inner.source, step)

    def combine(self, step: Step) -> Array:
        return self._timed(self._inner.combine, step)

    def _timed(self, function: Any, step: Step) -> Array:
        started = time.perf_counter()
        values: Array = function(step)
        self.seconds += time.perf_counter() - started
        return values


def measured(*, kinds: list[str], components: list[int], events_: int) -> Iterator[dict[str, Any]]:
    """Yield a row for every kind and length of the chain.

    The time is that of the properties of all streams of the chain, as if none of them were there
    before the result was: the most that a result can wait.
    """
    for kind in kinds:
        for count in components:
            timed = _Timed(TotalDelay())
            runner = Runner(chain(kind, count), properties=[timed])
            table = events(events_, 0)
            waits = []
            for first in range(events_):
                timed.seconds = 0.0
                runner.push({SOURCE: table.slice(first, 1)})
                waits.append(timed.seconds)
            yield {
                "kind": kind,
                "components": count,
                "median ms": round(float(np.median(waits)) * 1e3, 3),
                "p99 ms": round(float(np.percentile(waits, 99)) * 1e3, 3),
            }
