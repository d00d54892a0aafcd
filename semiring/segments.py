"""Segments of rows, as CSR offsets."""

from __future__ import annotations

import numpy as np

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
    found = bounds(np.diff(offsets)[segments])
    owners = owners_of(found)
    rows: Array = offsets[segments][owners] + np.arange(len(owners)) - found[owners]
    return rows, found
