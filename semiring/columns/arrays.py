"""Annotations as arrays of elements of the semiring."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.base import Array, Semiring
from semiring.columns.base import Columns
from semiring.columns.objects import pickled, unpickled
from semiring.columns.token_sources import ValuedScan
from semiring.encodings.folds import fold, product

_DIRECT: Mapping[str, pa.DataType] = {
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "int64": pa.int64(),
}
"""Types that hold the annotations of a numeric semiring as they are shown."""


class ArrayColumns(Columns[Array]):
    """The array operations of any semiring."""

    def __init__(
        self,
        semiring: Semiring[Any],
        sources: Mapping[Hashable, ValuedScan],
        travelled: Mapping[Hashable, pa.Array] | None = None,
    ) -> None:
        self._semiring = semiring
        self._sources = sources
        self._travelled = travelled or {}

    def tokens(self, source: Hashable) -> Array:
        given = self._sources[source]
        scan = given.scan()
        return given.valuation.lookup(scan.columns, scan.length, scan.absent)

    def zeros(self, length: int) -> Array:
        return self._semiring.zeros(length)

    def ones(self, length: int) -> Array:
        return self._semiring.ones(length)

    def repeat(self, counts: Array) -> Array:
        return self._semiring.repeat_array(counts)

    def product(self, factors: Sequence[Array], length: int) -> Array:
        return product(self._semiring, factors, length)

    def fold(self, values: Array, offsets: Array) -> Array:
        return fold(self._semiring, values, offsets)

    def monus(self, a: Array, b: Array) -> Array:
        return self._semiring.monus_array(a, b)

    def delta(self, values: Array) -> Array:
        return self._semiring.delta_array(values)

    def take(self, values: Array, places: Array) -> Array:
        taken: Array = values[places]
        return taken

    def concatenate(self, parts: Sequence[Array]) -> Array:
        return np.concatenate(parts)

    def plus(self, a: Array, b: Array, length: int) -> Array:
        return self._semiring.plus_array(a, b)

    def to_arrow(self, values: Array) -> pa.Array:
        return self._semiring.to_arrow(values)

    @staticmethod
    def carrier(semiring: Semiring[Any]) -> pa.DataType:
        """The type in which annotations travel: numbers if they are numeric, else pickled bytes."""
        return _DIRECT.get(semiring.dtype.name, pa.binary())

    def sent(self, values: Array) -> pa.Array:
        if self._semiring.dtype.name in _DIRECT:
            return pa.array(values)
        return pa.array(map(pickled, self._semiring.unpack(values)), pa.binary())

    def received(self, name: Hashable) -> Array:
        column = self._travelled[name]
        if self._semiring.dtype.name in _DIRECT:
            elements: Array = column.to_numpy(zero_copy_only=False)
            return elements
        return self._semiring.pack([unpickled(value) for value in column.to_pylist()])
