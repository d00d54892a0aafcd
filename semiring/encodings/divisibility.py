"""Divisibility and equality of monomials: absorption and differences of sums in columns."""

from __future__ import annotations

import numpy as np

from semiring.arrays.segments import bounds, mask_of
from semiring.base import Array
from semiring.encodings.derivations import Derivations, exponents_of, ordered
from semiring.encodings.vocabulary import ABSENT

_PAIRS = 1 << 18
"""Pairs of monomials that are compared at a time."""


def minimal(derivations: Derivations) -> Derivations:
    """Return the rows that no other row of their segment divides; rows are distinct.

    Source: Deutch, Milo, Roy, Tannen, *Circuits for Datalog Provenance*, ICDT 2014, section 3.
    """
    degrees, owners = derivations.degrees, derivations.owners
    largest = np.zeros(len(derivations), dtype=np.int64)
    np.maximum.at(largest, owners, degrees)
    shorter = degrees < largest[owners]
    if not shorter.any():
        return derivations
    return derivations.kept(~divided(derivations, derivations.kept(shorter), strictly=True))


def contained(rows: Derivations, among: Derivations) -> Array:
    """Return a mask of the rows that also occur in the same segment of `among`; rows are
    distinct.
    """
    both = rows.concatenated((among,))
    order, first = ordered(both, np.concatenate([rows.owners, among.owners]))
    repeated = np.append(~first[1:], False)
    # The order is stable: the first of two equal rows comes from `rows`.
    places = np.flatnonzero(repeated) if order is None else order[repeated]
    return mask_of(places, len(rows.tokens))


def divided(rows: Derivations, divisors: Derivations, *, strictly: bool = False) -> Array:
    """Return a mask of the rows that some row in the same segment of `divisors` divides.

    Parameters
    ----------
    strictly
        A row does not divide its equal.

    Cost: every divisor is compared with the rows that have its rarest token.
    """
    sizes, degrees = rows.degrees, divisors.degrees
    everywhere = mask_of(divisors.owners[degrees == 0], len(rows))
    divided_rows: Array = everywhere[rows.owners]
    if strictly:
        divided_rows &= sizes > 0
    first, counts, holders = _candidates(rows, divisors)
    starts = bounds(counts)
    for start in range(0, int(starts[-1]), _PAIRS):
        pairs = np.arange(start, min(start + _PAIRS, int(starts[-1])))
        divisor = np.searchsorted(starts, pairs, side="right") - 1
        row = holders[first[divisor] + pairs - starts[divisor]]
        divides = _divides(divisors, divisor, rows, row)
        if strictly:
            divides &= degrees[divisor] < sizes[row]
        divided_rows[row[divides]] = True
    return divided_rows


def _candidates(rows: Derivations, divisors: Derivations) -> tuple[Array, Array, Array]:
    """Return, for each divisor that is not a constant, the rows with its rarest token.

    Returns
    -------
    first, counts
        The range of each divisor's rows in `holders`.
    holders
        Rows, by segment and token.
    """
    present = rows.tokens != ABSENT
    wide = max(len(rows.vocabulary), 1)
    holders = np.repeat(np.arange(len(rows.tokens)), present.sum(axis=1))
    keys = rows.owners[holders] * wide + rows.tokens[present]
    order = np.argsort(keys, kind="stable")
    holders, keys = holders[order], keys[order]
    if not divisors.tokens.shape[1]:
        none = np.zeros(len(divisors.tokens), dtype=np.int64)
        return none, none, holders
    wanted = divisors.owners[:, None] * wide + divisors.tokens
    first = np.searchsorted(keys, wanted)
    counts = np.searchsorted(keys, wanted, side="right") - first
    counts[divisors.tokens == ABSENT] = len(keys) + 1
    rarest = counts.argmin(axis=1)
    every = np.arange(len(counts))
    first, counts = first[every, rarest], counts[every, rarest]
    return first, np.where(counts > len(keys), 0, counts), holders


def _divides(divisors: Derivations, divisor: Array, rows: Derivations, row: Array) -> Array:
    """Return a mask of the pairs in which the first monomial divides the second."""
    tokens, powers = rows.tokens[row], divisors.exponents
    exponents = None if powers is None else exponents_of(rows)[row]
    divides = np.ones(len(row), dtype=np.bool_)
    for column in range(divisors.tokens.shape[1]):
        wanted = divisors.tokens[divisor, column]
        has = tokens == wanted[:, None]
        if powers is not None:
            has &= exponents >= powers[divisor, column][:, None]
        divides &= has.any(axis=1) | (wanted == ABSENT)
    return divides
