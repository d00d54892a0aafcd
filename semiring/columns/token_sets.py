"""Annotations of which-provenance as sets of token numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from semiring.base import Array
from semiring.column_texts import token_sets
from semiring.columns.base import Columns
from semiring.columns.sources import Source, number_sources
from semiring.semirings.which import Which
from semiring.token_sets import TokenSets, concatenated


class TokenSetColumns(Columns[TokenSets]):
    """The operations of which-provenance."""

    def __init__(self, semiring: Which, sources: Mapping[Hashable, Source]) -> None:
        self._semiring = semiring
        self._numbered = number_sources(sources, lambda value: value or ())
        self._texts = self._numbered.texts

    def tokens(self, source: Hashable) -> TokenSets:
        if source in self._numbered.codes:
            return TokenSets.of_tokens(self._texts, self._numbered.codes[source])
        given = self._numbered.given[source]
        return TokenSets.of_sets(self._texts, given.values, self._numbered.numbers).take(
            given.places
        )

    def zeros(self, length: int) -> TokenSets:
        return TokenSets.empty(self._texts, np.zeros(length, dtype=np.bool_))

    def ones(self, length: int) -> TokenSets:
        return TokenSets.empty(self._texts, np.ones(length, dtype=np.bool_))

    def repeat(self, counts: Array) -> TokenSets:
        return TokenSets.empty(self._texts, counts > 0)

    def product(self, factors: Sequence[TokenSets], length: int) -> TokenSets:
        if not factors:
            return self.ones(length)
        return factors[0].times(*factors[1:])

    def fold(self, values: TokenSets, offsets: Array) -> TokenSets:
        return values.summed(offsets)

    def monus(self, a: TokenSets, b: TokenSets) -> TokenSets:
        return a.minus(b)

    def delta(self, values: TokenSets) -> TokenSets:
        return values

    def take(self, values: TokenSets, places: Array) -> TokenSets:
        return values.take(places)

    def concatenate(self, parts: Sequence[TokenSets]) -> TokenSets:
        return concatenated(parts)

    def to_arrow(self, values: TokenSets) -> pa.Array:
        return token_sets(values, self._semiring.render(None))
