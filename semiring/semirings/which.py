"""Lineage, or which-provenance: the tuples that occur in some derivation.

Carrier: finite sets of tokens and ⊥. Source: Cui, Widom, Wiener, TODS 2000, as a semiring in Green,
Karvounarakis, Tannen, PODS 2007 and Green, ICDT 2009.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from semiring.base import Semiring
from semiring.errors import ValuationError
from semiring.token import Token

Lineage: TypeAlias = frozenset[Token] | None
"""A set of tokens; None is ⊥, the lineage of an absent tuple."""


class Which(Semiring[Lineage]):
    """Lineage: (P(X) ∪ {⊥}, ∪, ∪, ⊥, ∅), where ⊥ is neutral for + and annihilates under ·.

    A token is {x} by default. The natural order is ⊥ below everything, then ⊆, so a ⊖ b is ⊥ if a ⊆
    b or a = ⊥, else a \\ b.
    """

    name = "Which"
    idempotent = True
    has_monus = True
    capabilities = frozenset({"MIN", "MAX"})
    zero: Lineage = None
    one: Lineage = frozenset()

    def plus(self, a: Lineage, b: Lineage) -> Lineage:
        if a is None:
            return b
        return a if b is None else a | b

    def times(self, a: Lineage, b: Lineage) -> Lineage:
        return None if a is None or b is None else a | b

    def monus(self, a: Lineage, b: Lineage) -> Lineage:
        if a is None or b is None:
            return a
        return None if a <= b else a - b

    def default(self, token: Token) -> Lineage:
        return frozenset((token,))

    def sum(self, values: Iterable[Lineage]) -> Lineage:
        present = [value for value in values if value is not None]
        return frozenset().union(*present) if present else None

    def check(self, value: Any) -> Lineage:
        if value is None:
            return None
        tokens = frozenset(value) if isinstance(value, (set, frozenset, list, tuple)) else None
        if tokens is None or not all(isinstance(token, Token) for token in tokens):
            raise ValuationError(f"{value!r} is not a value of Which; use a set of tokens or None")
        return tokens

    def render(self, value: Lineage) -> str:
        return "⊥" if value is None else "{" + ", ".join(map(str, sorted(value))) + "}"
