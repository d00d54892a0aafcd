"""Distributions of sums of contributions that count if events hold, for independent tuples.

Summands that share no tuple are summed independently; for others, the tuple that most of them share
is decided (Shannon expansion).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import numpy as np

from semiring.boolean.events import FALSE, TRUE, BooleanFunctions, independent, too_hard
from semiring.token import Token

S = TypeVar("S")
"""The contribution of a summand."""
D = TypeVar("D")
"""The distribution of a sum of contributions."""


class SharedSums(ABC, Generic[S, D]):
    """The sums of summands that may share tuples.

    Parameters
    ----------
    chances
        The probability of every tuple.
    decisions
        Limit on decided tuples.
    nothing
        The contribution of a summand whose event does not hold.
    """

    def __init__(
        self, events: BooleanFunctions, chances: Mapping[Token, float], decisions: int, nothing: S
    ) -> None:
        self._events = events
        self._chances = chances
        self._decisions = decisions
        self._nothing = nothing
        self._used = 0

    def of(self, summands: Iterable[tuple[int, S]]) -> D:
        """Return the distribution of a sum of contributions, each counted if its event holds.

        Raises
        ------
        ExactnessError
            When more tuples would have to be decided.
        """
        merged: dict[int, S] = {}
        for event, state in summands:
            merged[event] = self._plus(merged.get(event, self._nothing), state)
        certain = merged.pop(TRUE, self._nothing)
        merged.pop(FALSE, None)
        groups = independent(merged, self._events.tokens)
        parts = [self._connected([(event, merged[event]) for event in part]) for part in groups]
        return self._summed([self._constant(certain), *parts])

    def _connected(self, summands: Sequence[tuple[int, S]]) -> D:
        """Return the distribution of the sum of summands that share tuples."""
        if len(summands) == 1:
            ((event, state),) = summands
            chance = self._chance(event)
            if chance is not None:
                return self._mixed(self._constant(state), self._constant(self._nothing), chance)
        self._used += 1
        if self._used > self._decisions:
            raise too_hard(self._decisions)
        tokens, given = self._events.tokens, self._events.given
        shared = Counter(token for event, _ in summands for token in tokens[event])
        token = max(shared, key=lambda token: (shared[token], token.sort_key))
        with_it, without = (
            self.of([(given(event, token, there), state) for event, state in summands])
            for there in (True, False)
        )
        return self._mixed(with_it, without, self._chances[token])

    def _chance(self, event: int) -> float | None:
        """Return the probability of a token, or of a conjunction or disjunction of tokens; else
        None.
        """
        kind, part = self._events.kinds[event], self._events.parts[event]
        if kind == "token":
            return self._chances[part]
        inner = part if kind in ("and", "or") else ()
        if not inner or any(self._events.kinds[part] != "token" for part in inner):
            return None
        chances = np.array([self._chances[self._events.parts[part]] for part in inner])
        return float(np.prod(chances)) if kind == "and" else 1.0 - float(np.prod(1.0 - chances))

    @abstractmethod
    def _plus(self, a: S, b: S) -> S:
        """Return the sum of two contributions."""

    @abstractmethod
    def _constant(self, state: S) -> D:
        """Return the distribution of a deterministic sum."""

    @abstractmethod
    def _summed(self, parts: Sequence[D]) -> D:
        """Return the distribution of the sum of independent variables."""

    @abstractmethod
    def _mixed(self, there: D, absent: D, chance: float) -> D:
        """Return the mixture of the first distribution with a probability, and of the second."""
