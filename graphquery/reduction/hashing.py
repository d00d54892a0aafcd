"""Hashes of identifiers, the same in every process, and what is dealt out by them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from semiring.base import Array

_PRIME = 0x9E3779B97F4A7C15
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def hashed(keys: pa.Array) -> Array:
    """A 64-bit hash of every text: a polynomial over its bytes, mixed; the same everywhere.

    O(bytes) time in numpy.
    """
    keys = pa.concat_arrays([keys.cast(pa.large_string())])
    offsets = np.frombuffer(keys.buffers()[1], dtype=np.int64)[: len(keys) + 1]
    lengths = np.diff(offsets)
    values = np.zeros(len(keys), dtype=np.uint64)
    total = int(offsets[-1] - offsets[0])
    if total:
        data = np.frombuffer(keys.buffers()[2], dtype=np.uint8)[offsets[0] : offsets[-1]]
        starts = offsets[:-1] - offsets[0]
        position = np.arange(total) - np.repeat(starts, lengths)
        powers = np.cumprod(np.full(int(lengths.max()), _PRIME, dtype=np.uint64))
        terms = (data.astype(np.uint64) + np.uint64(1)) * powers[position]
        filled = lengths > 0
        values[filled] = np.add.reduceat(terms, starts[filled])
    return mixed(values ^ lengths.astype(np.uint64))


def mixed(values: Array) -> Array:
    """Integers of 64 bits scrambled, one to one (the finaliser of SplitMix64)."""
    for shift, factor in zip((30, 27), _MIX, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    scrambled: Array = values ^ (values >> np.uint64(31))
    return scrambled


def shard_of(keys: pa.Array, count: int) -> Array:
    """Which of `count` shards each key belongs to, as int64."""
    if count == 1:
        return np.zeros(len(keys), dtype=np.int64)
    shard: Array = (hashed(keys) % np.uint64(count)).astype(np.int64)
    return shard
