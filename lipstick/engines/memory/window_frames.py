"""Rows in the partitions and order of a window: their places, and frames as ranges of places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.index import SortedIndex
from lipstick.engines.memory.keys import KeyTable, distinct
from lipstick.engines.memory.order import Key, order
from rewriter.interpret import Bounds
from semiring.arrays.ranks import ranked
from semiring.arrays.segments import bounds, expand
from semiring.base import Array


@dataclass(frozen=True, slots=True)
class FrameRanges:
    """Of every place a range of places, from ``start`` up to ``stop``; never negative."""

    start: Array
    stop: Array

    @property
    def sizes(self) -> Array:
        """The number of places in each range."""
        return self.stop - self.start

    def distinct(self) -> tuple[FrameRanges, Array]:
        """The distinct ranges, and the number of each row's range among them."""
        pairs = (self.start << 32) | self.stop
        if bool((pairs[1:] >= pairs[:-1]).all()):
            first = np.diff(pairs, prepend=-1) > 0
            return FrameRanges(self.start[first], self.stop[first]), np.cumsum(first) - 1
        _, index, number = np.unique(pairs, return_index=True, return_inverse=True)
        return FrameRanges(self.start[index], self.stop[index]), number

    def covered(self) -> Array:
        """The places in any of the ranges, sorted."""
        begun = np.zeros(int(self.stop.max(initial=0)) + 1, dtype=np.int64)
        np.add.at(begun, self.start, 1)
        np.add.at(begun, self.stop, -1)
        return np.flatnonzero(np.cumsum(begun) > 0)

    def of(self, places: Array) -> FrameRanges:
        """The ranges of some places."""
        return FrameRanges(self.start[places], self.stop[places])

    def expanded(self) -> tuple[Array, Array]:
        """All places of all ranges, one range after the other, and their CSR offsets."""
        offsets = bounds(self.sizes)
        shift = np.repeat(self.start - offsets[:-1], self.sizes)
        return np.arange(offsets[-1]) + shift, offsets


class Placed:
    """Rows sorted by partition, then by the order of a window.

    Attributes
    ----------
    rows
        The row at every place.
    place
        The place of every row.
    start, stop
        The range of places of every place's partition.
    """

    def __init__(self, partition: Sequence[pa.Array], keys: Sequence[Key], length: int) -> None:
        codes, _ = distinct(partition, length)
        self._keys = keys
        self.rows = order([Key(pa.array(codes)), *keys], length)
        self.place = np.empty(length, dtype=np.int64)
        self.place[self.rows] = np.arange(length)
        partitions = codes[self.rows]
        self._first = _changes([partitions])
        self.start, self.stop = _runs(self._first)

    def peers(self) -> tuple[Array, Array, Array]:
        """Return the places that start a run of peers, as a Boolean array, and each place's run."""
        columns = []
        for key in self._keys:
            null = key.values.is_null().to_numpy(zero_copy_only=False)
            ranks = np.where(null, 0, ranked(key.values))
            columns += [null[self.rows], ranks[self.rows]]
        first = self._first | _changes(columns) if columns else self._first
        return (first, *_runs(first))

    def ranges(self, bounds: Bounds) -> FrameRanges | None:
        """The frame of every place; None for distances of values that only Spark knows."""
        at = np.arange(len(self.rows))
        if bounds.rows:
            start = self.start if bounds.start is None else at + bounds.start
            stop = self.stop if bounds.end is None else at + bounds.end + 1
        elif bounds.start in (None, 0) and bounds.end in (None, 0):
            _, first, last = self.peers()
            start = self.start if bounds.start is None else first
            stop = self.stop if bounds.end is None else last
        else:
            return self._by_value(bounds)
        start = np.clip(start, self.start, self.stop)
        return FrameRanges(start, np.maximum(np.clip(stop, self.start, self.stop), start))

    def _by_value(self, bounds: Bounds) -> FrameRanges | None:
        """Frames by the distance of the values of one integer key."""
        (key,) = self._keys
        if not pa.types.is_signed_integer(key.values.type):
            return None
        if not len(self.rows):
            return FrameRanges(self.start, self.stop)
        _, first, last = self.peers()
        null = key.values.is_null().to_numpy(zero_copy_only=False)[self.rows]
        ranks = ranked(key.values)[self.rows]
        values = np.where(null, 0, -ranks if key.descending else ranks)
        reach = max(abs(bounds.start or 0), abs(bounds.end or 0))
        width = int(values.max()) - int(values.min()) + 2 * reach + 2
        partitions = np.cumsum(self._first) - 1
        if width * (int(partitions[-1]) + 1) >= 1 << 62:
            return None
        known = np.flatnonzero(~null)
        lines = partitions * width + (values - int(values.min())) + reach
        among = lines[known]
        start, stop = self.start, self.stop
        if bounds.start is not None:
            index = np.searchsorted(among, lines + bounds.start, side="left")
            start = np.where(null, first, _at(known, index, len(self.rows)))
        if bounds.end is not None:
            index = np.searchsorted(among, lines + bounds.end, side="right")
            stop = np.where(null, last, _after(known, index))
        start = np.clip(start, self.start, self.stop)
        return FrameRanges(start, np.maximum(np.clip(stop, self.start, self.stop), start))


class WindowPartitions:
    """The partitions of a window, by number.

    Attributes
    ----------
    of_rows
        The partition of each position; -1 for a row that is not there without deletion.
    index
        Positions by partition.
    row_count, count
        The numbers of rows that are there without deletion, and of partitions.
    """

    def __init__(self, columns: list[pa.Array], rows: Array, count: int) -> None:
        codes, first = distinct(columns, len(rows))
        self.row_count, self.count = len(rows), len(first)
        chosen = pa.array(first)
        self._table = KeyTable([column.take(chosen) for column in columns], len(first))
        self.of_rows = np.full(count, -1, dtype=np.int64)
        self.of_rows[rows] = codes
        self.index = SortedIndex(self.of_rows)

    def find(self, columns: list[pa.Array], length: int) -> Array:
        """The partitions of some rows; -1: none of these."""
        return self._table.find(columns, length)


class Moves(NamedTuple):
    """The rows whose ranks moves of rows may change, in segments of one scenario and partition.

    Attributes
    ----------
    scenarios, rows, segments
        Per row that is there at first and stands between the old and new places of rows that move:
        the scenario, the row, and the number of its segment.
    of_new
        The segment of each row that moves to a place.
    before
        By segment the number of rows of the partition before it, or of its runs of peers.
    """

    scenarios: Array
    rows: Array
    segments: Array
    of_new: Array
    before: Array


def moves(
    placement: Placed, count: int, old: Array, of_old: Array, of_new: Array, dense: bool
) -> Moves:
    """Return the rows whose places among others may change where some of them move.

    Rows before the first of their places keep their ranks, and rows after the last one, where as
    many rows arrive as leave. Dense ranks count runs of peers: rows after the last place keep them
    where one row moves that is without peers in both of its places.

    Parameters
    ----------
    placement
        The rows that are there at first, then the rows that move, as they are in their scenarios.
    count
        The number of the former.
    old, of_old
        The rows among the former that move, and their scenarios.
    of_new
        The scenario of every row among the latter.
    dense
        Whether runs of peers are counted.
    """
    at_first = placement.rows < count
    before = bounds(at_first.astype(np.int64))
    _, first, last = placement.peers()
    at = placement.place[np.concatenate([old, count + np.arange(len(of_new))])]
    keys = (np.concatenate([of_old, of_new]) << 32) | placement.start[at]
    distinct_keys, number = np.unique(keys, return_inverse=True)
    low = np.full(len(distinct_keys), count, dtype=np.int64)
    high = np.zeros_like(low)
    np.minimum.at(low, number, before[first[at]])
    np.maximum.at(high, number, before[last[at]])
    size = len(distinct_keys)
    leaving, arriving = (np.bincount(part, minlength=size) for part in np.split(number, [len(old)]))
    alike, counted = leaving == arriving, np.arange(count + 1)
    if dense:
        others = before[last[at]] - before[first[at]]
        others[: len(old)] -= 1
        alike &= (leaving == 1) & (np.bincount(number, others, minlength=size) == 0)
        counted = bounds(_changes([first[at_first]]).astype(np.int64))
    starts = distinct_keys & 0xFFFFFFFF
    high = np.where(alike, high, before[placement.stop[starts]])
    numbers, segments = expand(low, high)
    return Moves(
        distinct_keys[segments] >> 32,
        placement.rows[at_first][numbers],
        segments,
        number[len(old) :],
        counted[low] - counted[before[starts]],
    )


def _at(known: Array, index: Array, end: int) -> Array:
    """The places of some of the known, that after the last being the end."""
    return np.append(known, end)[index]


def _after(known: Array, index: Array) -> Array:
    """The places after those before some of the known."""
    after: Array = np.append(known, -1)[index - 1] + 1
    return after


def _changes(columns: Sequence[Array]) -> Array:
    """Return a Boolean array: the first row, and each row that differs from the row before it."""
    length = len(columns[0])
    first = np.zeros(length, dtype=np.bool_)
    first[:1] = True
    for column in columns:
        first[1:] |= column[1:] != column[:-1]
    return first


def _runs(first: Array) -> tuple[Array, Array]:
    """Of every place where its run starts and stops, given where runs begin."""
    begins = np.flatnonzero(first)
    run = np.cumsum(first) - 1
    ends = np.append(begins[1:], len(first))
    return begins[run], ends[run]
