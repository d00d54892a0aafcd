"""Keys of the events of a stream, as arrays sorted by key value and time.

Source: Sansrimahachai, *Tracing Fine-Grained Provenance in Stream Processing Systems using A
Reverse Mapping Method*, 2012, section 3.3.1: an event is ``Event(Key(t, n, sid, d), content)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from semiring.base import Array

INFINITE = np.iinfo(np.int64).max
"""A time after all others: the stream is complete."""
NEVER = np.iinfo(np.int64).min
"""A time before all others: nothing is complete yet."""
_SPAN = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """The keys (t, n, d) of events of one stream, ascending by (code, t).

    Parameters
    ----------
    t
        Timestamps in ticks, int64; unique and increasing among the events of one code.
    n
        Sequence numbers from 1, int64, of the events of one code.
    d
        Delays in ticks, int64: the time from the trigger to this event, so ``t - d`` is the
        trigger's time.
    code
        int64: which value of the stream's key an event has; None for a stream without key.
    """

    t: Array
    n: Array
    d: Array
    code: Array | None = None

    def __len__(self) -> int:
        return len(self.t)

    @property
    def trigger(self) -> Array:
        """The times of the triggers of these events: ``t - d``."""
        return self.t - self.d

    def take(self, positions: Array) -> Keys:
        """Return the keys at positions; they must ascend, except for tables."""
        code = None if self.code is None else self.code[positions]
        return Keys(self.t[positions], self.n[positions], self.d[positions], code)

    def slice(self, start: int, stop: int) -> Keys:
        """Return the keys from a position up to another, without a copy."""
        code = None if self.code is None else self.code[start:stop]
        return Keys(self.t[start:stop], self.n[start:stop], self.d[start:stop], code)

    @staticmethod
    def empty(keyed: bool) -> Keys:
        """Return no keys."""
        none = np.zeros(0, dtype=np.int64)
        return Keys(none, none, none, none if keyed else None)


def concat_keys(parts: Sequence[Keys]) -> tuple[Keys, Array | None]:
    """Concatenate keys of one stream.

    Returns
    -------
    keys, order
        `order` has the index of each of `keys` in the concatenation; None if they are in order.
    """
    parts = [part for part in parts if len(part)] or [parts[0]]
    if len(parts) == 1:
        return parts[0], None
    keyed = parts[0].code is not None
    whole = Keys(
        np.concatenate([part.t for part in parts]),
        np.concatenate([part.n for part in parts]),
        np.concatenate([part.d for part in parts]),
        np.concatenate([part.code for part in parts if part.code is not None]) if keyed else None,
    )
    if not keyed and all(int(a.t[-1]) < int(b.t[0]) for a, b in pairwise(parts)):
        return whole, None
    order = whole_order(whole.code, whole.t)
    return whole.take(order), order


def whole_order(code: Array | None, t: Array) -> Array:
    """Return the positions of events in the order (code, t), stable."""
    if code is None:
        return np.argsort(t, kind="stable")
    return np.lexsort((t, code))


def search(
    code: Array | None, t: Array, codes: Array | None, times: Array, side: str = "left"
) -> Array:
    """Return the positions of (code, time) pairs in events sorted by (code, t).

    Parameters
    ----------
    code, t
        Of the events, as in `Keys`.
    codes, times
        The pairs to search, in any order.
    side
        ``left``: the first event that is not before; ``right``: the first that is after.

    Notes
    -----
    O(q · log n): one binary search over a number made of code and time where that fits 62 bits,
    else one for each step of the halving, over all that is looked for.
    """
    # Usually all keys are looked up, in order.
    if len(t) and np.array_equal(t, times) and _is_equal(code, codes) and _is_strict(code, t):
        return np.arange(len(t)) + (side == "right")
    if code is None or codes is None:
        return np.searchsorted(t, times, side)  # type: ignore[call-overload,no-any-return]
    if not len(t) or not len(times):
        return np.zeros(len(times), dtype=np.int64)
    low = min(int(t.min()), int(times.min()))
    width = max(int(t.max()), int(times.max())) - low + 1
    most = max(int(code[-1]), int(codes.max())) + 1
    if width * most < _SPAN:
        left = code * width + (t - low)
        right = codes * width + (times - low)
        return np.searchsorted(left, right, side)  # type: ignore[call-overload,no-any-return]
    start = np.searchsorted(code, codes, "left")
    stop = np.searchsorted(code, codes, "right")
    return _halving(t, start, stop, times, side)


def _is_equal(code: Array | None, other: Array | None) -> bool:
    if code is None or other is None:
        return code is other
    return code is other or np.array_equal(code, other)


def _is_strict(code: Array | None, t: Array) -> bool:
    """Return True if no two events of an order (code, t) have the same code and time."""
    before: Array = t[1:] > t[:-1]
    if code is not None:
        before |= code[1:] != code[:-1]
    return bool(before.all())


def _halving(t: Array, start: Array, stop: Array, times: Array, side: str) -> Array:
    """Search each time in its own range of `t`, by bisection."""
    start, stop = start.copy(), stop.copy()
    while True:
        open_ = np.flatnonzero(start < stop)
        if not len(open_):
            return start
        middle = (start[open_] + stop[open_]) // 2
        before = t[middle] < times[open_] if side == "left" else t[middle] <= times[open_]
        start[open_[before]] = middle[before] + 1
        stop[open_[~before]] = middle[~before]


def first_of_time(code: Array | None, t: Array) -> Array:
    """Return the first position of every (code, time), of keys in whole order."""
    first = np.ones(len(t), dtype=np.bool_)
    first[1:] = t[1:] != t[:-1]
    if code is not None:
        first[1:] |= code[1:] != code[:-1]
    return np.flatnonzero(first)


def distinct_keys(parts: Sequence[Keys]) -> Keys:
    """Merge keys of one stream, in whole order, without duplicates."""
    keys, _ = concat_keys(parts)
    keys = keys.take(whole_order(keys.code, keys.t))
    return keys.take(first_of_time(keys.code, keys.t))


def segment_starts(code: Array | None, count: int) -> Array:
    """Return the first position of every run of one code."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    if code is None:
        return np.zeros(1, dtype=np.int64)
    return np.flatnonzero(np.concatenate(([True], code[1:] != code[:-1])))


def first_of_code(code: Array | None, count: int) -> Array:
    """Return, for every position, the first position with the same code."""
    starts = segment_starts(code, count)
    return np.repeat(starts, np.diff(np.append(starts, count)))


def rank_in_code(code: Array | None, count: int) -> Array:
    """Return, for every position, the number of positions before it with the same code."""
    return np.arange(count) - first_of_code(code, count)


def last_of_code(code: Array | None, count: int) -> Array:
    """Return, for every position, the position after the last one with the same code."""
    starts = segment_starts(code, count)
    if not count:
        return starts
    ends = np.append(starts[1:], count)
    return np.repeat(ends, ends - starts)


def merge_ranges(owner: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
    """Return the union of ranges ``[low, high)`` of each owner, as disjoint ranges in order.

    Empty ranges are dropped. Adjacent ranges are not joined: between them the key may change, or
    events may not be loaded. O(r · log r).
    """
    kept = low < high
    owner, low, high = owner[kept], low[kept], high[kept]
    if not len(owner):
        return owner, low, high
    order = np.lexsort((low, owner))
    owner, low, high = owner[order], low[order], high[order]
    # Largest end so far of the same owner: an offset per owner exceeds every position.
    width = int(high.max()) + 1
    reach = np.maximum.accumulate(high + owner * width) - owner * width
    fresh = np.ones(len(owner), dtype=np.bool_)
    fresh[1:] = (owner[1:] != owner[:-1]) | (low[1:] >= reach[:-1])
    starts = np.flatnonzero(fresh)
    ends = np.append(starts[1:], len(owner)) - 1
    return owner[starts], low[starts], reach[ends]
