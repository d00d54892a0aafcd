"""The recorded keys that may be ancestors of outputs: only these parts of a stream are read."""

from __future__ import annotations

import numpy as np

from lipstick.systems.streams.keys import Keys, search
from lipstick.systems.streams.operators.base import Reach
from lipstick.systems.streams.recording import Recording
from semiring.arrays.segments import ascending, bounds
from semiring.base import Array


def within_reach(recording: Recording, sid: str, outputs: Keys, reach: Reach) -> Keys:
    """Return a superset of the recorded keys of an input behind some outputs."""
    parts = recording.parts(sid)
    trigger = outputs.trigger
    if not len(trigger) or not len(parts):
        return Keys.empty(recording.graph.node(sid).keyed)
    if reach.count is None:
        keyed = recording.graph.node(sid).keyed
        codes = outputs.code if keyed else None
        return recording.load(sid, parts.within(trigger - reach.time, trigger, codes))
    return _last_before(recording, sid, outputs, reach.count)


def _last_before(recording: Recording, sid: str, outputs: Keys, count: int) -> Keys:
    """Return keys that include the last `count` events up to each trigger."""
    keyed = recording.graph.node(sid).keyed
    parts = recording.parts(sid)
    chosen = np.arange(len(parts))
    if keyed and outputs.code is not None:
        chosen = np.flatnonzero(parts.has_code(outputs.code))
        parts = parts.take(chosen)
    # Parts are in the order of writing, in which the events of every key ascend; other keys may
    # give a later part an earlier time. So: the last part that begins by the trigger.
    trigger = ascending(outputs.trigger)
    earliest = np.minimum.accumulate(parts.first_t[::-1])[::-1]
    last = np.searchsorted(earliest, trigger, "right") - 1
    last = last[last >= 0]
    before = bounds(parts.rows)
    wanted = count
    while True:
        first = np.searchsorted(before[1:], before[last] - wanted, "right")
        which = _covered(first, last, len(parts), gaps=not keyed)
        keys = recording.load(sid, chosen[which])
        if keys.code is None or not len(which) or not which[0] or _enough(keys, outputs, count):
            return keys
        wanted *= 4  # events of one key are spread over more parts


def _covered(first: Array, last: Array, count: int, *, gaps: bool) -> Array:
    """Return the positions in some closed ranges; without `gaps`, also the positions between them.

    If a part between were left out, a key's events in an earlier part might not be its last ones.
    """
    if not gaps and len(first):
        first, last = first.min(keepdims=True), last[-1:]
    changes = np.zeros(count + 1, dtype=np.int64)
    np.add.at(changes, first, 1)
    np.add.at(changes, last + 1, -1)
    return np.flatnonzero(np.cumsum(changes)[:-1])


def _enough(keys: Keys, outputs: Keys, count: int) -> bool:
    """Return True if every output has `count` events before it, or all that its key ever had."""
    high = search(keys.code, keys.t, outputs.code, outputs.trigger, "right")
    assert outputs.code is not None
    assert keys.code is not None
    low = np.searchsorted(keys.code, outputs.code, "left")
    enough = high - low >= count
    first = np.where(high > low, keys.n[np.minimum(low, len(keys) - 1)], 0)
    return bool((enough | (first == 1)).all())
