"""Annotations of sensitivity as weights and slopes by token numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa

from semiring.base import Array
from semiring.column_texts import weights
from semiring.columns.base import Columns
from semiring.columns.sources import Source, number_sources
from semiring.semirings.sensitivity import Sensitivity
from semiring.weights import Weights, concatenated


class WeightColumns(Columns[Weights]):
    """The operations of sensitivity."""

    def __init__(self, semiring: Sensitivity, sources: Mapping[Hashable, Source]) -> None:
        self._semiring = semiring
        self._numbered = number_sources(sources, lambda value: (token for token, _ in value.slopes))
        self._texts = self._numbered.texts

    def tokens(self, source: Hashable) -> Weights:
        if source in self._numbered.codes:
            return Weights.of_tokens(self._texts, self._numbered.codes[source])
        given = self._numbered.given[source]
        values = [weight.value for weight in given.values]
        slopes = [weight.slopes for weight in given.values]
        found = Weights.of_slopes(self._texts, values, slopes, self._numbered.numbers)
        return found.take(given.places)

    def zeros(self, length: int) -> Weights:
        return self.repeat(np.zeros(length))

    def ones(self, length: int) -> Weights:
        return self.repeat(np.ones(length))

    def repeat(self, counts: Array) -> Weights:
        return Weights.of_constants(self._texts, counts)

    def product(self, factors: Sequence[Weights], length: int) -> Weights:
        return reduce(Weights.times, factors) if factors else self.ones(length)

    def fold(self, values: Weights, offsets: Array) -> Weights:
        return values.summed(offsets)

    def monus(self, a: Weights, b: Weights) -> Weights:
        self._semiring.monus(self._semiring.one, self._semiring.one)
        return a

    def delta(self, values: Weights) -> Weights:
        return self.repeat(values.present())

    def take(self, values: Weights, places: Array) -> Weights:
        return values.take(places)

    def concatenate(self, parts: Sequence[Weights]) -> Weights:
        return concatenated(parts)

    def to_arrow(self, values: Weights) -> pa.Array:
        return weights(values)
