"""Sums of floats by group that are added up again where members are lost, and only there.

Subtracting from a floating sum is not the sum of the rest. The members of a group are summed in
chunks instead: losing some adds up their chunks anew, then the chunks of their groups.
"""

from __future__ import annotations

import numpy as np

from lipstick.engines.memory.index import argsort
from semiring.arrays.exact import reduce_segments
from semiring.arrays.segments import ascending, bounds, expand
from semiring.base import Array

_CHUNK = 256

_LARGE = 1 << 16
"""A group of so many members is added up whole where it loses more than one in 1024."""


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
        self._rank: Array | None = None
        self._values = values
        inside = codes
        if len(codes) and (codes[0] < 0 or bool((codes[1:] < codes[:-1]).any())):
            order = argsort(codes)[int((codes < 0).sum()) :]
            self._rank = np.full(len(codes), -1, dtype=np.int64)
            self._rank[order] = np.arange(len(order))
            self._values, inside = values[order], codes[order]
        lengths = np.bincount(inside, minlength=count)
        chunks = -(-lengths // _CHUNK)
        self._first = bounds(chunks)
        self._lengths = lengths
        ends = np.cumsum(lengths)
        number, owners = expand(np.zeros(count, dtype=np.int64), chunks)
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
        if len(owners) > 1 and bool((owners[1:] < owners[:-1]).any()):
            order = argsort(owners)
            owners, lost = owners[order], lost[order]
        sums = np.zeros(len(groups))
        ends = np.searchsorted(owners, np.arange(len(groups) + 1))
        heavy = np.diff(ends) > np.maximum(self._lengths[groups], _LARGE) // 1024
        for place in np.flatnonzero(heavy).tolist():
            sums[place] = self._rest(groups[place], lost[ends[place] : ends[place + 1]])
        others = ~heavy[owners]
        places = np.cumsum(~heavy) - 1
        sums[~heavy] = self._few(groups[~heavy], places[owners[others]], lost[others])
        return sums

    def _rest(self, group: int, lost: Array) -> float:
        """Return the sum of a group without many of its members: all chunks are added up anew."""
        first, stop = self._first[group], self._first[group + 1]
        start = self._starts[first]
        kept = self._values[start : self._stops[stop - 1]].copy()
        kept[self._ranks(lost) - start] = 0.0
        sums = _reduced(kept, self._starts[first:stop] - start)
        return float(_reduced(sums, np.zeros(1, dtype=np.int64))[0])

    def _ranks(self, members: Array) -> Array:
        """Return the places of members among the values by group."""
        return members if self._rank is None else self._rank[members]

    def _few(self, groups: Array, owners: Array, lost: Array) -> Array:
        """Return the sums of groups without few members: their chunks are added up anew."""
        first = self._first[groups]
        chunks, where = expand(first, self._first[groups + 1])
        partial = self._partial[chunks]
        starts = np.searchsorted(where, np.arange(len(groups)))
        # Where the chunk of each lost member stands in `partial`.
        ranks = self._ranks(lost)
        chunk = np.searchsorted(self._starts, ranks, side="right") - 1
        stands = starts[owners] + chunk - first[owners]
        touched = ascending(stands)
        if len(touched):
            places, segment = expand(self._starts[chunks[touched]], self._stops[chunks[touched]])
            kept = self._values[places]
            offsets = np.searchsorted(segment, np.arange(len(touched)))
            own_segments = np.searchsorted(touched, stands)
            kept[offsets[own_segments] + ranks - self._starts[chunk]] = 0.0
            partial[touched] = _reduced(kept, offsets)
        return _reduced(partial, starts)


def _reduced(values: Array, starts: Array) -> Array:
    return reduce_segments(np.add, values, np.append(starts, len(values)), 0.0)
