"""Positive Boolean expressions: the minimal sets of tuples that suffice.

Carrier: antichains of sets of tokens, which are positive Boolean expressions up to equivalence.
Source: Green, Karvounarakis, Tannen, PODS 2007, section 3 (PosBool(X)); minimal witnesses: Buneman,
Khanna, Tan, *Why and Where*, ICDT 2001.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from semiring.semirings.why import Why, Witnesses
from semiring.token import Token


class PosBool(Why):
    """Minimal witnesses: (antichains of P(X), minimal ∪, minimal pairwise ∪, ∅, {∅}).

    A token is {{x}} by default; other sets of sets are made minimal. The free distributive lattice
    over X, so a ⊖ b has the witnesses of a that contain none of b.
    """

    name = "PosBool"
    absorptive = True

    def plus(self, a: Witnesses, b: Witnesses) -> Witnesses:
        return _minimal(a | b)

    def times(self, a: Witnesses, b: Witnesses) -> Witnesses:
        return _minimal(x | y for x in a for y in b)

    def monus(self, a: Witnesses, b: Witnesses) -> Witnesses:
        return frozenset(x for x in a if not any(y <= x for y in b))

    def sum(self, values: Iterable[Witnesses]) -> Witnesses:
        return _minimal(witness for value in values for witness in value)

    def check(self, value: Any) -> Witnesses:
        return _minimal(super().check(value))


def _minimal(witnesses: Iterable[frozenset[Token]]) -> Witnesses:
    """Return the minimal witnesses, which contain no other witness."""
    by_token: dict[Token, list[frozenset[Token]]] = {}
    kept: set[frozenset[Token]] = set()
    for witness in sorted(set(witnesses), key=len):
        if not witness:
            return frozenset({witness})
        smaller = (other for token in witness for other in by_token.get(token, ()))
        if not any(map(witness.issuperset, smaller)):
            kept.add(witness)
            by_token.setdefault(next(iter(witness)), []).append(witness)
    return frozenset(kept)
