"""Sets of integers in few bits: their gaps in Golomb-Rice code.

Of each gap the low bits are written as they are, and the rest in unary. That is about half a bit
more than what a random set of so many integers takes at least.

References
----------
Rice, Plaunt, *Adaptive Variable-Length Coding for Efficient Compression of Spacecraft Television
Data*, IEEE Transactions on Communication Technology 19(6), 1971; for graphs, Boldi and Vigna, *The
WebGraph Framework I*, WWW 2004.
"""

from __future__ import annotations

import struct

import numpy as np

from graphquery.federation.errors import MessageError
from semiring.base import Array

_HEAD = struct.Struct("<QQB")
LARGEST = 1 << 62
"""Integers are below this."""


def encoded(numbers: Array) -> bytes:
    """Integers, ascending and not negative, as bytes.

    Notes
    -----
    O(n) time, and as many bytes of memory as there are bits.
    """
    gaps = np.diff(numbers, prepend=0)
    width = _width(gaps)
    quotients = gaps >> width
    unary = np.zeros(int(quotients.sum()) + len(gaps), dtype=np.bool_)
    unary[np.cumsum(quotients + 1) - 1] = True
    places = np.arange(width, dtype=np.int64)
    low = ((gaps[:, None] >> places) & 1).astype(np.bool_)
    head = _HEAD.pack(len(gaps), len(unary), width)
    return head + np.packbits(low.ravel()).tobytes() + np.packbits(unary).tobytes()


def decoded(data: bytes) -> Array:
    """The inverse of `encoded`: int64.

    Raises
    ------
    MessageError
        Bytes that are not what `encoded` writes.
    """
    if len(data) < _HEAD.size:
        raise MessageError("A set of integers is cut off.")
    count, length, width = _HEAD.unpack_from(data)
    middle = _HEAD.size + (count * width + 7) // 8
    if width > 62 or count > length or len(data) != middle + (length + 7) // 8:
        raise MessageError("A set of integers is not as long as it says.")
    bits = np.unpackbits(np.frombuffer(data, np.uint8, offset=middle), count=length)
    ends = np.flatnonzero(bits)
    if len(ends) != count or (count and int(ends[-1]) != length - 1):
        raise MessageError("A set of integers has not as many as it says.")
    packed = np.frombuffer(data, np.uint8, middle - _HEAD.size, _HEAD.size)
    low = np.unpackbits(packed, count=count * width).reshape(count, width)
    quotients = np.diff(ends, prepend=-1) - 1
    gaps = np.zeros(count, dtype=np.int64)
    for place in range(width):
        gaps |= low[:, place].astype(np.int64) << place
    if float((quotients.astype(np.float64) * 2.0**width + gaps).sum()) >= LARGEST:
        raise MessageError("A set of integers has one that is too large.")
    numbers: Array = np.cumsum((quotients << width) | gaps)
    return numbers


def _width(gaps: Array) -> int:
    """How many low bits of gaps make their code the shortest."""
    if not len(gaps):
        return 0
    about = int(np.log2(max(1.0, float(gaps.mean()))))
    tried = range(max(0, about - 3), about + 2)
    return min(tried, key=lambda width: len(gaps) * width + int((gaps >> width).sum()))
