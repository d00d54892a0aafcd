"""Integers that are small for the most part, in few bits: Golomb-Rice codes.

The low bits are written as they are, and the rest in unary. Of gaps in a random set that is about
half a bit more than they take at least.

References
----------
Rice, Plaunt, *Adaptive Variable-Length Coding for Efficient Compression of Spacecraft Television
Data*, IEEE Transactions on Communication Technology 19(6), 1971; for graphs, Boldi and Vigna, *The
WebGraph Framework I*, WWW 2004.
"""

from __future__ import annotations

import struct

import numpy as np

from graphquery.federation.errors import WireError
from semiring.base import Array

_HEAD = struct.Struct("<IB")
LARGEST = 1 << 62
"""Sums of integers are below this."""


def encoded(gaps: Array) -> bytes:
    """Integers that are not negative as bytes; how many there are is not among them.

    Raises
    ------
    OverflowError
        More bits than 32 bits can count.

    Notes
    -----
    O(n) time, and as many bytes of memory as there are bits.
    """
    width = _width(gaps)
    quotients = gaps >> width
    unary = np.zeros(int(quotients.sum()) + len(gaps), dtype=np.bool_)
    unary[np.cumsum(quotients + 1) - 1] = True
    if len(unary) >= 1 << 32:
        raise OverflowError("too many integers for one code")
    low = ((gaps[:, None] >> np.arange(width, dtype=np.int64)) & 1).astype(np.bool_)
    head = _HEAD.pack(len(unary), width)
    return head + np.packbits(low.ravel()).tobytes() + np.packbits(unary).tobytes()


def decoded(data: bytes, start: int, count: int) -> tuple[Array, int]:
    """The inverse of `encoded`: int64 of some length, and where they end.

    Raises
    ------
    WireError
        Bytes that are not what `encoded` writes.
    """
    first = start + _HEAD.size
    if len(data) < first:
        raise WireError("A sequence of integers is cut off.")
    length, width = _HEAD.unpack_from(data, start)
    middle = first + (count * width + 7) // 8
    end = middle + (length + 7) // 8
    if width > 62 or count > length or len(data) < end:
        raise WireError("A sequence of integers is not as long as it says.")
    bits = np.unpackbits(np.frombuffer(data, np.uint8, end - middle, middle), count=length)
    ends = np.flatnonzero(bits)
    if len(ends) != count or (count and int(ends[-1]) != length - 1):
        raise WireError("A sequence of integers has not as many as it says.")
    packed = np.frombuffer(data, np.uint8, middle - first, first)
    low = np.unpackbits(packed, count=count * width).reshape(count, width)
    quotients = np.diff(ends, prepend=-1) - 1
    rest = np.zeros(count, dtype=np.int64)
    for place in range(width):
        rest |= low[:, place].astype(np.int64) << place
    if float((quotients.astype(np.float64) * 2.0**width + rest).sum()) >= LARGEST:
        raise WireError("A sequence of integers has one that is too large.")
    gaps: Array = (quotients << width) | rest
    return gaps, end


def _width(gaps: Array) -> int:
    """How many low bits of integers make their code the shortest."""
    if not len(gaps):
        return 0
    about = int(np.log2(max(1.0, float(gaps.mean()))))
    tried = range(max(0, about - 3), about + 2)
    return min(tried, key=lambda width: len(gaps) * width + int((gaps >> width).sum()))
