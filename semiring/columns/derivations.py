"""Annotations of the free semirings as sums of monomials of token numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.base import Array
from semiring.columns.base import Columns
from semiring.columns.sources import Source, number_sources
from semiring.derivations import Derivations, concatenated, multiplied
from semiring.divisibility import contained, divided, minimal
from semiring.quotients import Quotient


class DerivationColumns(Columns[Derivations]):
    """The operations of a quotient of N[X].

    Columns are in normal form: monomials of a place are distinct and sorted, and of the elements
    of the semiring.
    """

    def __init__(self, semiring: Quotient[Any], sources: Mapping[Hashable, Source]) -> None:
        self._semiring = semiring
        self._numbered = number_sources(sources, semiring.tokens_in)
        self._texts = self._numbered.texts

    def tokens(self, source: Hashable) -> Derivations:
        if source in self._numbered.codes:
            return Derivations.of_tokens(self._texts, self._numbered.codes[source])
        given = self._numbered.given[source]
        sums = [self._semiring.terms(value) for value in given.values]
        found = Derivations.of_terms(self._texts, sums, self._numbered.numbers)
        return self._normal(found).take(given.places)

    def zeros(self, length: int) -> Derivations:
        return self.repeat(np.zeros(length, dtype=np.int64))

    def ones(self, length: int) -> Derivations:
        return self.repeat(np.ones(length, dtype=np.int64))

    def repeat(self, counts: Array) -> Derivations:
        return self._normal(Derivations.of_constants(self._texts, counts))

    def product(self, factors: Sequence[Derivations], length: int) -> Derivations:
        singles = [factor for factor in factors if factor.single]
        others = [factor for factor in factors if not factor.single]
        parts = [self._single(singles), *others] if singles else others
        return reduce(self._times, parts) if parts else self.ones(length)

    def fold(self, values: Derivations, offsets: Array) -> Derivations:
        return self._normal(values.summed(offsets))

    def monus(self, a: Derivations, b: Derivations) -> Derivations:
        if not self._semiring.has_monus:
            self._semiring.monus(self._semiring.zero, self._semiring.zero)
        return a.kept(~(divided if self._semiring.absorptive else contained)(a, b))

    def delta(self, values: Derivations) -> Derivations:
        return self._semiring.delta_column(values)

    def take(self, values: Derivations, places: Array) -> Derivations:
        return values.take(places)

    def concatenate(self, parts: Sequence[Derivations]) -> Derivations:
        return concatenated(parts)

    def to_arrow(self, values: Derivations) -> pa.Array:
        return self._semiring.write(values)

    def _single(self, factors: Sequence[Derivations]) -> Derivations:
        found = multiplied(factors)
        return found.flat() if self._semiring.flat else found

    def _times(self, a: Derivations, b: Derivations) -> Derivations:
        return self._normal(a.times(b))

    def _normal(self, values: Derivations) -> Derivations:
        """The monomials as those of elements of the semiring."""
        if self._semiring.flat:
            values = values.flat()
        values = values.distinct()
        if self._semiring.idempotent:
            values = values.once()
        return minimal(values) if self._semiring.absorptive else values
