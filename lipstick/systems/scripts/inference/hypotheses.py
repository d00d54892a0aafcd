"""All windows that an output may have had, relative to its time, each with a probability."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lipstick.systems.scripts.errors import InferenceError
from lipstick.systems.scripts.inference.element import ProcessingElement

NEGLIGIBLE = 1e-6
"""Windows of less probability are left out of account."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """The window from ``time - lower`` to ``time - upper`` of an output at `time`.

    Parameters
    ----------
    lower, upper
        In time units before the output; the lower end is included, the upper one is not.
    delay
        Of the last PE: the output was triggered at ``time - delay``.
    """

    lower: int
    upper: int
    delay: int
    probability: float


def one_step(element: ProcessingElement) -> list[Hypothesis]:
    """The windows of a PE by its possible delays."""
    return [
        Hypothesis(int(d) + element.window, int(d), int(d), float(element.delay.probabilities[d]))
        for d in element.delay.support
        if element.delay.probabilities[d] >= NEGLIGIBLE
    ]


def chain(elements: Sequence[ProcessingElement]) -> list[Hypothesis]:
    """Return the windows over the source of a chain of PEs whose last one makes the output.

    Between two PEs is a view that nobody has kept. A PE is triggered at the times of its grid,
    which all PEs of the chain share (one clock); each of its outputs comes a delay later, and is in
    the window of the next PE or is not. Sets of triggers are gone through with their probabilities,
    from the last PE to the first; triggers between others are in the window.

    Raises
    ------
    InferenceError
        A chain without PEs, or PEs whose windows, triggers or ratios are not by time and n:1.
    """
    if not elements:
        raise InferenceError("A chain has at least one processing element.")
    for element in elements:
        if element.window_by != "time" or element.trigger_by != "time" or element.ratio != "n:1":
            raise InferenceError(
                "Multi-step inference is of windows and triggers by time, and of n:1.\nKeep the"
                " view between the steps, and infer step by step."
            )
    hypotheses = one_step(elements[-1])
    for element in reversed(elements[:-1]):
        merged: dict[tuple[int, int, int], float] = {}
        for after in hypotheses:
            for first, last, probability in _triggers(element, after):
                key = (first + element.window, last, after.delay)
                merged[key] = merged.get(key, 0.0) + after.probability * probability
        hypotheses = [Hypothesis(*key, p) for key, p in merged.items() if p >= NEGLIGIBLE]
    return sorted(hypotheses, key=lambda each: -each.probability)


def _triggers(element: ProcessingElement, after: Hypothesis) -> Iterator[tuple[int, int, float]]:
    """The first and the last trigger whose output is in a window, in time units before the output.

    Triggers are multiples of the PE's trigger rate before the trigger of the last PE.
    """
    longest = int(element.delay.support[-1])
    step = element.trigger
    # Trigger k is `after.delay + k * step` before the output; its own output is d later.
    low = -(-(after.upper - after.delay) // step)
    high = (after.lower - after.delay + longest) // step
    places = [after.delay + k * step for k in range(max(low, 0), high + 1)]
    inside = np.array([_inside(element, before, after) for before in places])
    outside = 1 - inside
    newer = np.concatenate([[1.0], np.cumprod(outside)])
    older = np.concatenate([np.cumprod(outside[::-1])[::-1], [1.0]])
    for newest in range(len(places)):
        for oldest in range(newest, len(places)):
            probability = newer[newest] * inside[newest] * older[oldest + 1]
            if oldest > newest:
                probability *= inside[oldest]
            if probability >= NEGLIGIBLE:
                yield places[oldest], places[newest], float(probability)


def _inside(element: ProcessingElement, before: int, after: Hypothesis) -> float:
    """The probability that an output triggered so long `before` is in a window."""
    delays = before - np.arange(len(element.delay.probabilities))
    chosen = (delays <= after.lower) & (delays > after.upper)
    return float(element.delay.probabilities[chosen].sum())
