"""The places in bytes that have one of many patterns, found in one pass by arrays.

Each pattern is known by a *gram*: a few of its bytes that as few other patterns as possible have. A
table of hashes rules out most places in the data; the remaining candidates are compared with their
patterns, all at once. The cost depends on the bytes, hardly on the number of patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

SHORTEST: Final = 5
"""The bytes that a pattern has at least."""

Bytes: TypeAlias = NDArray[np.uint8]
Places: TypeAlias = NDArray[np.int64]

_WORD: Final = 8
_CHUNK: Final = 1 << 18
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_FEWEST_BITS: Final = 16


class PatternSet:
    """Patterns of bytes, to be found wherever they occur.

    Parameters
    ----------
    patterns
        At least `SHORTEST` bytes each.
    """

    def __init__(self, patterns: Sequence[bytes]) -> None:
        lengths = np.array([len(pattern) for pattern in patterns], np.int64)
        numbers = np.arange(len(patterns))
        self._groups = [
            _GramGroup([patterns[n] for n in members], members, size)
            for size, members in (
                (SHORTEST, numbers[lengths < _WORD]),
                (_WORD, numbers[lengths >= _WORD]),
            )
            if len(members)
        ]

    def places(self, data: Bytes) -> tuple[Places, Places]:
        """Return the numbers of patterns that occur in the data, and the places they begin at."""
        padded = np.concatenate([data, np.zeros(_WORD, np.uint8)])
        found = [group.places(padded, len(data)) for group in self._groups]
        if not found:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        numbers, starts = (np.concatenate(each) for each in zip(*found, strict=True))
        return numbers, starts


class _GramGroup:
    """Patterns that are known by grams of one size."""

    def __init__(self, patterns: Sequence[bytes], numbers: Places, size: int) -> None:
        self._size = size
        self._mask = np.uint64((1 << 8 * size) - 1)
        self._lengths = np.array([len(pattern) for pattern in patterns], np.int64)
        grams = [
            _grams(np.frombuffer(pattern + bytes(_WORD), np.uint8)) & self._mask
            for pattern in patterns
        ]
        grams = [each[: len(p) - size + 1] for each, p in zip(grams, patterns, strict=True)]
        _, inverse, counts = np.unique(
            np.concatenate(grams), return_inverse=True, return_counts=True
        )
        rarity = np.split(counts[inverse], np.cumsum([len(each) for each in grams])[:-1])
        offsets = np.array([int(each.argmin()) for each in rarity], np.int64)
        known = np.array([each[at] for each, at in zip(grams, offsets, strict=True)], np.uint64)
        order = np.argsort(known, kind="stable")
        self._known, self._offsets = known[order], offsets[order]
        self._lengths, self._numbers = self._lengths[order], numbers[order]
        # A pattern is compared by grams that cover it; the last one may overlap the one before.
        blocks = -(-int(self._lengths.max()) // size)
        steps = np.arange(blocks, dtype=np.int64) * size
        self._block_offsets = np.minimum(steps[None, :], (self._lengths - size)[:, None])
        self._blocks = np.array(
            [grams[int(place)][self._block_offsets[row]] for row, place in enumerate(order)],
            np.uint64,
        )
        # A hundred places or more for a pattern: few candidates are none.
        self._bits = min(max(_FEWEST_BITS, len(patterns).bit_length() + 7), 24)
        self._table = np.zeros(1 << self._bits, bool)
        self._table[self._hashes(self._known)] = True

    def places(self, padded: Bytes, length: int) -> tuple[Places, Places]:
        """Return patterns and where they begin, in data of some length before its padding."""
        grams, found = _grams(padded), []
        for start in range(0, max(length - self._size + 1, 0), _CHUNK):
            part = grams[start : min(start + _CHUNK, length - self._size + 1)] & self._mask
            places = np.flatnonzero(self._table[self._hashes(part)])
            values = part[places]
            first = np.searchsorted(self._known, values, "left")
            often = np.searchsorted(self._known, values, "right") - first
            # A row for each candidate: a place, and a pattern that has the gram there.
            pattern = np.repeat(first - np.cumsum(often) + often, often) + np.arange(often.sum())
            begins = np.repeat(places + start, often) - self._offsets[pattern]
            fits = (begins >= 0) & (begins + self._lengths[pattern] <= length)
            found.append((pattern[fits], begins[fits]))
        pattern, begins = (
            (np.concatenate(each) for each in zip(*found, strict=True))
            if found
            else (np.empty(0, np.int64), np.empty(0, np.int64))
        )
        for block in range(self._blocks.shape[1]):
            at = begins + self._block_offsets[pattern, block]
            same = (grams[at] & self._mask) == self._blocks[pattern, block]
            pattern, begins = pattern[same], begins[same]
        return self._numbers[pattern], begins

    def _hashes(self, grams: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return (grams * _MULTIPLIER) >> np.uint64(64 - self._bits)


def _grams(padded: Bytes) -> NDArray[np.uint64]:
    """Return the eight bytes from each place on as numbers."""
    return np.ndarray(
        (max(len(padded) - _WORD + 1, 0),), np.dtype("<u8"), np.ascontiguousarray(padded), 0, (1,)
    )
