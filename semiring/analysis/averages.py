"""The moments of a quotient of two random sums: AVG over independent input tuples.

Source: Jayram, Kale, Vee, *Efficient Aggregation Algorithms for Probabilistic Data*, SODA 2007,
section 4 (AVG by its count); the count's distribution is Poisson-binomial where tuples are apart.
Beside the distribution of the count stand the first two moments of the sum where it has that
value: such triples are multiplied like polynomials for parts that share no tuple, and mixed where
it is decided whether a tuple is there (Shannon).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from semiring.analysis.events import FALSE, TRUE, Events
from semiring.analysis.independence import independent
from semiring.base import Array
from semiring.errors import ExactnessError
from semiring.token import Token

LARGEST = 20_000
"""The largest count whose distribution is computed."""

_NOTHING = 1e-250
"""Less is taken for 0: far from what is seen beside other terms, and slow to compute with."""


@dataclass(frozen=True, slots=True)
class Summand:
    """The values that count where an event holds.

    Attributes
    ----------
    event
        Its number in `Events`.
    count, total
        The number of values, and their sum.
    """

    event: int
    count: int
    total: float


@dataclass(frozen=True, slots=True)
class Joint:
    """A random count N and sum S.

    Attributes
    ----------
    start
        The least n in the arrays.
    columns
        Three rows, by n from `start` on: the probability that N = n; the expected values of S and
        of S² over the worlds in which it is, 0 elsewhere.
    """

    start: int
    columns: Array

    @classmethod
    def constant(cls, count: int, total: float) -> Joint:
        """A count and sum without chance."""
        return cls(count, np.array([[1.0], [total], [total * total]]))

    @property
    def stop(self) -> int:
        """The least number above every n in the arrays."""
        return self.start + int(self.columns.shape[1])

    def plus(self, other: Joint) -> Joint:
        """Of the sums with an independent count and sum."""
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
        """This one with probability `weight`, else the other."""
        start = min(self.start, other.start)
        moments = np.zeros((3, max(self.stop, other.stop) - start))
        moments[:, self.start - start : self.stop - start] += weight * self.columns
        moments[:, other.start - start : other.stop - start] += (1 - weight) * other.columns
        return Joint(start, moments)._trimmed()

    def _trimmed(self) -> Joint:
        """Without counts whose chance is nothing, and without numbers that doubles hold badly."""
        columns = np.where(np.abs(self.columns) < _NOTHING, 0.0, self.columns)
        kept = np.flatnonzero(columns.any(axis=0))
        if not len(kept):
            return Joint(0, np.zeros((3, 1)))
        return Joint(self.start + int(kept[0]), columns[:, kept[0] : kept[-1] + 1])


def quotient(joint: Joint) -> tuple[float, float, float]:
    """Mean and variance of S / N where N is not 0, and the probability of that."""
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
    events: Events, summands: Sequence[Summand], chances: Mapping[Token, float], decisions: int
) -> Joint:
    """Return the joint distribution of the number of values that are there, and their sum.

    Parameters
    ----------
    decisions
        At most so many tuples are decided. Summands that share no tuple with another one need none;
        summands that share one key decide it, and are then independent.

    Raises
    ------
    ExactnessError
        When more would be needed, or the count may be larger than `LARGEST`.

    Cost: quadratic in the largest count, once per decision at worst.
    """
    largest = sum(summand.count for summand in summands)
    if largest > LARGEST:
        raise ExactnessError(
            f"An exact average is computed over at most {LARGEST:,} values, not {largest:,}.\n"
            "Ask for samples, which have an error that is stated."
        )
    try:
        return _Joints(events, chances, decisions).of(summands)
    except RecursionError as error:
        raise _too_hard(decisions) from error


def _too_hard(decisions: int) -> ExactnessError:
    return ExactnessError(
        f"An exact average needs more than {decisions:,} decisions about single tuples.\n"
        "Allow more, or ask for samples, which have an error that is stated."
    )


class _Joints:
    def __init__(self, events: Events, chances: Mapping[Token, float], decisions: int) -> None:
        self._events = events
        self._chances = chances
        self._most = decisions
        self._used = 0

    def of(self, summands: Sequence[Summand]) -> Joint:
        """Return the joint distribution of the sum of the summands whose events hold."""
        merged = _merged(summands)
        certain = merged.pop(TRUE, Summand(TRUE, 0, 0.0))
        merged.pop(FALSE, None)
        parts = [
            self._connected([merged[event] for event in group])
            for group in independent(merged, self._events.tokens)
        ]
        parts.append(Joint.constant(certain.count, certain.total))
        return _summed(parts)

    def _connected(self, summands: Sequence[Summand]) -> Joint:
        """Of summands that share tuples."""
        if len(summands) == 1:
            chance = self._chance(summands[0].event)
            if chance is not None:
                there = Joint.constant(summands[0].count, summands[0].total)
                return there.mixed(Joint.constant(0, 0.0), chance)
        self._used += 1
        if self._used > self._most:
            raise _too_hard(self._most)
        shared = Counter(t for summand in summands for t in self._events.tokens[summand.event])
        token = max(shared, key=lambda token: (shared[token], token.sort_key))
        with_it, without = (
            self.of(
                [
                    Summand(
                        self._events.given(summand.event, token, there),
                        summand.count,
                        summand.total,
                    )
                    for summand in summands
                ]
            )
            for there in (True, False)
        )
        return with_it.mixed(without, self._chances[token])

    def _chance(self, event: int) -> float | None:
        """The probability of a token or a conjunction or disjunction of tokens; None: of more."""
        kind, part = self._events.kinds[event], self._events.parts[event]
        if kind == "token":
            return self._chances[part]
        inner = part if kind in ("and", "or") else ()
        if not inner or any(self._events.kinds[part] != "token" for part in inner):
            return None
        chances = [self._chances[self._events.parts[part]] for part in inner]
        if kind == "and":
            return float(np.prod(chances))
        return 1.0 - float(np.prod([1.0 - chance for chance in chances]))


def _merged(summands: Sequence[Summand]) -> dict[int, Summand]:
    """Summands by their event; equal events as one."""
    by_event: dict[int, Summand] = {}
    for summand in summands:
        before = by_event.get(summand.event, Summand(summand.event, 0, 0.0))
        by_event[summand.event] = Summand(
            summand.event, before.count + summand.count, before.total + summand.total
        )
    return by_event


def _summed(parts: Sequence[Joint]) -> Joint:
    """The sum of independent ones, the shortest two first, as in Huffman's code."""
    queue = [(part.columns.shape[1], tie, part) for tie, part in enumerate(parts)]
    heapify(queue)
    next_tie = len(queue)
    while len(queue) > 1:
        both = heappop(queue)[2].plus(heappop(queue)[2])
        heappush(queue, (both.columns.shape[1], next_tie, both))
        next_tie += 1
    return queue[0][2]
