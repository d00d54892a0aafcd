"""Annotations of validity as intervals between numbered instants."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.base import Array, Semiring
from semiring.column_texts import intervals
from semiring.columns.base import Columns
from semiring.columns.sources import Given, Source
from semiring.errors import ValuationError
from semiring.intervals import Intervals, concatenated, swept
from semiring.segments import list_layout, lists_of
from semiring.semirings.validity import Times
from semiring.valuation import Valuation

_INTERVAL = pa.struct([("start", pa.int64()), ("stop", pa.int64())])


class IntervalColumns(Columns[Intervals]):
    """The operations of validity.

    Parameters
    ----------
    sources
        Where tokens come from.
    travelled
        Columns of annotations from another pass.
    shared
        All instants that bound an interval, ascending; None: those of the sources' values.

    Raises
    ------
    ValuationError
        Where instants have no order.
    """

    def __init__(
        self,
        semiring: Semiring[Any],
        sources: Mapping[Hashable, Source],
        travelled: Mapping[Hashable, pa.Array] | None = None,
        shared: Sequence[Any] | None = None,
    ) -> None:
        self._semiring = semiring
        self._travelled = travelled or {}
        self._given: dict[Hashable, Given] = {}
        for name, source in sources.items():
            scan = source.scan()
            found = source.valuation.places(scan.columns, scan.length, scan.absent)
            self._given[name] = Given(*found)
        if shared is None:
            shared = _instants(value for one in self._given.values() for value in one.values)
        self._instants = shared

    def tokens(self, source: Hashable) -> Intervals:
        given = self._given[source]
        return Intervals.of(self._instants, given.values).take(given.places)

    def zeros(self, length: int) -> Intervals:
        return self.repeat(np.zeros(length, dtype=np.int64))

    def ones(self, length: int) -> Intervals:
        return self.repeat(np.ones(length, dtype=np.int64))

    def repeat(self, counts: Array) -> Intervals:
        return Intervals.constant(self._instants, counts > 0)

    def product(self, factors: Sequence[Intervals], length: int) -> Intervals:
        if len(factors) < 2:
            return factors[0] if factors else self.ones(length)
        return swept(factors, lambda inside: np.logical_and.reduce(inside > 0))

    def fold(self, values: Intervals, offsets: Array) -> Intervals:
        return values.joined(offsets)

    def monus(self, a: Intervals, b: Intervals) -> Intervals:
        return swept([a, b], lambda inside: (inside[0] > 0) & (inside[1] == 0))

    def delta(self, values: Intervals) -> Intervals:
        return values

    def take(self, values: Intervals, places: Array) -> Intervals:
        return values.take(places)

    def concatenate(self, parts: Sequence[Intervals]) -> Intervals:
        return concatenated(parts)

    def to_arrow(self, values: Intervals) -> pa.Array:
        return intervals(values)

    def sent(self, values: Intervals) -> pa.Array:
        pairs = [pa.array(ends, pa.int64()) for ends in (values.starts, values.stops)]
        return lists_of(values.offsets, pa.StructArray.from_arrays(pairs, fields=list(_INTERVAL)))

    def received(self, name: Hashable) -> Intervals:
        offsets, rows = list_layout(self._travelled[name])
        starts, stops = (ends.to_numpy(zero_copy_only=False) for ends in rows.flatten())
        return Intervals(self._instants, starts, stops, offsets)

    @staticmethod
    def shared(
        semiring: Semiring[Any],
        valuations: Sequence[Valuation[Times]],
        keys: Mapping[str, Sequence[pa.DataType]] | None,
    ) -> Sequence[Any] | None:
        """What passes share: all instants of values; None where a function gives these."""
        given = [valuation for valuation in valuations if not valuation.constant_one]
        if any(valuation.values is None for valuation in given):
            return None
        return _instants(value for valuation in given for value in valuation.values or ())

    @staticmethod
    def carrier(shared: Sequence[Any]) -> pa.DataType:
        """The type in which annotations travel."""
        return pa.list_(_INTERVAL)


def _instants(values: Iterable[Times]) -> Sequence[Any]:
    found = {end for value in values for interval in value for end in interval if end is not None}
    try:
        return sorted(found)
    except TypeError as error:
        kinds = sorted({type(instant).__name__ for instant in found})
        raise ValuationError(
            f"Instants of {' and '.join(kinds)} have no order in common: give all relations times "
            "of one type."
        ) from error
