"""Sketches: compact supersets of the ancestors of crossing rows.

A sketch is *exact* (up to 128 hashes of ancestor crossing rows), a Bloom *filter* of them, or
*top*, which may contain anything. Unions go up this ladder and never down, so that a sketch that
does not contain a row proves that it is not an ancestor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from graphquery.errors import WireError
from graphquery.federation.crossings import filters
from graphquery.federation.crossings.hashing import Hashes
from semiring.arrays.segments import index_of
from semiring.base import Array

EXACT, BLOOM, TOP = range(3)
LARGEST_EXACT = 128
"""Limit on the hashes of an exact sketch."""

FULLEST = 0.6
"""Limit on the share of set bits; a fuller filter is replaced by the sketch that may have
anything.
"""

BLOCKS = 64
"""Default size of a filter in blocks of 32 bytes."""

_EDGES = 1 << 14
"""Number of edges merged at a time, which bounds the memory of a union."""

SCHEMA = pa.schema([("kind", pa.uint8()), ("content", pa.large_binary())])


@dataclass(frozen=True, slots=True, eq=False)
class Sketches:
    """A column of sketches.

    Parameters
    ----------
    kinds
        uint8: `EXACT`, `BLOOM` or `TOP`.
    offsets, hashes
        Of sketch i, the hashes ``hashes[offsets[i]:offsets[i + 1]]``, ascending; none unless it
        is exact.
    places, filters
        By sketch, its row of `filters`; -1 unless it is a filter.
    blocks
        Blocks of a filter.
    """

    kinds: Array
    offsets: Array
    hashes: Hashes
    places: Array
    filters: npt.NDArray[np.uint8]
    blocks: int

    def __len__(self) -> int:
        return len(self.kinds)

    @classmethod
    def empty(cls, count: int, blocks: int = BLOCKS) -> Sketches:
        """Return sketches that contain nothing."""
        return cls.of_hashes(np.zeros(count + 1, np.int64), np.empty(0, np.uint64), blocks)

    @classmethod
    def top(cls, count: int, blocks: int = BLOCKS) -> Sketches:
        """Return sketches that may contain anything."""
        nothing = cls.empty(count, blocks)
        kinds = np.full(count, TOP, dtype=np.uint8)
        return cls(kinds, nothing.offsets, nothing.hashes, nothing.places, nothing.filters, blocks)

    @classmethod
    def of_hashes(cls, offsets: Array, hashes: Hashes, blocks: int = BLOCKS) -> Sketches:
        """Return exact sketches of segments of hashes, each ascending and at most 128 long."""
        count = len(offsets) - 1
        return cls(
            np.zeros(count, dtype=np.uint8),
            offsets,
            hashes,
            np.full(count, -1, dtype=np.int64),
            np.empty((0, filters.check_blocks(blocks) * filters.BLOCK_BYTES), dtype=np.uint8),
            blocks,
        )

    @classmethod
    def concatenated(cls, parts: Sequence[Sketches], blocks: int) -> Sketches:
        """Return the concatenation of all parts, with filters resized to `blocks` blocks."""
        resized = [filters.resized(part.filters, blocks) for part in parts]
        starts = np.cumsum([0, *(len(part) for part in resized)])
        places = [
            np.where(part.places < 0, -1, part.places + start)
            for part, start in zip(parts, starts, strict=False)
        ]
        lengths = np.concatenate([[0], *(np.diff(part.offsets) for part in parts)])
        nothing = cls.empty(0, blocks)
        return cls(
            np.concatenate([nothing.kinds, *(part.kinds for part in parts)]),
            np.cumsum(lengths, dtype=np.int64),
            np.concatenate([nothing.hashes, *(part.hashes for part in parts)]),
            np.concatenate([nothing.places, *places]),
            np.concatenate([nothing.filters, *resized]),
            blocks,
        )

    def take(self, rows: Array) -> Sketches:
        """Return the sketches of some rows, in their order."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        held = self.places[rows]
        places = np.where(held < 0, -1, np.cumsum(held >= 0) - 1)
        return Sketches(
            self.kinds[rows],
            offsets,
            self.hashes[spread(self.offsets[rows], lengths)],
            places,
            self.filters[held[held >= 0]],
            self.blocks,
        )

    def may_contain(self, hashes: Hashes) -> Array:
        """Return a Boolean array: the sketches that may contain at least one of some hashes."""
        possible: Array = self.kinds == TOP
        if len(hashes) == 0:
            return np.zeros(len(self), dtype=np.bool_)
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        possible[owners[np.isin(self.hashes, hashes)]] = True
        for start in range(0, len(hashes), LARGEST_EXACT):
            some = hashes[start : start + LARGEST_EXACT]
            for first in range(0, len(self.filters), _EDGES):
                part = self.filters[first : first + _EDGES]
                hit = np.asarray(filters.contained(part, some).any(axis=1))
                there = (self.places >= first) & (self.places < first + len(part))
                possible[there] |= hit[self.places[there] - first]
        return possible

    def to_arrow(self) -> pa.Table:
        """Return a table of columns `kind` and `content`: hashes (little-endian) or the filter."""
        sizes = np.diff(self.offsets) * 8
        sizes[self.places >= 0] = self.blocks * filters.BLOCK_BYTES
        ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        data = np.zeros(int(ends[-1]), dtype=np.uint8)
        exact = self.kinds == EXACT
        data[spread(ends[:-1][exact], sizes[exact])] = self.hashes.astype("<u8").view(np.uint8)
        held = self.places >= 0
        ordered = self.filters[self.places[held]]
        data[spread(ends[:-1][held], sizes[held])] = ordered.reshape(-1)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(data)]
        content = pa.Array.from_buffers(pa.large_binary(), len(self), buffers)
        return pa.table([pa.array(self.kinds, pa.uint8()), content], schema=SCHEMA)

    @classmethod
    def from_arrow(cls, table: pa.Table, blocks: int) -> Sketches:
        """Return the inverse of `to_arrow`.

        Raises
        ------
        WireError
            A table that holds no sketches of so many blocks.
        """
        if table.schema.names != SCHEMA.names:
            raise WireError("A table of sketches has the columns kind and content.")
        try:
            table = table.cast(SCHEMA).combine_chunks()
        except pa.ArrowException as error:
            raise WireError(f"A table of sketches cannot be read: {error}.") from error
        if table.column("kind").null_count or table.column("content").null_count:
            raise WireError("A table of sketches has NULLs.")
        kinds = table.column("kind").to_numpy()
        content = pa.concat_arrays(table.column("content").chunks or [pa.array([], SCHEMA[1].type)])
        bounds = np.frombuffer(content.buffers()[1] or b"\0" * 8, dtype=np.int64)
        bounds = bounds[content.offset : content.offset + len(content) + 1]
        bounds = bounds if len(bounds) else np.zeros(1, dtype=np.int64)
        sizes = np.diff(bounds)
        data = np.frombuffer(content.buffers()[2] or b"", dtype=np.uint8)
        held = kinds == BLOOM
        whole = filters.check_blocks(blocks) * filters.BLOCK_BYTES
        exact = kinds == EXACT
        wrong = (exact & (sizes % 8 != 0)) | (held & (sizes != whole)) | (kinds > TOP)
        if bool(wrong.any()) or bool((sizes[exact] > 8 * LARGEST_EXACT).any()):
            raise WireError(f"Sketch {int(wrong.argmax())} is none of {blocks} blocks.")
        lengths = np.where(exact, sizes // 8, 0)
        return cls(
            kinds,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            data[spread(bounds[:-1][exact], sizes[exact])].view("<u8").astype(np.uint64),
            np.where(held, np.cumsum(held) - 1, -1),
            data[spread(bounds[:-1][held], sizes[held])].reshape(-1, whole),
            blocks,
        )


def union(
    count: int, targets: Array, members: Sketches, sources: Array, own_hashes: Hashes
) -> Sketches:
    """Return the unions of sketches along edges.

    Parameters
    ----------
    count
        The number of unions.
    targets, sources
        Edge i adds sketch ``members[sources[i]]`` to union ``targets[i]``; targets ascend.
    own_hashes
        By edge, one more hash that it adds to the union; 0 for none.

    Notes
    -----
    O(edges · size of a sketch) time; memory beside the result for some thousand edges at a time.
    """
    starts = np.searchsorted(targets, np.arange(count + 1))
    parts = []
    first = 0
    while first < count:
        last = int(np.searchsorted(starts, starts[first] + _EDGES, side="right")) - 1
        last = min(max(last, first + 1), count, first + _EDGES // members.blocks)
        some = slice(int(starts[first]), int(starts[last]))
        owners = targets[some] - first
        parts.append(_union(last - first, owners, members.take(sources[some]), own_hashes[some]))
        first = last
    return Sketches.concatenated(parts, members.blocks)


def _union(count: int, owners: Array, members: Sketches, own_hashes: Hashes) -> Sketches:
    """Return the unions of a few thousand edges, each with its own member."""
    kinds = np.zeros(count, dtype=np.uint8)
    np.maximum.at(kinds, owners, members.kinds)
    expanded = np.concatenate(
        [np.repeat(owners, np.diff(members.offsets)), owners[own_hashes != 0]]
    )
    hashes = np.concatenate([members.hashes, own_hashes[own_hashes != 0]])
    order = np.lexsort((hashes, expanded))
    expanded, hashes = expanded[order], hashes[order]
    fresh = np.ones(len(hashes), dtype=np.bool_)
    fresh[1:] = (hashes[1:] != hashes[:-1]) | (expanded[1:] != expanded[:-1])
    expanded, hashes = expanded[fresh], hashes[fresh]
    lengths = np.bincount(expanded, minlength=count)
    kinds[(kinds == EXACT) & (lengths > LARGEST_EXACT)] = BLOOM
    large = np.flatnonzero(kinds == BLOOM)
    filter_of = index_of(large, count)
    chosen = filter_of[expanded] >= 0
    filters_made = filters.filters_of(
        filter_of[expanded[chosen]], hashes[chosen], len(large), members.blocks
    )
    held = members.places >= 0
    np.bitwise_or.at(
        filters_made,
        filter_of[owners[held & (filter_of[owners] >= 0)]],
        members.filters[members.places[held & (filter_of[owners] >= 0)]],
    )
    full = filters.fill(filters_made) > FULLEST
    kinds[large[full]] = TOP
    filter_of[large] = np.where(full, -1, np.cumsum(~full) - 1)
    exact = kinds[expanded] == EXACT
    lengths = np.where(kinds == EXACT, lengths, 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Sketches(kinds, offsets, hashes[exact], filter_of, filters_made[~full], members.blocks)


def spread(starts: Array, lengths: Array) -> Array:
    """Return the positions of ranges, one range after the other."""
    ends = np.cumsum(lengths)
    places: Array = np.repeat(starts - ends + lengths, lengths)
    places += np.arange(len(places), dtype=places.dtype)
    return places
