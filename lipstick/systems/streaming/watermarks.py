"""The watermarks that a streaming query would have had, had some rows not been there.

A watermark is the latest event time of the batches before, less a delay. A deletion can take that
event away: then a later row is late no more, or a window is not complete yet. Spark's rules are in
``WatermarkTracker``: each watermark never falls, one without data is 0, and that of the query is
the least of them, or the greatest by setting. A query that is started again knows its own
watermark from the checkpoint, but no longer its streams': each of these is 0 until it has data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise

from lipstick.systems.streaming.checkpoint import MicroBatch

_MOST_UNKNOWN = 300
"""The most batches for which a restart is checked against the watermarks that Spark recorded."""
Latest = Mapping[int, int]
"""The latest event time of each batch that has rows, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Watermark:
    """One watermark of a query: its delay in milliseconds, and the latest times it saw."""

    delay: int
    latest: Latest


def repeated(
    batches: Sequence[MicroBatch],
    watermarks: Sequence[Watermark],
    restarts: Set[int] | None = None,
) -> list[MicroBatch]:
    """Return the batches with the watermarks that these event times give them.

    Where the watermark moves, Spark runs a batch without data before the next one if no data wait
    yet: as it did in the recording, so it would have done. A run begins with none.

    Parameters
    ----------
    restarts
        The batches that a run began with; None: the ones that are known.
    """
    known = known_restarts(batches)
    reset = known if restarts is None else restarts
    settles = _settles(batches, known)
    result: list[MicroBatch] = []
    current, before = 0, 0
    highest = [0] * len(watermarks)
    for number, batch in enumerate(batches):
        settled_before = settles
        if batch.number in reset:
            highest = [0] * len(watermarks)
        if batch.number in known:
            waited = number > 0 and batches[number - 1].watermark != batch.watermark
            settled_before = settles and not waited
        late = current if settled_before and batch.has_data else before
        result.append(replace(batch, watermark=current, late=late))
        before = current
        current = _after(batch, watermarks, highest, current)
    return result


def settled(
    batches: Sequence[MicroBatch],
    watermarks: Sequence[Watermark],
    restarts: Set[int] | None = None,
) -> int:
    """Return the watermark after the last batch, which the next one would have."""
    known = known_restarts(batches) if restarts is None else restarts
    current, highest = 0, [0] * len(watermarks)
    for batch in batches:
        if batch.number in known:
            highest = [0] * len(watermarks)
        current = _after(batch, watermarks, highest, current)
    return current


def known_restarts(batches: Sequence[MicroBatch]) -> frozenset[int]:
    """Return the batches that a run of the query is known to have begun with."""
    return frozenset(batch.number for batch in batches if batch.restarted)


def possible_restarts(
    batches: Sequence[MicroBatch], watermarks: Sequence[Watermark]
) -> frozenset[int]:
    """Return the batches that a run may have begun with, by what is known and what Spark recorded.

    Restarts only lower watermarks, so that one with which they are lower than recorded was none.
    The watermarks of any restarts among the possible ones lie between the ones of all and of none.
    """
    known = known_restarts(batches)
    unknown = [batch.number for batch in batches[1:] if batch.restarted is None]
    if len(watermarks) < 2 or len(unknown) > _MOST_UNKNOWN:
        return known.union(unknown)
    recorded = [batch.watermark for batch in batches]

    def lowers(number: int) -> bool:
        given = repeated(batches, watermarks, known | {number})
        pairs = zip(given, recorded, strict=True)
        return any(batch.watermark < watermark for batch, watermark in pairs)

    return known.union(number for number in unknown if not lowers(number))


def _after(
    batch: MicroBatch, watermarks: Sequence[Watermark], highest: list[int], current: int
) -> int:
    """Return the watermark after a batch; advance ``highest``, the parts' watermarks, in place."""
    for number, watermark in enumerate(watermarks):
        latest = watermark.latest.get(batch.number)
        if latest is not None:
            highest[number] = max(highest[number], latest - watermark.delay)
    choose = max if batch.policy == "max" else min
    return max(current, choose(highest, default=0))


def _settles(batches: Sequence[MicroBatch], restarts: Set[int]) -> bool:
    """Return True if a batch without data followed each move of the watermark in its run."""
    pairs = pairwise(batches)
    return not any(
        after.watermark != before.watermark and after.has_data and after.number not in restarts
        for before, after in pairs
    )
