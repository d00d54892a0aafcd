"""Segments of rows, as CSR offsets."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from semiring.base import Array


def bounds(sizes: Array) -> Array:
    """The offsets, int64, of consecutive segments of some sizes."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def owners_of(offsets: Array) -> Array:
    """The segment of every row."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def places_in(offsets: Array, segments: Array) -> tuple[Array, Array]:
    """The rows of some segments, one segment after the other, and their own offsets."""
    own_offsets = bounds(np.diff(offsets)[segments])
    owners = owners_of(own_offsets)
    rows: Array = offsets[segments][owners] + np.arange(len(owners)) - own_offsets[owners]
    return rows, own_offsets


def list_layout(array: pa.Array) -> tuple[Array, pa.Array]:
    """The CSR offsets and the members of a list array; NULL lists and slices accounted for."""
    lengths = array.value_lengths()
    if lengths.null_count:
        lengths = lengths.fill_null(0)
    offsets = np.zeros(len(array) + 1, dtype=np.int64)
    np.cumsum(lengths.to_numpy(zero_copy_only=False), out=offsets[1:])
    return offsets, array.flatten()


def lists_of(offsets: Array, members: pa.Array, null: Array | None = None) -> pa.Array:
    """A list array from CSR offsets and members; NULL where a Boolean array says so."""
    mask = None if null is None else pa.array(null)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), members, mask=mask)
