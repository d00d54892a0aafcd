"""Streams with recorded provenance: the ground truth for inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lipstick.systems.scripts.inference.distribution import Distribution
from lipstick.systems.scripts.inference.element import ProcessingElement
from lipstick.systems.scripts.inference.ranges import Ranges
from lipstick.systems.scripts.inference.timed_views import View
from semiring.base import Array


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """A stream processed by a chain of PEs, and the inputs of each output."""

    inputs: View
    outputs: View
    truth: Ranges


def simulate(
    elements: Sequence[ProcessingElement], gap: Distribution, units: int, seed: int
) -> Simulated:
    """Let tuples arrive for some time units and PEs process them; reproducible from the seed.

    Arrivals of one time are one tuple. A PE is triggered at multiples of its trigger rate, uses the
    tuples of its window then, and its output is there a delay later, which is drawn. Outputs of
    empty windows are put out as well; an output's provenance is the range of source tuples from the
    first to the last that it was made of.
    """
    random = np.random.default_rng(seed)
    between = gap.without_zero()
    count = int(units / between.mean * 1.2) + 10
    times = np.cumsum(_drawn(random, between, count))
    inputs = View(times[times < units])
    current = inputs.times
    starts, stops = np.arange(len(current)), np.arange(len(current)) + 1
    for element in elements:
        triggers = np.arange(element.window, units, element.trigger)
        low = np.searchsorted(current, triggers - element.window)
        high = np.searchsorted(current, triggers)
        # The source interval of an output is the hull of the source intervals of its inputs.
        hull = [
            _hull(starts, stops, a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)
        ]
        produced = triggers + _drawn(random, element.delay, len(triggers))
        order = np.argsort(produced, kind="stable")
        current = produced[order]
        starts = np.array([each[0] for each in hull], dtype=np.int64)[order]
        stops = np.array([each[1] for each in hull], dtype=np.int64)[order]
    return Simulated(inputs, View(current), Ranges.recorded(starts, stops))


def _hull(starts: Array, stops: Array, low: int, high: int) -> tuple[int, int]:
    if low >= high:
        return 0, 0
    inner = stops[low:high] > starts[low:high]
    if not inner.any():
        return 0, 0
    return int(starts[low:high][inner].min()), int(stops[low:high][inner].max())


def _drawn(random: np.random.Generator, distribution: Distribution, count: int) -> Array:
    values = np.arange(len(distribution.probabilities))
    return random.choice(values, size=count, p=distribution.probabilities)
