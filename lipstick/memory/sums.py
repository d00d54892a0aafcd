"""Sums of floats by group that are added up again where members are lost, and only there.

Subtracting from a floating sum is not the sum of the rest. The members of a group are summed in
chunks instead: losing some adds up their chunks anew, then the chunks of their groups.
"""

from __future__ import annotations

import numpy as np

from lipstick.memory.index import argsort, spread
from semiring.base import Array

_CHUNK = 256


class ChunkedSums:
    """The sums of a column by group.

    Parameters
    ----------
    values
        float64, one per member; 0.0 for those that do not count.
    codes
        The group of every member; negative: it is in none.
    count
        The number of groups.

    Losing d of n members in g groups costs O(256 d) and the chunks of the groups, n / 256 at most.
    """

    def __init__(self, values: Array, codes: Array, count: int) -> None:
        order = argsort(codes)
        order = order[int((codes < 0).sum()) :]
        self._rank = np.full(len(codes), -1, dtype=np.int64)
        self._rank[order] = np.arange(len(order))
        self._values = values[order]
        lengths = np.bincount(codes[order], minlength=count)
        chunks = -(-lengths // _CHUNK)
        self._first = np.concatenate([[0], np.cumsum(chunks)]).astype(np.int64)
        ends = np.cumsum(lengths)
        number, owners = spread(np.zeros(count, dtype=np.int64), chunks)
        self._starts = (ends - lengths)[owners] + number * _CHUNK
        self._stops = np.minimum(self._starts + _CHUNK, ends[owners])
        self._partial = _reduced(self._values, self._starts)

    def without(self, groups: Array, lost: Array) -> Array:
        """The sums of some groups, each with at least one member at first, without some members.

        Parameters
        ----------
        groups
            Sorted numbers of groups.
        lost
            Members of these groups, each once.
        """
        ranks = np.sort(self._rank[lost])
        touched = np.unique(np.searchsorted(self._starts, ranks, side="right") - 1)
        partial = self._partial.copy()
        if len(touched):
            places, owners = spread(self._starts[touched], self._stops[touched])
            kept = self._values[places]
            kept[np.searchsorted(places, ranks)] = 0.0
            offsets = np.searchsorted(owners, np.arange(len(touched)))
            partial[touched] = _reduced(kept, offsets)
        chunks, owners = spread(self._first[groups], self._first[groups + 1])
        return _reduced(partial[chunks], np.searchsorted(owners, np.arange(len(groups))))


def _reduced(values: Array, starts: Array) -> Array:
    if not len(starts):
        return np.zeros(0, dtype=np.float64)
    return np.add.reduceat(values, starts)
