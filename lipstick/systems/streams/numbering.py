"""The times and numbers of an operator's outputs: ``t = t_trigger + d``, increasing in a stream.

The thesis leaves it to measured delays whether times in a stream are unique and increasing; its
ancestor functions are exact only if they are. Here times are made so: an output that would not be
after the one before it gets a longer delay, so that ``t - d`` is still the trigger.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from lipstick.systems.streams.keys import Keys, first_of_code, rank_in_code, segment_starts
from semiring.base import Array

_LEAST = np.iinfo(np.int64).min // 4


class Numbering:
    """The time and number of the last event of each code of a stream."""

    def __init__(self) -> None:
        self._last_t = np.zeros(0, dtype=np.int64)
        self._last_n = np.zeros(0, dtype=np.int64)

    def keys(self, trigger: Array, code: Array | None, n: Array | None, delays: Array) -> Keys:
        """Give outputs their keys.

        Parameters
        ----------
        trigger
            Times of triggers, ascending for every code.
        code
            Of the outputs, ascending; None without key.
        n
            Their numbers; None: counted on.
        delays
            In ticks, 0 or more: lengthened where times would not increase.
        """
        count = len(trigger)
        if not count:
            return Keys.empty(code is not None)
        starts = segment_starts(code, count)
        codes = np.zeros(1, dtype=np.int64) if code is None else code[starts]
        self._grow(int(codes.max()) + 1)
        t = _increasing(trigger + delays, code, starts, self._last_t[codes])
        if n is None:
            before = self._last_n[codes]
            sizes = np.diff(np.append(starts, count))
            n = rank_in_code(code, count) + 1 + np.repeat(before, sizes)
        ends = np.append(starts[1:], count) - 1
        self._last_t[codes] = t[ends]
        self._last_n[codes] = n[ends]
        return Keys(t, n, t - trigger, code)

    def resume(self, keys: Keys) -> None:
        """Go on after recorded events of the stream."""
        starts = segment_starts(keys.code, len(keys))
        if not len(starts):
            return
        ends = np.append(starts[1:], len(keys)) - 1
        codes = np.zeros(1, dtype=np.int64) if keys.code is None else keys.code[ends]
        self._grow(int(codes.max()) + 1)
        self._last_t[codes] = keys.t[ends]
        self._last_n[codes] = keys.n[ends]

    def last(self, codes: Array) -> tuple[Array, Array]:
        """The time and number of the last event of each code; far back and 0 if there was none."""
        self._grow(int(codes.max(initial=-1)) + 1)
        return self._last_t[codes], self._last_n[codes]

    def save(self) -> pa.Table:
        """The counters as a table."""
        return pa.table({"t": self._last_t, "n": self._last_n})

    def load(self, table: pa.Table) -> None:
        """Go on from counters."""
        self._last_t = table.column("t").to_numpy().copy()
        self._last_n = table.column("n").to_numpy().copy()

    def _grow(self, size: int) -> None:
        missing = size - len(self._last_t)
        if missing > 0:
            missing = max(missing, len(self._last_t))
            self._last_t = np.append(self._last_t, np.full(missing, _LEAST))
            self._last_n = np.append(self._last_n, np.zeros(missing, dtype=np.int64))


def _increasing(t: Array, code: Array | None, starts: Array, last: Array) -> Array:
    """The least strictly increasing times for each code that are not before `t`."""
    good = bool((t[starts] > last).all())
    if good and len(t) > 1:
        rising = t[1:] > t[:-1]
        if code is not None:
            rising |= code[1:] != code[:-1]
        good = bool(rising.all())
    if good:
        return t
    t = t.copy()
    t[starts] = np.maximum(t[starts], last + 1)
    # Without its rank, a time that must be increased by one a step is the maximum so far.
    flat = t - rank_in_code(code, len(t))
    low = int(flat.min())
    width = int(flat.max()) - low + 1
    if code is not None and width * len(starts) >= 1 << 62:
        for start, stop in zip(starts, np.append(starts[1:], len(t)), strict=True):
            flat[start:stop] = np.maximum.accumulate(flat[start:stop])
    else:
        segment = np.zeros(len(t), dtype=np.int64)
        segment[starts] = 1
        shift = (np.cumsum(segment) - 1) * width
        flat = np.maximum.accumulate(flat - low + shift) - shift + low
    result: Array = flat + (np.arange(len(t)) - first_of_code(code, len(t)))
    return result
