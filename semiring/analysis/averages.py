"""The moments of a quotient of two random sums: AVG over independent input tuples.

Source: Jayram, Kale, Vee, *Efficient Aggregation Algorithms for Probabilistic Data*, SODA 2007,
section 4 (AVG by its count); the count of independent tuples is Poisson-binomial. For each count
there are its probability and the first two moments of the sum in the worlds with that count: such
triples are multiplied like polynomials for parts that share no tuple, and mixed over the presence
of a tuple otherwise (Shannon).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from semiring.analysis.shared_sums import SharedSums
from semiring.base import Array
from semiring.boolean.events import BooleanFunctions, too_hard
from semiring.errors import ExactnessError
from semiring.token import Token

LARGEST = 20_000
"""The largest count with a computed distribution."""

_NOTHING = 1e-250
"""Probability below which a number is taken for 0: negligible, and slow to compute with."""


@dataclass(frozen=True, slots=True)
class Joint:
    """The joint distribution of a random count N and the moments of a random sum S.

    Attributes
    ----------
    start
        The least n in the arrays.
    columns
        Three rows, by n from `start` on: the probability that N = n, and the expected values of S
        and of S² restricted to the worlds with N = n.
    """

    start: int
    columns: Array

    @classmethod
    def constant(cls, count: int, total: float) -> Joint:
        """Return a deterministic count and sum."""
        return cls(count, np.array([[1.0], [total], [total * total]]))

    @property
    def stop(self) -> int:
        """The least number above every n in the arrays."""
        return self.start + int(self.columns.shape[1])

    def plus(self, other: Joint) -> Joint:
        """Return the sum with an independent count and sum."""
        chance, first, second = self.columns
        its_chance, its_first, its_second = other.columns
        moments = [
            np.convolve(chance, its_chance),
            np.convolve(first, its_chance) + np.convolve(chance, its_first),
            np.convolve(second, its_chance) + np.convolve(chance, its_second),
        ]
        moments[2] += 2 * np.convolve(first, its_first)
        return Joint(self.start + other.start, np.array(moments))._trimmed()

    def mixed(self, other: Joint, weight: float) -> Joint:
        """Return the mixture of this with probability `weight` and of the other."""
        start = min(self.start, other.start)
        moments = np.zeros((3, max(self.stop, other.stop) - start))
        moments[:, self.start - start : self.stop - start] += weight * self.columns
        moments[:, other.start - start : other.stop - start] += (1 - weight) * other.columns
        return Joint(start, moments)._trimmed()

    def _trimmed(self) -> Joint:
        """Return this without counts of negligible probability and without tiny numbers."""
        columns = np.where(np.abs(self.columns) < _NOTHING, 0.0, self.columns)
        kept = np.flatnonzero(columns.any(axis=0))
        if not len(kept):
            return Joint(0, np.zeros((3, 1)))
        return Joint(self.start + int(kept[0]), columns[:, kept[0] : kept[-1] + 1])


def quotient(joint: Joint) -> tuple[float, float, float]:
    """Return mean and variance of S / N given N ≠ 0, and the probability of N ≠ 0."""
    counts = np.arange(joint.start, joint.stop)
    chance, first, second = joint.columns[:, counts > 0]
    counts = counts[counts > 0]
    presence = float(chance.sum())
    if not presence:
        return 0.0, 0.0, 0.0
    mean = float((first / counts).sum()) / presence
    square = float((second / counts**2).sum()) / presence
    return mean, max(square - mean * mean, 0.0), presence


def joint_of(
    events: BooleanFunctions,
    summands: Sequence[tuple[int, tuple[int, float]]],
    chances: Mapping[Token, float],
    decisions: int,
) -> Joint:
    """Return the joint distribution of the number of present values, and their sum.

    Parameters
    ----------
    summands
        Events, each with the number of values that count where it holds, and their sum.
    decisions
        Limit on decided tuples. Summands that share no tuple with another summand need none;
        summands that share one key decide it, and are then independent.

    Raises
    ------
    ExactnessError
        When more would be needed, or the count may be larger than `LARGEST`.

    Cost: quadratic in the largest count, once per decision at worst.
    """
    largest = sum(count for _, (count, _) in summands)
    if largest > LARGEST:
        raise ExactnessError(
            f"An exact average is computed over at most {LARGEST:,} values, not {largest:,}.\n"
            "Ask for samples, which state their error."
        )
    try:
        return _Joints(events, chances, decisions, (0, 0.0)).of(summands)
    except RecursionError as error:
        raise too_hard(decisions) from error


class _Joints(SharedSums[tuple[int, float], Joint]):
    def _plus(self, a: tuple[int, float], b: tuple[int, float]) -> tuple[int, float]:
        return a[0] + b[0], a[1] + b[1]

    def _constant(self, state: tuple[int, float]) -> Joint:
        return Joint.constant(*state)

    def _mixed(self, there: Joint, absent: Joint, chance: float) -> Joint:
        return there.mixed(absent, chance)

    def _summed(self, parts: Sequence[Joint]) -> Joint:
        """Return the sum of independent distributions, the shortest two first (Huffman)."""
        queue = [(part.columns.shape[1], tie, part) for tie, part in enumerate(parts)]
        heapify(queue)
        next_tie = len(queue)
        while len(queue) > 1:
            both = heappop(queue)[2].plus(heappop(queue)[2])
            heappush(queue, (both.columns.shape[1], next_tie, both))
            next_tie += 1
        return queue[0][2]
