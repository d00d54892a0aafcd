"""Sums of products of tokens, as columns: no Python object per derivation.

The free semirings of Green, *Containment of Conjunctive Queries on Annotated Relations*, ICDT 2009,
are quotients of N[X]: x² = x makes monomials sets, + idempotent forgets coefficients, absorption
keeps the smallest. Here they are operations on a matrix of token numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from semiring.arrays.exact import integer_array, multiply, sum_segments
from semiring.arrays.segments import Segmented, bounds, owners_of, places_of
from semiring.base import Array
from semiring.encodings.vocabulary import ABSENT, Vocabulary
from semiring.monomials import Monomial
from semiring.token import Token

Terms: TypeAlias = Iterable[tuple[Monomial, int]]
"""Monomials with coefficients, to be added."""


@dataclass(frozen=True, slots=True)
class Derivations(Segmented):
    """Sums of monomials: segment i has the rows from ``offsets[i]`` to ``offsets[i + 1]``.

    Attributes
    ----------
    vocabulary
        The tokens by number; numbers are in tokens' order.
    tokens
        int32 of shape (rows, width): a monomial's token numbers, each once and ascending, then
        `ABSENT`.
    exponents
        int64 of the same shape, 0 beside `ABSENT`; None: they are all 1.
    coefficients
        The coefficient of each row, an integer array of `semiring.arrays.exact`; None: they
        are all 1.
    offsets
        int64, one more than there are segments.
    """

    by_row = ("tokens", "exponents", "coefficients")

    vocabulary: Vocabulary
    tokens: Array
    exponents: Array | None
    coefficients: Array | None
    offsets: Array

    # -- construction ----------------------------------------------------------------------

    @classmethod
    def of_tokens(cls, vocabulary: Vocabulary, numbers: Array) -> Derivations:
        """Return one token, or the constant 1 for `ABSENT`, in each segment."""
        return cls(vocabulary, numbers[:, None], None, None, np.arange(len(numbers) + 1))

    @classmethod
    def of_constants(cls, vocabulary: Vocabulary, constants: Array) -> Derivations:
        """Return a constant in each segment, from an integer array."""
        there = constants != 0
        tokens = np.zeros((int(there.sum()), 0), dtype=np.int32)
        return cls(vocabulary, tokens, None, constants[there], bounds(there))

    @classmethod
    def of_terms(
        cls, vocabulary: Vocabulary, sums: Sequence[Terms], numbers: Mapping[Token, int]
    ) -> Derivations:
        """Return sums given as terms, by the numbers of their tokens."""
        rows = [list(terms) for terms in sums]
        monomials = [monomial for terms in rows for monomial, _ in terms]
        width = max(map(len, monomials), default=0)
        tokens = np.full((len(monomials), width), ABSENT, dtype=np.int32)
        exponents = np.zeros(tokens.shape, dtype=np.int64)
        for row, monomial in enumerate(monomials):
            tokens[row, : len(monomial)] = [numbers[token] for token, _ in monomial]
            exponents[row, : len(monomial)] = [n for _, n in monomial]
        tokens, powers = _as_monomials(tokens, exponents)
        coefficients = integer_array([n for terms in rows for _, n in terms])
        offsets = bounds(np.array([len(terms) for terms in rows], dtype=np.int64))
        return cls(vocabulary, tokens, powers, coefficients, offsets)

    # -- shape -----------------------------------------------------------------------------

    @property
    def degrees(self) -> Array:
        """The number of factors of every row."""
        present = self.tokens != ABSENT if self.exponents is None else self.exponents
        degrees: Array = present.sum(axis=1)
        return degrees

    @property
    def single(self) -> bool:
        """True if every segment has one row."""
        return len(self.tokens) == len(self) and bool((np.diff(self.offsets) == 1).all())

    def take(self, places: Array) -> Derivations:
        """Return some segments."""
        if len(places) == len(self) and bool((places == np.arange(len(self))).all()):
            return self
        return Segmented.take(self, places)

    def first(self, limit: int) -> Derivations:
        """Return the first rows of every segment."""
        places = places_of(self.offsets)
        return self if bool((places < limit).all()) else self.kept(places < limit)

    def kept(self, kept: Array) -> Derivations:
        """Return the rows that a mask selects."""
        if bool(kept.all()):
            return self
        return replace(self.rows(kept), offsets=bounds(kept)[self.offsets])

    def concatenated(self, others: Sequence[Derivations]) -> Derivations:
        """See :class:`Segmented`."""
        parts = (self, *others)
        width = max(part.tokens.shape[1] for part in parts)
        exponents = coefficients = None
        if any(part.exponents is not None for part in parts):
            exponents = np.concatenate([_wide(exponents_of(part), width, 0) for part in parts])
        if any(part.coefficients is not None for part in parts):
            coefficients = np.concatenate([coefficients_of(part) for part in parts])
        tokens = np.concatenate([_wide(part.tokens, width, ABSENT) for part in parts])
        offsets = bounds(np.concatenate([np.diff(part.offsets) for part in parts]))
        return Derivations(self.vocabulary, tokens, exponents, coefficients, offsets)

    # -- operations ------------------------------------------------------------------------

    def summed(self, offsets: Array) -> Derivations:
        """Return the sums of consecutive segments."""
        return replace(self, offsets=self.offsets[offsets])

    def times(self, other: Derivations) -> Derivations:
        """Return the products of corresponding segments, multiplied out."""
        if self.single and other.single:
            return multiplied((self, other))
        left_sizes, right_sizes = np.diff(self.offsets), np.diff(other.offsets)
        offsets = bounds(left_sizes * right_sizes)
        owners = owners_of(offsets)
        inner = np.arange(len(owners)) - offsets[owners]
        left = self.rows(self.offsets[owners] + inner // right_sizes[owners])
        right = other.rows(other.offsets[owners] + inner % right_sizes[owners])
        return replace(multiplied((left, right)), offsets=offsets)

    # -- laws ------------------------------------------------------------------------------

    def flat(self) -> Derivations:
        """Return the sums with all exponents 1: x² = x."""
        return self if self.exponents is None else replace(self, exponents=None)

    def once(self) -> Derivations:
        """Return the sums with all coefficients 1: 1 + 1 = 1."""
        return self if self.coefficients is None else replace(self, coefficients=None)

    def distinct(self) -> Derivations:
        """Return the sums with equal monomials merged, coefficients added, and rows sorted.

        Rows are in the order of polynomials' terms.
        """
        order, first = ordered(self, self.owners)
        sorted_rows = self if order is None else self.rows(order)
        if bool(first.all()):
            return sorted_rows
        starts = np.append(np.flatnonzero(first), len(first))
        if sorted_rows.coefficients is None:
            coefficients = np.diff(starts)
        else:
            coefficients = sum_segments(sorted_rows.coefficients, starts)
        return replace(sorted_rows.kept(first), coefficients=coefficients)


def multiplied(parts: Sequence[Derivations]) -> Derivations:
    """Return the rowwise products of equally long parts, in the segments of the first part."""
    tokens = np.concatenate([part.tokens for part in parts], axis=1)
    exponents = None
    if any(part.exponents is not None for part in parts):
        exponents = np.concatenate([exponents_of(part) for part in parts], axis=1)
    coefficients = None
    for part in parts:
        if part.coefficients is not None:
            factor = part.coefficients
            coefficients = factor if coefficients is None else multiply(coefficients, factor)
    tokens, exponents = _as_monomials(tokens, exponents)
    first = parts[0]
    return Derivations(first.vocabulary, tokens, exponents, coefficients, first.offsets)


def ordered(derivations: Derivations, owners: Array) -> tuple[Array | None, Array]:
    """Return the stable order of rows by owner and monomial, and a mask of first occurrences.

    The order is None if the rows are sorted already.
    """
    keys = [*derivations.tokens.T]
    if derivations.exponents is not None:
        pairs = zip(keys, -derivations.exponents.T, strict=True)
        keys = [key for pair in pairs for key in pair]
    keys.insert(0, owners)
    order = _order(keys)
    first = np.zeros(len(derivations.tokens), dtype=np.bool_)
    first[:1] = True
    for key in keys:
        sorted_key = key if order is None else key[order]
        first[1:] |= sorted_key[1:] != sorted_key[:-1]
    return order, first


def exponents_of(derivations: Derivations) -> Array:
    """Return the exponents as an array, even if all are 1."""
    if derivations.exponents is not None:
        return derivations.exponents
    ones: Array = (derivations.tokens != ABSENT).astype(np.int64)
    return ones


def coefficients_of(derivations: Derivations) -> Array:
    """Return the coefficients as an array, even if all are 1."""
    if derivations.coefficients is not None:
        return derivations.coefficients
    return np.ones(len(derivations.tokens), dtype=np.int64)


def _wide(matrix: Array, width: int, fill: int) -> Array:
    """Return a matrix padded with columns on the right."""
    missing = width - matrix.shape[1]
    return np.pad(matrix, ((0, 0), (0, missing)), constant_values=fill) if missing else matrix


def _as_monomials(tokens: Array, exponents: Array | None) -> tuple[Array, Array | None]:
    """Return rows of token numbers as monomials: ascending, with repetitions as exponents."""
    beyond = np.iinfo(tokens.dtype).max
    tokens = np.where(tokens == ABSENT, beyond, tokens)
    if exponents is None:
        tokens.sort(axis=1)
    else:
        tokens, exponents = _sorted(tokens, exponents)
    again = (tokens[:, 1:] == tokens[:, :-1]) & (tokens[:, 1:] != beyond)
    if again.any():
        if exponents is None:
            exponents = (tokens != beyond).astype(np.int64)
        for column in range(tokens.shape[1] - 1, 0, -1):
            # Counted from the right, each run ends up in its first column.
            same = again[:, column - 1]
            exponents[same, column - 1] += exponents[same, column]
            exponents[same, column] = 0
            tokens[same, column] = beyond
        tokens, exponents = _sorted(tokens, exponents)
    present = tokens != beyond
    width = int(present.any(axis=0).sum())
    tokens = np.where(present, tokens, ABSENT)[:, :width]
    if exponents is None or bool((exponents <= 1).all()):
        return tokens, None
    return tokens, exponents[:, :width]


def _sorted(tokens: Array, exponents: Array) -> tuple[Array, Array]:
    order = np.argsort(tokens, axis=1, kind="stable")
    return np.take_along_axis(tokens, order, axis=1), np.take_along_axis(exponents, order, axis=1)


def _order(keys: Sequence[Array]) -> Array | None:
    """Return the stable order of rows by several keys, the first most significant; None if
    sorted.
    """
    length = len(keys[0])
    ascending = np.zeros(max(length - 1, 0), dtype=np.bool_)
    tied = ~ascending
    for key in keys:
        ascending |= tied & (key[1:] > key[:-1])
        tied &= key[1:] == key[:-1]
    if (ascending | tied).all():
        return None
    return np.lexsort(keys[::-1])
