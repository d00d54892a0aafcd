"""What the analyses of an annotation say, by looking into every world."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from semiring.base import Array
from semiring.token import Token

Sets = frozenset[frozenset[Token]]


@dataclass(frozen=True, eq=False)
class Game:
    """In which worlds a row is there.

    Attributes
    ----------
    tokens
        The tuples that may be absent.
    there
        A Boolean per set of them that are not: bit n of a set's number is 1 where token n is there.
    """

    tokens: tuple[Token, ...]
    there: Array

    @property
    def _all(self) -> int:
        return len(self.there) - 1

    @cached_property
    def _numbers(self) -> Array:
        return np.arange(len(self.there))

    def _sizes(self) -> Array:
        sizes = np.zeros(len(self.there), dtype=np.int64)
        for bit in range(len(self.tokens)):
            sizes += self._has(bit)
        return sizes

    def _has(self, bit: int) -> Array:
        present: Array = (self._numbers >> bit & 1).astype(np.bool_)
        return present

    def probability(self, weights: Mapping[Token, float]) -> float:
        """Return the probability of the row, of independent tuples."""
        chances = np.ones(len(self.there))
        for bit, token in enumerate(self.tokens):
            weight = weights[token]
            chances *= np.where(self._has(bit), weight, 1 - weight)
        return float(chances[self.there].sum())

    def shapley(self) -> dict[Token, float]:
        """Return Shapley values: over all orders in which tuples come, who brings the row."""
        count = len(self.tokens)
        weights = np.array(
            [math.factorial(s) * math.factorial(count - s - 1) for s in range(count)]
        ) / math.factorial(count)
        return self._influences(lambda sizes: weights[sizes])

    def banzhaf(self) -> dict[Token, float]:
        """Return Banzhaf values: over all sets of other tuples, how often one brings the row."""
        return self._influences(lambda sizes: np.full(len(sizes), 0.5 ** (len(self.tokens) - 1)))

    def _influences(self, weigh: Callable[[Array], Array]) -> dict[Token, float]:
        sizes, influences = self._sizes(), {}
        for bit, token in enumerate(self.tokens):
            without = self._numbers[~self._has(bit)]
            gained = self.there[without | 1 << bit].astype(float) - self.there[without]
            influences[token] = float((weigh(sizes[without]) * gained).sum())
        return influences

    def repairs(self) -> Sets:
        """Return the smallest sets without which the row is not there."""
        for size in range(len(self.tokens) + 1):
            sets = {
                frozenset(self.tokens[bit] for bit in places)
                for places in combinations(range(len(self.tokens)), size)
                if not self.there[self._all - _number(places)]
            }
            if sets:
                return frozenset(sets)
        return frozenset()

    def witnesses(self) -> Sets:
        """Return the minimal sets that suffice for the row, whatever else is there."""
        suffices = self.there.copy()
        for bit in range(len(self.tokens)):
            without = self._numbers[~self._has(bit)]
            suffices[without] &= suffices[without | 1 << bit]
        minimal = suffices.copy()
        for bit in range(len(self.tokens)):
            having = self._numbers[self._has(bit)]
            minimal[having] &= ~suffices[having & ~(1 << bit)]
        return frozenset(
            frozenset(token for bit, token in enumerate(self.tokens) if number >> bit & 1)
            for number in np.flatnonzero(minimal).tolist()
        )

    def responsibility(self) -> dict[Token, float]:
        """Return 1 / (1 + k) by tuple, where it decides once k others are gone; 0 if it never does.

        The row is there until the tuple itself goes.
        """
        absent = len(self.tokens) - self._sizes()
        shares = {}
        for bit, token in enumerate(self.tokens):
            having = self._numbers[self._has(bit)]
            decides = having[self.there[having] & ~self.there[having & ~(1 << bit)]]
            shares[token] = float(1 / (1 + absent[decides].min())) if len(decides) else 0.0
        return shares


def _number(places: tuple[int, ...]) -> int:
    return sum(1 << bit for bit in places)
