"""Segments of rows, as CSR offsets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Self

import numpy as np
import pyarrow as pa

from semiring.base import Array


def ascending(values: Array) -> Array:
    """Return the distinct integers of an array, sorted.

    numpy.unique hashes, which takes ten times as long if they are nearly sorted, forty times for
    millions.
    """
    if bool((values[1:] > values[:-1]).all()):
        return values
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    distinct: Array = ordered[first]
    return distinct


def union(*parts: Array) -> Array:
    """Return the distinct integers of some arrays, ascending."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return np.zeros(0, dtype=np.int64)
    return ascending(filled[0] if len(filled) == 1 else np.concatenate(filled))


def common(values: Array, other: Array) -> Array:
    """Return the integers that are in both of two arrays without duplicates, ascending."""
    both: Array = np.intersect1d(values, other, assume_unique=True)
    return both


def outside(values: Array, other: Array) -> Array:
    """Return the integers of an array that are not in `other`; neither has duplicates."""
    return values[~np.isin(values, other, assume_unique=True)]


def mask_of(positions: Array | Sequence[int], length: int) -> Array:
    """Return a mask that is true at some positions, or where another mask is."""
    mask = np.zeros(length, dtype=np.bool_)
    mask[positions] = True
    return mask


def index_of(numbers: Array | Sequence[int], length: int) -> Array:
    """Return by number, below a length, its index in an array without duplicates; -1 for others."""
    index = np.full(length, -1, dtype=np.int64)
    index[numbers] = np.arange(len(numbers))
    return index


def others(count: int, numbers: Array) -> Array:
    """Return the numbers below a count that are not in an array, ascending."""
    return np.flatnonzero(~mask_of(numbers, count))


def renumbered(values: Array, count: int) -> tuple[Array, Array]:
    """Return the distinct numbers, ascending, and each number's index among them.

    The numbers are below `count`, the length of a table.
    """
    there = mask_of(values, count)
    places: Array = there.cumsum() - 1
    return np.flatnonzero(there), places[values]


def stable_order(values: Array) -> Array:
    """Return the indices that sort integers stably."""
    if bool((values[1:] >= values[:-1]).all()):
        return np.arange(len(values))
    order: Array = np.argsort(values, kind="stable")
    return order


def bounds(sizes: Array) -> Array:
    """Return the offsets, int64, of consecutive segments of some sizes."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    sizes.cumsum(out=offsets[1:])
    return offsets


def owners_of(offsets: Array) -> Array:
    """Return the segment of every row."""
    owners: Array = np.arange(len(offsets) - 1).repeat(offsets[1:] - offsets[:-1])
    return owners


def places_of(offsets: Array) -> Array:
    """Return the position of every row in its segment."""
    places: Array = np.arange(offsets[-1]) - offsets[owners_of(offsets)]
    return places


def places_in(offsets: Array, segments: Array) -> tuple[Array, Array]:
    """Return the rows of some segments, one segment after the other, and their own offsets."""
    starts = offsets[segments]
    sizes = offsets[segments + 1] - starts
    own_offsets = bounds(sizes)
    rows: Array = np.arange(own_offsets[-1]) + (starts - own_offsets[:-1]).repeat(sizes)
    return rows, own_offsets


class Segmented:
    """The common base of dataclasses of arrays whose elements are segments of rows, as CSR.

    Attributes
    ----------
    by_row, by_segment
        The names of the arrays with an element for each row, and for each segment; None stands for
        an array that is not needed.
    """

    __slots__ = ()
    by_row: ClassVar[tuple[str, ...]]
    by_segment: ClassVar[tuple[str, ...]] = ()
    offsets: Array

    def __len__(self) -> int:
        """The number of segments."""
        return len(self.offsets) - 1

    @property
    def owners(self) -> Array:
        """The segment of every row."""
        return owners_of(self.offsets)

    def take(self, places: Array) -> Self:
        """Return some of the segments."""
        rows, offsets = places_in(self.offsets, places)
        arrays = {**self._taken(self.by_segment, places), **self._taken(self.by_row, rows)}
        return replace(self, offsets=offsets, **arrays)  # type: ignore[type-var]

    def rows(self, chosen: Array) -> Self:
        """Return chosen rows, with the segments of all rows."""
        return replace(self, **self._taken(self.by_row, chosen))  # type: ignore[type-var]

    def _taken(self, names: Sequence[str], chosen: Array) -> dict[str, Array]:
        arrays = {name: getattr(self, name) for name in names}
        return {name: array[chosen] for name, array in arrays.items() if array is not None}

    def concatenated(self, others: Sequence[Self]) -> Self:
        """Return the segments of this and of the other parts, one after the other."""
        parts = (self, *others)
        arrays = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in (*self.by_row, *self.by_segment)
        }
        offsets = bounds(np.concatenate([np.diff(part.offsets) for part in parts]))
        return replace(self, offsets=offsets, **arrays)  # type: ignore[type-var]


def expand(low: Array, high: Array) -> tuple[Array, Array]:
    """Return all positions of ranges ``[low, high)``, one range after the other.

    Returns
    -------
    positions, owners
        `owners` has the index of the range of each position.
    """
    offsets = bounds(np.maximum(high - low, 0))
    owners = owners_of(offsets)
    return np.arange(offsets[-1]) + (low - offsets[:-1])[owners], owners


def list_layout(array: pa.Array) -> tuple[Array, pa.Array]:
    """Return the CSR offsets and the members of a list array, resolving NULL lists and slices."""
    lengths = array.value_lengths()
    if lengths.null_count:
        lengths = lengths.fill_null(0)
    offsets = np.zeros(len(array) + 1, dtype=np.int64)
    np.cumsum(lengths.to_numpy(zero_copy_only=False), out=offsets[1:])
    return offsets, array.flatten()


def lists_of(offsets: Array, members: pa.Array, null: Array | None = None) -> pa.Array:
    """Return a list array from CSR offsets and members; NULL where `null` is true."""
    mask = None if null is None else pa.array(null)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), members, mask=mask)


def entries_of(maps: pa.Array) -> pa.Array:
    """Return the entries of maps: lists of structs of key and value."""
    kind = pa.struct([maps.type.key_field, maps.type.item_field])
    return maps.cast(pa.list_(kind))


def maps_of(offsets: Array, keys: pa.Array, items: pa.Array, null: Array) -> pa.Array:
    """Return a map array from CSR offsets, keys and values; NULL where `null` is true."""
    mask = np.append(null, False)
    return pa.MapArray.from_arrays(pa.array(offsets.astype(np.int32), mask=mask), keys, items)
