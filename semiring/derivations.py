"""Sums of products of tokens, held as columns: no Python object per derivation.

The free semirings of Green, *Containment of Conjunctive Queries on Annotated Relations*, ICDT 2009,
are quotients of N[X]: x² = x makes monomials sets, + idempotent forgets coefficients, absorption
keeps the smallest. Here they are operations on a matrix of token numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from semiring.absorption import minimal
from semiring.base import Array
from semiring.vocabulary import ABSENT, Scan, number_tokens


@dataclass(frozen=True, slots=True)
class Derivations:
    """Sums of monomials: segment i has the rows from ``offsets[i]`` to ``offsets[i + 1]``.

    Attributes
    ----------
    texts
        The text of every token, as large strings, by its number; numbers are in tokens' order.
    tokens
        int64 of shape (rows, width): a monomial's token numbers, each once and ascending, then
        `ABSENT`.
    exponents
        Of the same shape, 0 beside `ABSENT`; None: they are all 1.
    coefficients
        How often each row is there; None: once.
    offsets
        int64, one more than there are segments.
    """

    texts: pa.Array
    tokens: Array
    exponents: Array | None
    coefficients: Array | None
    offsets: Array

    @classmethod
    def of(cls, scans: Sequence[Scan], owners: Array, segments: int) -> Derivations:
        """The products of the tokens of some scans, row by row, summed by owner.

        Parameters
        ----------
        owners
            The segment of every row.
        """
        codes, texts = number_tokens(scans)
        tokens = np.full((len(owners), len(codes)), ABSENT, dtype=np.int64)
        for place, column in enumerate(codes):
            tokens[:, place] = column
        if len(owners) > 1 and bool((owners[1:] < owners[:-1]).any()):
            tokens = tokens[np.argsort(owners, kind="stable")]
        offsets = np.zeros(segments + 1, dtype=np.int64)
        np.cumsum(np.bincount(owners, minlength=segments), out=offsets[1:])
        tokens, exponents = _as_monomials(tokens)
        return cls(texts, tokens, exponents, None, offsets)

    @property
    def owners(self) -> Array:
        """The segment of every row."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    @property
    def degrees(self) -> Array:
        """The number of factors of every row."""
        present = self.tokens != ABSENT if self.exponents is None else self.exponents
        degrees: Array = present.sum(axis=1)
        return degrees

    def flat(self) -> Derivations:
        """Every exponent as 1: x² = x."""
        return replace(self, exponents=None)

    def distinct(self) -> Derivations:
        """Equal rows of a segment as one, with their number as its coefficient; sorted.

        Rows are in the order of polynomials' terms.
        """
        owners, keys = self.owners, [*self.tokens.T]
        if self.exponents is not None:
            keys = [key for pair in zip(keys, -self.exponents.T, strict=True) for key in pair]
        keys.insert(0, owners)
        order = _order(keys)
        if order is not None:
            keys = [key[order] for key in keys]
        first = np.zeros(len(owners), dtype=np.bool_)
        first[:1] = True
        for key in keys:
            first[1:] |= key[1:] != key[:-1]
        counts = np.diff(np.append(np.flatnonzero(first), len(first)))
        return (self if order is None else self._rows(order))._kept(first, counts)

    def minimal(self) -> Derivations:
        """The rows that no other one of their segment divides; of distinct rows.

        Cost: linear where the rows of a segment are of one degree; else each is held against all
        shorter ones that are kept, in Python.
        """
        degrees, owners = self.degrees, self.owners
        mixed = np.zeros(len(self.offsets) - 1, dtype=np.bool_)
        mixed[owners[1:][(degrees[1:] != degrees[:-1]) & (owners[1:] == owners[:-1])]] = True
        kept = np.ones(len(owners), dtype=np.bool_)
        for segment in np.flatnonzero(mixed).tolist():
            start, stop = self.offsets[segment : segment + 2].tolist()
            monomials = [self._monomial(row) for row in range(start, stop)]
            kept[start:stop] = False
            found = minimal(
                range(stop - start),
                lambda a, b, of=monomials: _divides(of[a], of[b]),  # type: ignore[misc]
                lambda a, of=degrees[start:stop]: int(of[a]),  # type: ignore[misc]
            )
            kept[start + np.array(sorted(found), dtype=np.int64)] = True
        return self if kept.all() else self._kept(kept, None)

    def once(self) -> Derivations:
        """Every coefficient as 1: 1 + 1 = 1."""
        return replace(self, coefficients=None)

    def segment(self, number: int) -> Derivations:
        """One segment alone."""
        start, stop = self.offsets[number : number + 2].tolist()
        kept = np.zeros(len(self.tokens), dtype=np.bool_)
        kept[start:stop] = True
        found = self._kept(kept, self.coefficients)
        return replace(found, offsets=np.array([0, stop - start]))

    def first(self, limit: int) -> Derivations:
        """The first rows of every segment."""
        places = np.arange(len(self.tokens)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        return self if (places < limit).all() else self._kept(places < limit, self.coefficients)

    def union(self) -> tuple[Array, Array]:
        """The tokens of every segment, each once and ascending, and their CSR offsets."""
        present = self.tokens != ABSENT
        owners = np.repeat(self.owners, present.sum(axis=1))
        wide = max(len(self.texts), 1)
        pairs = owners * wide + self.tokens[present]
        if len(pairs) > 1 and not bool((pairs[1:] > pairs[:-1]).all()):
            pairs = np.unique(pairs)
        owners, tokens = np.divmod(pairs, wide)
        offsets = np.zeros(len(self.offsets), dtype=np.int64)
        np.cumsum(np.bincount(owners, minlength=len(offsets) - 1), out=offsets[1:])
        return tokens, offsets

    def _rows(self, order: Array) -> Derivations:
        """The same rows in another order, within their segments."""
        exponents = None if self.exponents is None else self.exponents[order]
        return replace(self, tokens=self.tokens[order], exponents=exponents)

    def _kept(self, kept: Array, coefficients: Array | None) -> Derivations:
        """The rows of a Boolean array; `coefficients` are theirs, or those of all rows."""
        if coefficients is not None and len(coefficients) == len(kept):
            coefficients = coefficients[kept]
        return Derivations(
            self.texts,
            self.tokens[kept],
            None if self.exponents is None else self.exponents[kept],
            coefficients,
            np.concatenate([[0], np.cumsum(kept)])[self.offsets],
        )

    def _monomial(self, row: int) -> dict[int, int]:
        tokens = self.tokens[row].tolist()
        exponents = [1] * len(tokens) if self.exponents is None else self.exponents[row].tolist()
        return {t: n for t, n in zip(tokens, exponents, strict=True) if t != ABSENT}


def _divides(a: dict[int, int], b: dict[int, int]) -> bool:
    return all(b.get(token, 0) >= n for token, n in a.items())


def _as_monomials(tokens: Array) -> tuple[Array, Array | None]:
    """Rows of token numbers in any order as ascending ones, each number once, and exponents."""
    beyond = np.iinfo(np.int64).max
    tokens = np.sort(np.where(tokens == ABSENT, beyond, tokens), axis=1)
    again = (tokens[:, 1:] == tokens[:, :-1]) & (tokens[:, 1:] != beyond)
    if not again.any():
        return np.where(tokens == beyond, ABSENT, tokens), None
    exponents = np.where(tokens == beyond, 0, 1)
    for column in range(tokens.shape[1] - 1, 0, -1):
        # Counted from the right, each run ends up in its first column.
        same = again[:, column - 1]
        exponents[same, column - 1] += exponents[same, column]
        exponents[same, column] = 0
        tokens[same, column] = beyond
    order = np.argsort(tokens, axis=1, kind="stable")
    tokens = np.take_along_axis(tokens, order, axis=1)
    exponents = np.take_along_axis(exponents, order, axis=1)
    return np.where(tokens == beyond, ABSENT, tokens), exponents


def _order(keys: Sequence[Array]) -> Array | None:
    """The stable order of rows by several keys, the first one first; None: they are in order."""
    length = len(keys[0])
    ascending = np.zeros(max(length - 1, 0), dtype=np.bool_)
    tied = ~ascending
    for key in keys:
        ascending |= tied & (key[1:] > key[:-1])
        tied &= key[1:] == key[:-1]
    if (ascending | tied).all():
        return None
    return np.lexsort(keys[::-1])
