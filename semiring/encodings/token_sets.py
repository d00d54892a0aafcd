"""Sets of tokens, as columns: no Python object per set."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import Segmented, bounds
from semiring.base import Array
from semiring.encodings.vocabulary import ABSENT, Vocabulary
from semiring.token import Token


@dataclass(frozen=True, slots=True)
class TokenSets(Segmented):
    """Sets of tokens or ⊥: set i has the tokens from ``offsets[i]`` to ``offsets[i + 1]``.

    Attributes
    ----------
    vocabulary
        The tokens by number; numbers are in tokens' order.
    tokens
        Token numbers, ascending and distinct within each set.
    offsets
        int64, one more than there are sets.
    present
        Boolean array: False for ⊥, which has no tokens.
    """

    by_row = ("tokens",)
    by_segment = ("present",)

    vocabulary: Vocabulary
    tokens: Array
    offsets: Array
    present: Array

    @classmethod
    def of_tokens(cls, vocabulary: Vocabulary, numbers: Array) -> TokenSets:
        """Return the set of one token, or the empty one for `ABSENT`."""
        there = numbers != ABSENT
        return cls(vocabulary, numbers[there], bounds(there), np.ones(len(numbers), dtype=np.bool_))

    @classmethod
    def empty(cls, vocabulary: Vocabulary, present: Array) -> TokenSets:
        """Return empty sets, and ⊥ where `present` is False."""
        offsets = np.zeros(len(present) + 1, dtype=np.int64)
        return cls(vocabulary, np.zeros(0, dtype=np.int32), offsets, present)

    @classmethod
    def of_sets(
        cls,
        vocabulary: Vocabulary,
        sets: Sequence[Collection[Token] | None],
        numbers: Mapping[Token, int],
    ) -> TokenSets:
        """Return sets given as tokens, None for ⊥, by the numbers of their tokens."""
        numbered = [
            sorted(numbers[token] for token in tokens_of_set or ()) for tokens_of_set in sets
        ]
        tokens = np.array(
            [number for numbers_of_set in numbered for number in numbers_of_set], dtype=np.int32
        )
        present = np.array([tokens_of_set is not None for tokens_of_set in sets], dtype=np.bool_)
        return cls(
            vocabulary, tokens, bounds(np.array([*map(len, numbered)], dtype=np.int64)), present
        )

    def summed(self, offsets: Array) -> TokenSets:
        """Return the unions of consecutive sets; ⊥ if all are ⊥."""
        there = reduce_segments(np.maximum, self.present.view(np.uint8), offsets, 0)
        wide = replace(self, offsets=self.offsets[offsets], present=there.view(np.bool_))
        return wide._of(wide.owners, wide.tokens, wide.present)

    def times(self, *factors: TokenSets) -> TokenSets:
        """Return the unions with corresponding other sets; ⊥ if either is ⊥."""
        parts = (self, *factors)
        present = np.logical_and.reduce([part.present for part in parts])
        owners = np.concatenate([part.owners for part in parts])
        tokens = np.concatenate([part.tokens for part in parts])
        if not present.all():
            owners, tokens = owners[present[owners]], tokens[present[owners]]
        return self._of(owners, tokens, present)

    def minus(self, other: TokenSets) -> TokenSets:
        """Return differences, row by row: ⊥ if this set is ⊥ or within the other set."""
        pairs, removed = self._pairs(), other._pairs()
        left = ~np.isin(pairs, removed)
        kept = bounds(left)[self.offsets]
        present = self.present & (~other.present | (np.diff(kept) > 0))
        return replace(self, tokens=self.tokens[left], offsets=kept, present=present)

    def _pairs(self) -> Array:
        pairs: Array = self.owners * max(len(self.vocabulary), 1) + self.tokens
        return pairs

    def _of(self, owners: Array, tokens: Array, present: Array) -> TokenSets:
        """Return sets from rows of tokens in any order."""
        wide = max(len(self.vocabulary), 1)
        pairs = owners * wide + tokens
        if not bool((pairs[1:] > pairs[:-1]).all()):
            pairs.sort()
            pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])]
        owners, tokens = np.divmod(pairs, wide)
        offsets = bounds(np.bincount(owners, minlength=len(present)))
        return replace(self, tokens=tokens.astype(np.int32), offsets=offsets, present=present)
