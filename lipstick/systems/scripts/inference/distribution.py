"""Distributions of delays and sampling times over whole time units, learned from data or given."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lipstick.systems.scripts.errors import ScriptError
from semiring.base import Array

TAIL = 1e-9
"""Probability that is cut off where a distribution has no largest value."""


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """A distribution over whole numbers from 0.

    Parameters
    ----------
    probabilities
        float64, that of value k at place k; they sum to 1.
    """

    probabilities: Array

    def __post_init__(self) -> None:
        p = self.probabilities
        if p.ndim != 1 or not len(p) or bool((p < 0).any()) or not math.isclose(p.sum(), 1.0):
            raise ScriptError(
                "Probabilities are a list of numbers from 0 that sum to 1.\nLearn the distribution"
                " from samples: Distribution.learned(samples)."
            )

    @classmethod
    def learned(cls, samples: Array) -> Distribution:
        """The distribution of samples: how often each value was seen.

        Raises
        ------
        ScriptError
            No samples, or samples that are not whole numbers from 0.
        """
        samples = np.asarray(samples)
        if len(samples) == 0:
            raise ScriptError(
                "There are no samples.\nCollect delays and sampling times for an interval first."
            )
        if samples.dtype.kind not in "iu" or int(samples.min()) < 0:
            raise ScriptError(
                "Samples are whole time units from 0.\nRound the times, or choose a finer unit."
            )
        return cls(np.bincount(samples) / len(samples))

    @classmethod
    def constant(cls, value: int) -> Distribution:
        """A value that never varies."""
        probabilities = np.zeros(value + 1)
        probabilities[value] = 1.0
        return cls(probabilities)

    @classmethod
    def poisson(cls, mean: float) -> Distribution:
        """A Poisson distribution, cut where less than `TAIL` is left."""
        probabilities = [math.exp(-mean)]
        while 1 - math.fsum(probabilities) > TAIL and len(probabilities) < 10_000:
            probabilities.append(probabilities[-1] * mean / len(probabilities))
        array = np.array(probabilities)
        return cls(array / array.sum())

    @property
    def mean(self) -> float:
        """The mean, in time units."""
        return float(np.arange(len(self.probabilities)) @ self.probabilities)

    @property
    def support(self) -> Array:
        """The values that have a probability, ascending."""
        return np.flatnonzero(self.probabilities)

    @property
    def is_constant(self) -> bool:
        """Return True if there is one value alone."""
        return len(self.support) == 1

    def without_zero(self) -> Distribution:
        """The distribution given that the value is not 0: of times between tuples of two times.

        Raises
        ------
        ScriptError
            Only 0 has a probability.
        """
        rest = self.probabilities.copy()
        rest[0] = 0
        if not rest.sum():
            raise ScriptError("All tuples have one time: there is no sampling time.")
        return Distribution(rest / rest.sum())

    def at_least(self, values: Array) -> Array:
        """float64: the probability of values from some numbers up."""
        tail = np.cumsum(self.probabilities[::-1])[::-1]
        padded = np.append(tail, 0.0)
        places = np.clip(values, 0, len(tail))
        result: Array = padded[places]
        return result

    def residual(self) -> Distribution:
        """The distance from a point in time to the next tuple, if this is the time between tuples.

        The stationary distribution of the Markov chain in which a distance r > 0 becomes r - 1, and
        0 becomes k - 1 with the probability of k: ``alpha(k) = P(value > k) / mean``.

        Raises
        ------
        ScriptError
            If 0 has a probability: tuples of one time are one arrival.
        """
        if self.probabilities[0] > 0:
            raise ScriptError("The time between arrivals is at least 1.\nUse without_zero() first.")
        survival = self.at_least(np.arange(1, len(self.probabilities) + 1))
        return Distribution(survival / survival.sum())
