"""The offset of probabilistic inference: how far the window ends before the output's time.

The paper's objective, ``P(alpha > delay - offset)``, never falls as the offset grows, so that it
has no largest value. Ours looks at both ends of the window: it is right iff no tuple lies in either
of the two strips, as wide as the error of the offset, by which it is shifted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lipstick.systems.scripts.inference.distribution import Distribution
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class Offset:
    """An offset in time units, and the share of windows that it is expected to find exactly."""

    value: int
    accuracy: float


def offset_accuracy(delay: Distribution, gap: Distribution, offsets: Array) -> Array:
    """The expected share of exact windows by offset.

    ``acc(O) = sum over d of P(delay = d) · P(alpha >= |d - O|) ** 2``, where alpha is the distance
    from a point in time to the next tuple. It takes the strips at both ends as independent and as
    not overlapping.

    Parameters
    ----------
    gap
        The time between arrivals, from 1.
    offsets
        int64.
    """
    alpha = gap.residual()
    delays = delay.support
    errors = np.abs(delays[:, None] - offsets[None, :])
    result: Array = delay.probabilities[delays] @ alpha.at_least(errors) ** 2
    return result


def optimal_offset(delay: Distribution, gap: Distribution) -> Offset:
    """The offset that finds most windows, the smallest of several."""
    offsets = np.arange(int(delay.support[-1]) + 1)
    accuracy = offset_accuracy(delay, gap, offsets)
    best = int(np.argmax(accuracy))
    return Offset(best, float(accuracy[best]))
