"""Why-provenance: the sets of tuples that together suffice.

Carrier: finite sets of finite sets of tokens. Source: Buneman, Khanna, Tan, ICDT 2001, as a
semiring in Green, *Containment of Conjunctive Queries on Annotated Relations*, ICDT 2009.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import pyarrow as pa

from semiring.encodings.derivations import Derivations, Terms
from semiring.encodings.quotients import Quotient
from semiring.encodings.texts import sets_of_sets
from semiring.errors import ValuationError
from semiring.token import Token

Witnesses: TypeAlias = frozenset[frozenset[Token]]


class Why(Quotient[Witnesses]):
    """Witnesses of a tuple: (P(P(X)), ∪, pairwise ∪, ∅, {∅}). A token is {{x}} by default.

    The natural order is ⊆, so a ⊖ b = a \\ b. Not absorptive: witnesses need not be minimal.
    """

    name = "Why"
    idempotent = True
    has_monus = True
    capabilities = frozenset({"MIN", "MAX"})
    flat = True
    zero: Witnesses = frozenset()
    one: Witnesses = frozenset((frozenset(),))

    def plus(self, a: Witnesses, b: Witnesses) -> Witnesses:
        return a | b

    def times(self, a: Witnesses, b: Witnesses) -> Witnesses:
        return frozenset(x | y for x in a for y in b)

    def monus(self, a: Witnesses, b: Witnesses) -> Witnesses:
        return a - b

    def default(self, token: Token) -> Witnesses:
        return frozenset((frozenset((token,)),))

    def sum(self, values: Iterable[Witnesses]) -> Witnesses:
        return frozenset().union(*values)

    def check(self, value: Any) -> Witnesses:
        try:
            witnesses = frozenset(frozenset(witness) for witness in value)
        except TypeError:
            witnesses = frozenset((frozenset((None,)),))
        if isinstance(value, str) or not all(isinstance(x, Token) for w in witnesses for x in w):
            raise ValuationError(f"{value!r} is not a value of Why; use a set of sets of tokens")
        return witnesses

    def terms(self, value: Witnesses) -> Terms:
        return ((tuple((token, 1) for token in witness), 1) for witness in value)

    def write(self, derivations: Derivations) -> pa.Array:
        return sets_of_sets(derivations)

    def render(self, value: Witnesses) -> str:
        witnesses = sorted(sorted(witness) for witness in value)
        return "{" + ", ".join("{" + ", ".join(map(str, w)) + "}" for w in witnesses) + "}"
