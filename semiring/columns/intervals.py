"""Annotations of validity as intervals between numbered instants."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.arrays.segments import list_layout, lists_of
from semiring.base import Array, Semiring
from semiring.columns.base import Columns
from semiring.columns.objects import pickled, unpickled
from semiring.columns.token_sources import GivenValues, ValuedScan
from semiring.encodings.intervals import Intervals, swept
from semiring.encodings.texts import intervals
from semiring.encodings.valuation import Valuation
from semiring.errors import ValuationError
from semiring.semirings.validity import Times


@dataclass(frozen=True, slots=True)
class Instants:
    """The transport of bounds of intervals from one pass of an evaluation to the next.

    Attributes
    ----------
    known
        All instants that bound an interval, ascending: bounds travel as positions in it. None: a
        function returns further instants, so bounds travel as bytes.
    """

    known: Sequence[Any] | None = None

    @property
    def type(self) -> pa.DataType:
        """The type of a bound."""
        return pa.binary() if self.known is None else pa.int64()

    @property
    def carrier(self) -> pa.DataType:
        """The type of a union of intervals."""
        return pa.list_(pa.struct([("start", self.type), ("stop", self.type)]))

    def write(self, instants: Sequence[Any], places: Array) -> pa.Array:
        """Return bounds in the form for another pass, from their positions as `Intervals` has
        them.
        """
        if self.known is not None:
            return pa.array(places, pa.int64())
        written = pa.array([None, *map(pickled, instants), None], pa.binary())
        return written.take(pa.array(places))

    def of(self, values: Iterable[Times], travelled: Iterable[pa.Array]) -> Sequence[Any]:
        """Return all instants of a pass, ascending: from values, and from columns of other
        passes.
        """
        if self.known is not None:
            return self.known
        bounds = [column for unions in travelled for column in unions.flatten().flatten()]
        written = (text for column in bounds for text in column.unique().drop_null().to_pylist())
        return _ascending(chain(_ends(values), map(unpickled, written)))

    def read(self, instants: Sequence[Any], bounds: pa.Array, unbounded: int) -> Array:
        """Return the positions of bounds from another pass; `unbounded` for none."""
        places: Array
        if self.known is not None:
            places = bounds.to_numpy(zero_copy_only=False)
            return places
        there = bounds.dictionary_encode()
        numbers = {instant: number for number, instant in enumerate(instants, start=1)}
        written = there.dictionary.to_pylist()
        ranks = np.array([*(numbers[unpickled(text)] for text in written), unbounded])
        places = ranks[there.indices.fill_null(len(written)).to_numpy(zero_copy_only=False)]
        return places


class IntervalColumns(Columns[Intervals]):
    """The operations of validity.

    Parameters
    ----------
    sources
        The sources of tokens.
    travelled
        Columns of annotations from another pass.
    shared
        The transport of bounds.

    Raises
    ------
    ValuationError
        Instants have no order.
    """

    def __init__(
        self,
        semiring: Semiring[Any],
        sources: Mapping[Hashable, ValuedScan],
        travelled: Mapping[Hashable, pa.Array] | None = None,
        shared: Instants | None = None,
    ) -> None:
        self._semiring = semiring
        self._travelled = travelled or {}
        self._shared = shared or Instants()
        self._given: dict[Hashable, GivenValues] = {}
        for name, source in sources.items():
            scan = source.scan()
            places = source.valuation.places(scan.columns, scan.length, scan.absent)
            self._given[name] = GivenValues(*places)
        values = (value for given in self._given.values() for value in given.values)
        self._instants = self._shared.of(values, self._travelled.values())

    def tokens(self, source: Hashable) -> Intervals:
        given = self._given[source]
        return Intervals.of(self._instants, given.values).take(given.places)

    def repeat(self, counts: Array) -> Intervals:
        return Intervals.constant(self._instants, counts > 0)

    def product(self, factors: Sequence[Intervals], length: int) -> Intervals:
        if len(factors) < 2:
            return factors[0] if factors else self.ones(length)
        return swept(factors, lambda inside: np.logical_and.reduce(inside > 0))

    def monus(self, a: Intervals, b: Intervals) -> Intervals:
        return swept([a, b], lambda inside: (inside[0] > 0) & (inside[1] == 0))

    def delta(self, values: Intervals) -> Intervals:
        return values

    def to_arrow(self, values: Intervals) -> pa.Array:
        return intervals(values)

    def sent(self, values: Intervals) -> pa.Array:
        pairs = [
            self._shared.write(values.instants, ends) for ends in (values.starts, values.stops)
        ]
        return lists_of(values.offsets, pa.StructArray.from_arrays(pairs, ["start", "stop"]))

    def received(self, name: Hashable) -> Intervals:
        offsets, rows = list_layout(self._travelled[name])
        starts, stops = (
            self._shared.read(self._instants, ends, unbounded)
            for ends, unbounded in zip(rows.flatten(), (0, len(self._instants) + 1), strict=True)
        )
        return Intervals(self._instants, starts, stops, offsets)

    @staticmethod
    def shared(
        semiring: Semiring[Any],
        valuations: Sequence[Valuation[Times]],
        keys: Mapping[str, Sequence[pa.DataType]] | None,
    ) -> Instants:
        """Return the transport of bounds, which all passes share."""
        given = [valuation for valuation in valuations if not valuation.constant_one]
        if any(valuation.values is None for valuation in given):
            return Instants()
        values = (value for valuation in given for value in valuation.values or ())
        return Instants(_ascending(_ends(values)))

    @staticmethod
    def carrier(shared: Instants) -> pa.DataType:
        """The type in which annotations travel."""
        return shared.carrier


def _ends(values: Iterable[Times]) -> Iterable[Any]:
    """Yield the instants that bound some intervals."""
    return (end for value in values for interval in value for end in interval if end is not None)


def _ascending(instants: Iterable[Any]) -> Sequence[Any]:
    """Return the distinct instants, ascending."""
    distinct = set(instants)
    try:
        return sorted(distinct)
    except TypeError as error:
        kinds = sorted({type(instant).__name__ for instant in distinct})
        raise ValuationError(
            f"Instants of {' and '.join(kinds)} have no order in common: give all relations times "
            "of one type."
        ) from error
