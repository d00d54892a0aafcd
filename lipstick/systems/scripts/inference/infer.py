"""The hypotheses of an inference and its methods, each for all outputs at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.inference.distribution import Distribution
from lipstick.systems.scripts.inference.element import ProcessingElement
from lipstick.systems.scripts.inference.offset import Offset, optimal_offset
from lipstick.systems.scripts.inference.ranges import Ranges
from lipstick.systems.scripts.inference.timed_views import View
from semiring.base import Array

NEGLIGIBLE = 1e-6
"""Windows of less probability are left out of account."""


@dataclass(frozen=True, slots=True)
class DelayHypothesis:
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


def one_step(element: ProcessingElement) -> list[DelayHypothesis]:
    """The windows of a PE by its possible delays."""
    return [
        DelayHypothesis(
            int(d) + element.window, int(d), int(d), float(element.delay.probabilities[d])
        )
        for d in element.delay.support
        if element.delay.probabilities[d] >= NEGLIGIBLE
    ]


def chain(elements: Sequence[ProcessingElement]) -> list[DelayHypothesis]:
    """Return the windows over the source of a chain of PEs whose last one makes the output.

    Between two PEs is a view that nobody has kept. A PE is triggered at the times of its grid,
    which all PEs of the chain share (one clock); each of its outputs comes a delay later, and is in
    the window of the next PE or is not. Sets of triggers are gone through with their probabilities,
    from the last PE to the first; triggers between others are in the window.

    Raises
    ------
    ScriptError
        A chain without PEs, or PEs whose windows, triggers or ratios are not by time and n:1.
    """
    if not elements:
        raise ScriptError("A chain has at least one processing element.")
    for element in elements:
        if element.window_by != "time" or element.trigger_by != "time" or element.ratio != "n:1":
            raise ScriptError(
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
        hypotheses = [DelayHypothesis(*key, p) for key, p in merged.items() if p >= NEGLIGIBLE]
    return sorted(hypotheses, key=lambda each: -each.probability)


def _triggers(
    element: ProcessingElement, after: DelayHypothesis
) -> Iterator[tuple[int, int, float]]:
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


def _inside(element: ProcessingElement, before: int, after: DelayHypothesis) -> float:
    """The probability that an output triggered so long `before` is in a window."""
    delays = before - np.arange(len(element.delay.probabilities))
    chosen = (delays <= after.lower) & (delays > after.upper)
    return float(element.delay.probabilities[chosen].sum())


_CLEAR = 10.0
"""By how much the logarithm of a likelihood has to be larger than others'."""

_CHUNK = 1 << 16
"""Outputs that are compared with all hypotheses at a time."""


def basic(element: ProcessingElement, inputs: View, outputs: View) -> Ranges:
    """Basic inference (section V-B, B1 and B2): the delay is known and does not vary.

    Raises
    ------
    ScriptError
        The delay varies.
    """
    if not element.delay.is_constant:
        raise ScriptError(
            "Basic inference needs a delay that does not vary.\nUse probabilistic or posterior"
            " inference."
        )
    return _windows(element, inputs, outputs, int(element.delay.support[0]), 1.0)


def probabilistic(
    element: ProcessingElement, inputs: View, outputs: View, gap: Distribution | None = None
) -> Ranges:
    """Probabilistic inference (section V-C, C1 and C2): the offset that is right most often.

    Parameters
    ----------
    gap
        The distribution of the time between arrivals; None: as it is in the input view.

    Returns
    -------
    Ranges
        Every answer with the same probability: the accuracy that is expected beforehand.
    """
    offset = expected_offset(element, inputs, gap)
    return _windows(element, inputs, outputs, offset.value, offset.accuracy)


def expected_offset(
    element: ProcessingElement, inputs: View, gap: Distribution | None = None
) -> Offset:
    """The best offset and its accuracy; see :func:`optimal_offset`."""
    if gap is None:
        gap = Distribution.learned(inputs.gaps())
    return optimal_offset(element.delay, gap.without_zero() if gap.probabilities[0] else gap)


def posterior(element: ProcessingElement, inputs: View, outputs: View) -> Ranges:
    """Ours: the set of inputs that has the largest probability, of each output by itself.

    Delays that give the same set of inputs count together, so that the inputs' times decide how
    sure an answer is: in a pause of arrivals no delay matters. Where the grid of triggers is known,
    only delays that lead to a trigger count, which snaps to the grid; see :func:`trigger_origin`.

    Returns
    -------
    Ranges
        Each with its own probability, calibrated if the delays have the given distribution.
    """
    if element.window_by == "tuples" or element.trigger_by == "tuples":
        return by_sequence(element, inputs, outputs)
    return _most_probable(one_step(element), element, inputs, outputs)


def multi_step(elements: Sequence[ProcessingElement], inputs: View, outputs: View) -> Ranges:
    """Multi-step probabilistic inference (section V-D): views between the steps were not kept.

    The most probable set of source tuples, with its probability, the paper's P_C. The bounds D1 and
    D2 come from the hypotheses; delays of less than a millionth are left out.

    Raises
    ------
    ScriptError
        See :func:`lipstick.systems.scripts.inference.infer.chain`.
    """
    return _most_probable(chain(elements), elements[-1], inputs, outputs)


def trigger_origin(element: ProcessingElement, outputs: View) -> int | None:
    """Ours: a time at which a PE was triggered, learned from the times of its outputs.

    The remainders of the outputs' times by the trigger rate are the delays' remainders, moved by
    the origin; the origin is the one under which they are most likely.

    Returns
    -------
    int or None
        From 0 to trigger - 1; None where another origin is as likely: too few outputs, or delays
        that are spread over all remainders. O(outputs + trigger²).
    """
    step = element.trigger
    remainders = np.zeros(step)
    np.add.at(
        remainders, np.arange(len(element.delay.probabilities)) % step, element.delay.probabilities
    )
    seen = np.bincount(outputs.times % step, minlength=step)
    logs = np.log(np.maximum(remainders, 1e-12))
    likely = np.array([float(seen @ np.roll(logs, origin)) for origin in range(step)])
    best = int(np.argmax(likely))
    further = np.delete(likely, best)
    return None if len(further) and likely[best] - further.max() < _CLEAR else best


def by_sequence(element: ProcessingElement, inputs: View, outputs: View) -> Ranges:
    """Ours: windows by tuples, for which the paper has no formulas.

    A trigger by tuples fires with every `trigger`-th tuple, so that the number of an output
    determines its window. A trigger by time and a window by tuples uses the last tuples before the
    trigger.

    Raises
    ------
    ScriptError
        More outputs than the inputs trigger.
    """
    if element.trigger_by == "time":
        return _most_probable(one_step(element), element, inputs, outputs)
    stops = (np.arange(len(outputs)) + 1) * element.trigger
    if len(stops) and int(stops[-1]) > len(inputs):
        raise ScriptError(
            f"{len(outputs):,} outputs, one per {element.trigger} tuples, need {stops[-1]:,}"
            f" tuples; there are {len(inputs):,}.\nThe views are not whole, or the trigger is"
            " another."
        )
    if element.window_by == "tuples":
        starts = np.clip(stops - element.window, 0, None)
    else:
        # The window ends with the tuple that triggers, which is in it.
        starts = inputs.before(inputs.times[stops - 1] + 1 - element.window)
    return Ranges(starts, stops, np.ones(len(stops)), inferred=False)


def one_to_one(inputs: View, outputs: View) -> Ranges:
    """Outputs that are each made of one input, in the order of the inputs (monotonic ordering).

    Raises
    ------
    ScriptError
        Another number of outputs: a selection that leaves out tuples has to put NULLs in their
        place, or to be recorded.
    """
    if len(inputs) != len(outputs):
        raise ScriptError(
            f"{len(outputs):,} outputs of {len(inputs):,} inputs are not 1:1.\nLet the processing"
            " element put out NULL where it selects nothing, or record its provenance."
        )
    places = np.arange(len(inputs), dtype=np.int64)
    if bool((outputs.times < inputs.times).any()):
        first = int(np.flatnonzero(outputs.times < inputs.times)[0])
        raise ScriptError(
            f"Output {first} was there at {outputs.times[first]}, before its input at"
            f" {inputs.times[first]}.\nThe views are not in the same order."
        )
    return Ranges(places, places + 1, np.ones(len(places)), inferred=False)


def _windows(
    element: ProcessingElement, inputs: View, outputs: View, offset: int, probability: float
) -> Ranges:
    """Windows that end one offset before the outputs."""
    bounds = outputs.times - offset
    stops = inputs.before(bounds)
    starts = inputs.before(bounds - element.window)
    if element.window_by == "tuples":
        starts = np.clip(stops - element.window, 0, None)
    return Ranges(starts, stops, np.full(len(outputs), probability))


def _most_probable(
    hypotheses: Sequence[DelayHypothesis], last: ProcessingElement, inputs: View, outputs: View
) -> Ranges:
    """Of every output the set of inputs that most of the probability is of. O(n · h log m)."""
    count = len(outputs)
    starts, stops = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    probabilities = np.zeros(count)
    for begin in range(0, count, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        chosen = _of_chunk(hypotheses, last, inputs, outputs.times[part])
        starts[part], stops[part], probabilities[part] = chosen
    return Ranges(starts, stops, probabilities)


def _of_chunk(
    hypotheses: Sequence[DelayHypothesis], last: ProcessingElement, inputs: View, times: Array
) -> tuple[Array, Array, Array]:
    lower = np.array([each.lower for each in hypotheses])
    upper = np.array([each.upper for each in hypotheses])
    weights = np.array([each.probability for each in hypotheses])
    mass = np.broadcast_to(weights[:, None], (len(hypotheses), len(times))).copy()
    if last.origin is not None:
        delays = np.array([each.delay for each in hypotheses])
        triggered = times[None, :] - delays[:, None] - last.origin
        mass[triggered % last.trigger != 0] = 0
    stops = inputs.before(times[None, :] - upper[:, None])
    starts = inputs.before(times[None, :] - lower[:, None])
    if last.window_by == "tuples":
        starts = np.clip(stops - last.window, 0, None)
    # Hypotheses with the same inputs count together.
    together = np.zeros_like(mass)
    for h in range(len(hypotheses)):
        same = (starts == starts[h]) & (stops == stops[h])
        empty = (starts >= stops) & (starts[h] >= stops[h])
        together[h] = np.where(same | empty, mass, 0).sum(axis=0)
    best = np.argmax(np.where(mass > 0, together, -1), axis=0)
    whole = mass.sum(axis=0)
    columns = np.arange(len(times))
    known = whole > 0
    chosen = np.where(known, together[best, columns] / np.where(known, whole, 1), 0.0)
    return starts[best, columns], stops[best, columns], chosen
