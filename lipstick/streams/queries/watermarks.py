"""The watermarks that a streaming query would have had, had some rows not been there.

A watermark is the latest event time of the batches before, less a delay. A deletion can take that
event away: then a later row is late no more, or a window is not complete yet. Spark's rules are in
``WatermarkTracker``: each watermark never falls, one without data is 0, and that of the query is
the least of them, or the greatest by setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lipstick.streams.queries.checkpoint import MicroBatch

Latest = Mapping[int, int]
"""By batch that has rows, the latest event time of them, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Watermark:
    """One watermark of a query: its delay in milliseconds, and the latest times it saw."""

    delay: int
    latest: Latest


def repeated(batches: Sequence[MicroBatch], watermarks: Sequence[Watermark]) -> list[MicroBatch]:
    """Return the batches with the watermarks that these event times give them.

    Where the watermark moves, Spark runs a batch without data before the next one if no data wait
    yet: as it did in the recording, so it would have done.
    """
    settles = _settles(batches)
    result: list[MicroBatch] = []
    current, before = 0, 0
    highest = [0] * len(watermarks)
    for batch in batches:
        late = current if settles and batch.has_data else before
        result.append(replace(batch, watermark=current, late=late))
        before = current
        current = _after(batch, watermarks, highest, current)
    return result


def settled(batches: Sequence[MicroBatch], watermarks: Sequence[Watermark]) -> int:
    """Return the watermark after the last batch, which the next one would have."""
    current, highest = 0, [0] * len(watermarks)
    for batch in batches:
        current = _after(batch, watermarks, highest, current)
    return current


def _after(
    batch: MicroBatch, watermarks: Sequence[Watermark], highest: list[int], current: int
) -> int:
    """Return the watermark after a batch; ``highest`` has those of its parts, and is brought on."""
    for number, watermark in enumerate(watermarks):
        latest = watermark.latest.get(batch.number)
        if latest is not None:
            highest[number] = max(highest[number], latest - watermark.delay)
    choose = max if batch.policy == "max" else min
    return max(current, choose(highest, default=0))


def _settles(batches: Sequence[MicroBatch]) -> bool:
    """Tell whether each move of the watermark was followed by a batch without data."""
    pairs = pairwise(batches)
    return not any(
        after.watermark != before.watermark and after.has_data for before, after in pairs
    )
