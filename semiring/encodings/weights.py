"""Weights with their derivatives, as columns: no Python object per weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from semiring.arrays.segments import Segmented, bounds, owners_of
from semiring.base import Array
from semiring.encodings.vocabulary import ABSENT, Vocabulary
from semiring.token import Token


@dataclass(frozen=True, slots=True)
class Weights(Segmented):
    """Weights: weight i has the slopes from ``offsets[i]`` to ``offsets[i + 1]``.

    Attributes
    ----------
    vocabulary
        The tokens by number; numbers are in tokens' order.
    values
        The weights themselves, as doubles.
    tokens, slopes
        Derivatives that are not 0, by token number, ascending and distinct within each weight.
    offsets
        int64, one more than there are weights.
    """

    by_row = ("tokens", "slopes")
    by_segment = ("values",)

    vocabulary: Vocabulary
    values: Array
    tokens: Array
    slopes: Array
    offsets: Array

    @classmethod
    def of_tokens(cls, vocabulary: Vocabulary, numbers: Array) -> Weights:
        """Return tokens as weights 1 with derivative 1; the constant 1 for `ABSENT`."""
        there = numbers != ABSENT
        tokens = numbers[there]
        return cls(vocabulary, np.ones(len(numbers)), tokens, np.ones(len(tokens)), bounds(there))

    @classmethod
    def of_constants(cls, vocabulary: Vocabulary, values: Array) -> Weights:
        """Return weights without derivatives."""
        none = np.zeros(0, dtype=np.int32)
        offsets = np.zeros(len(values) + 1, dtype=np.int64)
        return cls(vocabulary, values.astype(np.float64), none, np.zeros(0), offsets)

    @classmethod
    def of_slopes(
        cls,
        vocabulary: Vocabulary,
        values: Sequence[float],
        slopes: Sequence[Sequence[tuple[Token, float]]],
        numbers: Mapping[Token, int],
    ) -> Weights:
        """Return weights given with slopes, by the numbers of their tokens."""
        tokens = np.array(
            [numbers[token] for of_weight in slopes for token, _ in of_weight], dtype=np.int32
        )
        derivatives = np.array(
            [slope for of_weight in slopes for _, slope in of_weight], dtype=np.float64
        )
        offsets = bounds(np.array([*map(len, slopes)], dtype=np.int64))
        return cls(vocabulary, np.array(values, dtype=np.float64), tokens, derivatives, offsets)

    def summed(self, offsets: Array) -> Weights:
        """Return the sums of consecutive weights."""
        count = len(offsets) - 1
        values = np.bincount(owners_of(offsets), self.values, minlength=count)
        owners = owners_of(self.offsets[offsets])
        return _weights(self.vocabulary, values, owners, self.tokens, self.slopes)

    def times(self, other: Weights) -> Weights:
        """Return the products with corresponding weights: (a·b)' = a'·b + b'·a."""
        left, right = self.owners, other.owners
        changes = (self.slopes * other.values[left], other.slopes * self.values[right])
        return _weights(
            self.vocabulary,
            self.values * other.values,
            np.concatenate([left, right]),
            np.concatenate([self.tokens, other.tokens]),
            np.concatenate(changes),
        )

    def present(self) -> Array:
        """Return a Boolean array of the weights that are not 0."""
        nonzero: Array = (self.values != 0) | (np.diff(self.offsets) > 0)
        return nonzero


def _weights(
    vocabulary: Vocabulary, values: Array, owners: Array, tokens: Array, slopes: Array
) -> Weights:
    """Return weights from slopes in any order, adding slopes of one token."""
    wide = max(len(vocabulary), 1)
    pairs, places = np.unique(owners * wide + tokens, return_inverse=True)
    # Added one by one, in their order, as the semiring's operations do.
    totals = np.bincount(places, slopes, minlength=len(pairs))
    kept = totals != 0
    rows, numbers = np.divmod(pairs[kept], wide)
    offsets = bounds(np.bincount(rows, minlength=len(values)))
    return Weights(vocabulary, values, numbers.astype(np.int32), totals[kept], offsets)
