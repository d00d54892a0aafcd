"""Sums of floats by group that are added up again where members are lost, and only there.

Subtracting from a floating sum is not the sum of the rest. The members of a group are summed in
chunks instead: losing some adds up their chunks anew, then the chunks of their groups.
"""

from __future__ import annotations

import numpy as np

from lipstick.engines.memory.index import argsort, spread
from semiring.base import Array

_CHUNK = 256


class ChunkedSums:
    """The sums of a column by group.

    Parameters
    ----------
    values
        float64, one per member; 0.0 for a member that does not count.
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

    def without(self, groups: Array, owners: Array, lost: Array) -> Array:
        """The sums of some groups, each with at least one member at first, without some members.

        Parameters
        ----------
        groups
            Numbers of groups; a group may occur several times, with other members lost.
        owners, lost
            The members lost, and the place of each one's group in `groups`: by place, each once.
        """
        first = self._first[groups]
        chunks, where = spread(first, self._first[groups + 1])
        partial = self._partial[chunks]
        starts = np.searchsorted(where, np.arange(len(groups)))
        # Where the chunk of each lost member stands in `partial`.
        ranks = self._rank[lost]
        chunk = np.searchsorted(self._starts, ranks, side="right") - 1
        stands = starts[owners] + chunk - first[owners]
        touched = np.unique(stands)
        if len(touched):
            places, segment = spread(self._starts[chunks[touched]], self._stops[chunks[touched]])
            kept = self._values[places]
            offsets = np.searchsorted(segment, np.arange(len(touched)))
            own_segments = np.searchsorted(touched, stands)
            kept[offsets[own_segments] + ranks - self._starts[chunk]] = 0.0
            partial[touched] = _reduced(kept, offsets)
        return _reduced(partial, starts)


def _reduced(values: Array, starts: Array) -> Array:
    if not len(starts):
        return np.zeros(0, dtype=np.float64)
    return np.add.reduceat(values, starts)
