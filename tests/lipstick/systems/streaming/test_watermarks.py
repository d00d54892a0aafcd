"""Watermarks that follow from event times, and from fewer of them."""

from dataclasses import replace

import pytest

from lipstick.systems.streaming.checkpoint import FileRead, MicroBatch
from lipstick.systems.streaming.reruns import DelayedWatermark, repeated, settled

DATA = ((FileRead("file:///f", 0),),)
NONE: tuple[tuple[FileRead, ...], ...] = ((),)


def batches(*marks: tuple[int, int, bool], policy: str = "min") -> list[MicroBatch]:
    """Batches of (watermark, late, whether it has data)."""
    return [
        MicroBatch(number, DATA if data else NONE, watermark, late, policy)
        for number, (watermark, late, data) in enumerate(marks)
    ]


def marks(of: list[MicroBatch]) -> list[tuple[int, int]]:
    return [(batch.watermark, batch.late) for batch in of]


SETTLED = batches((0, 0, True), (20, 0, False), (20, 20, True), (20, 20, True), (90, 20, False))
WAITING = batches((0, 0, True), (20, 0, True), (20, 20, True), (90, 20, False))


@pytest.mark.parametrize(
    ("recorded", "latest"),
    [(SETTLED, {0: 30, 2: 25, 3: 100}), (WAITING, {0: 30, 1: 25, 2: 100})],
    ids=["settled", "waiting"],
)
def test_recorded_watermarks_are_repeated(
    recorded: list[MicroBatch], latest: dict[int, int]
) -> None:
    watermark = DelayedWatermark(10, latest)
    assert marks(repeated(recorded, [watermark])) == marks(recorded)
    assert settled(recorded, [watermark]) == 90


def test_without_the_latest_event_later_rows_are_less_late() -> None:
    """Where Spark waited for data, batch 3 is late by what batch 2 gives it, as it would be."""
    assert marks(repeated(SETTLED, [DelayedWatermark(10, {0: 12, 2: 25, 3: 60})])) == [
        (0, 0),
        (2, 0),
        (2, 2),
        (15, 15),
        (50, 15),
    ]
    assert marks(repeated(WAITING, [DelayedWatermark(10, {0: 12, 1: 25, 2: 60})])) == [
        (0, 0),
        (2, 0),
        (15, 2),
        (50, 15),
    ]


def test_several_watermarks_give_the_least_or_the_greatest() -> None:
    """One without data is 0; none ever falls."""
    first, second = DelayedWatermark(0, {0: 50, 1: 40}), DelayedWatermark(5, {1: 30})
    least = batches((0, 0, True), (0, 0, True), (25, 0, False))
    assert marks(repeated(least, [first, second])) == [(0, 0), (0, 0), (25, 0)]
    greatest = batches((0, 0, True), (50, 0, True), (50, 50, False), policy="max")
    assert marks(repeated(greatest, [first, second])) == [(0, 0), (50, 0), (50, 50)]


def test_a_batch_that_failed_was_planned_while_its_data_waited() -> None:
    """Where each batch failed once, no batch without data would have come before it."""
    failed = [
        replace(batch, restarted=batch.has_data, planned=batch.has_data and batch.number > 0)
        for batch in WAITING
    ]
    watermarks = [DelayedWatermark(10, {0: 12, 1: 25, 2: 60})]
    assert marks(repeated(failed, watermarks)) == marks(repeated(WAITING, watermarks))
