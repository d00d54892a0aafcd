"""Hashes of identifiers, the same in every process, and shards by hash."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from semiring.base import Array

_PRIME = 0x9E3779B97F4A7C15
_BLOCK = 1 << 12
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def hashed(keys: pa.Array) -> Array:
    """Return a 64-bit hash of every text: a mixed polynomial over its bytes.

    O(bytes) time in numpy, in blocks of keys whose intermediate values stay in the cache.
    """
    keys = pa.concat_arrays([keys.cast(pa.large_string())])
    offsets = np.frombuffer(keys.buffers()[1], dtype=np.int64)[: len(keys) + 1]
    lengths = np.diff(offsets)
    values = np.zeros(len(keys), dtype=np.uint64)
    if len(keys) and offsets[-1] > offsets[0]:
        data = np.frombuffer(keys.buffers()[2], dtype=np.uint8)
        powers = np.cumprod(np.full(int(lengths.max()), _PRIME, dtype=np.uint64))
        for start in range(0, len(keys), _BLOCK):
            block = offsets[start : start + _BLOCK + 1]
            block_bytes = data[block[0] : block[-1]].astype(np.uint64)
            values[start : start + _BLOCK] = _polynomials(block_bytes, block - block[0], powers)
    return mixed(values ^ lengths.astype(np.uint64))


def _polynomials(data: Array, offsets: Array, powers: Array) -> Array:
    """Return the value of every text's polynomial, modulo 2^64."""
    starts, lengths = offsets[:-1], np.diff(offsets)
    values = np.zeros(len(starts), dtype=np.uint64)
    if len(data):
        terms = powers[np.arange(len(data)) - np.repeat(starts, lengths)]
        terms *= data + np.uint64(1)
        filled = lengths > 0
        values[filled] = np.add.reduceat(terms, starts[filled])
    return values


def mixed(values: Array) -> Array:
    """Return 64-bit integers scrambled by a bijection (the finaliser of SplitMix64)."""
    for shift, factor in zip((30, 27), _MIX, strict=True):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    scrambled: Array = values ^ (values >> np.uint64(31))
    return scrambled


def shard_of(keys: pa.Array, count: int) -> Array:
    """Return the shard of each key among `count` shards, as int64."""
    if count == 1:
        return np.zeros(len(keys), dtype=np.int64)
    shard: Array = (hashed(keys) % np.uint64(count)).astype(np.int64)
    return shard
