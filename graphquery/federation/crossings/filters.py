"""Split-block Bloom filters, many at once, bit for bit as Parquet has them.

A filter is a row of bytes: `blocks` blocks of 32 bytes, blocks being a power of two. A hash sets
one bit in each of the eight words of one block.

References
----------
Apache Parquet format, *Parquet Bloom Filter*; Putze, Sanders, Singler, *Cache-, Hash- and
Space-Efficient Bloom Filters*, WEA 2007.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from graphquery.errors import FederationError
from graphquery.federation.crossings.hashing import Hashes

BLOCK_BYTES = 32
_BLOCK_BITS = 8 * BLOCK_BYTES
_WORDS = np.arange(8, dtype=np.int64) * 32
_ONES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1)
_SALTS = np.array(
    [
        0x47B6137B,
        0x44974D91,
        0x8824AD5B,
        0xA2B7289D,
        0x705495C7,
        0x2DF1424B,
        0x9EFC4947,
        0x5C6BFB31,
    ],
    dtype=np.uint32,
)


def check_blocks(blocks: int) -> int:
    """Return the number of blocks of a filter, after checking that filters can have it.

    Raises
    ------
    FederationError
        Not a power of two.
    """
    if blocks < 1 or blocks & (blocks - 1):
        raise FederationError(f"A sketch has a power of two of blocks, not {blocks}.")
    return blocks


def bit_positions(hashes: Hashes, blocks: int) -> npt.NDArray[np.int64]:
    """Return the bits that hashes set: int64 of shape (hashes, 8), within a filter."""
    block = (hashes >> np.uint64(32)) * np.uint64(blocks) >> np.uint64(32)
    low = (hashes & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    bits = (low[:, None] * _SALTS) >> np.uint32(27)
    return block.astype(np.int64)[:, None] * _BLOCK_BITS + _WORDS + bits


def filters_of(owners: npt.NDArray[Any], hashes: Hashes, count: int, blocks: int) -> Any:
    """Return the filters of sets of hashes.

    Parameters
    ----------
    owners
        Integers below `count`: the set that each hash is of.

    Returns
    -------
    numpy.ndarray
        uint8 of shape (count, 32 · blocks).
    """
    size = blocks * _BLOCK_BITS
    bits = np.zeros(count * size, dtype=np.bool_)
    places = owners.astype(np.int64)[:, None] * size + bit_positions(hashes, blocks)
    bits[places.ravel()] = True
    packed: npt.NDArray[np.uint8] = np.packbits(bits, bitorder="little")
    return packed.reshape(count, blocks * BLOCK_BYTES)


def contained(filters: npt.NDArray[np.uint8], hashes: Hashes) -> npt.NDArray[np.bool_]:
    """Return a Boolean array of shape (filters, hashes): whether a filter may contain a hash."""
    places = bit_positions(hashes, filters.shape[1] // BLOCK_BYTES)
    bits = (filters[:, places // 8] >> (places % 8).astype(np.uint8)) & np.uint8(1)
    every: Any = bits.all(axis=2)
    result: npt.NDArray[np.bool_] = every
    return result


def fill(filters: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return the share of set bits of each filter."""
    counts = _ONES[filters].sum(axis=1, dtype=np.int64)
    share: npt.NDArray[np.float64] = counts / (8.0 * max(1, filters.shape[1]))
    return share


def resized(filters: npt.NDArray[np.uint8], blocks: int) -> npt.NDArray[np.uint8]:
    """Return filters of `blocks` blocks that contain all that these filters contain.

    Fewer blocks are the unions of neighbouring ones, more are repetitions.
    """
    count, size = filters.shape
    before = size // BLOCK_BYTES
    shaped = filters.reshape(count, before, BLOCK_BYTES)
    if blocks < before:
        folded = shaped.reshape(count, blocks, before // blocks, BLOCK_BYTES)
        shaped = np.bitwise_or.reduce(folded, axis=2)
    elif blocks > before:
        shaped = np.repeat(shaped, blocks // before, axis=1)
    return shaped.reshape(count, blocks * BLOCK_BYTES)
