"""Numbers that the sources of rates read between offsets."""

from pathlib import Path

import pytest

from lipstick.errors import SourceError
from lipstick.systems.streaming.sources import OffsetSpan, rate
from lipstick.systems.streaming.sources.options import seconds_of
from lipstick.systems.streaming.sources.rate import Numbers


def test_seconds_have_as_many_numbers_as_the_rate(tmp_path: Path) -> None:
    """Which rises at first; their times are spread over the seconds since the query began."""
    (tmp_path / "0").write_text("v1\n100000")
    first, second = OffsetSpan(None, 2, tmp_path), OffsetSpan(2, 3, tmp_path)
    assert rate.numbers(0, first, 5, 0) == Numbers(0, 0, 10, 100_000, 200.0)
    assert rate.numbers(1, second, 5, 0) == Numbers(1, 10, 15, 102_000, 200.0)
    until = [rate.numbers_until(second, 10, 4) for second in range(8)]
    assert until == [0, 2, 6, 12, 20, 30, 40, 50]
    assert rate.numbers(0, OffsetSpan(None, 1, tmp_path), 3, 9).step == 0


def test_offsets_of_another_source_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not an offset of the source 'rate'"):
        rate.numbers(0, OffsetSpan(None, {"at": 1}, tmp_path), 1, 0)
    with pytest.raises(SourceError, match="does not say when the source 'rate' began"):
        rate.numbers(0, OffsetSpan(None, 1, tmp_path), 1, 0)
    with pytest.raises(SourceError, match="not an offset of the source 'rate-micro-batch'"):
        rate.numbers_by_batch(0, OffsetSpan(None, 1, tmp_path), 0)


def test_batches_have_the_numbers_up_to_their_offset_and_one_time(tmp_path: Path) -> None:
    end = {"offset": 8, "timestamp": 2000}
    assert rate.numbers_by_batch(3, OffsetSpan(None, end, tmp_path), 500) == Numbers(3, 0, 8, 500)
    later = {"offset": 12, "timestamp": 3000}
    assert rate.numbers_by_batch(4, OffsetSpan(end, later, tmp_path), 500) == Numbers(
        4, 8, 12, 2000
    )


@pytest.mark.parametrize(
    ("text", "seconds"), [("5", 5), ("2min", 120), ("1500ms", 1), ("1h", 3600)]
)
def test_durations_are_read_as_spark_does(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds
    with pytest.raises(SourceError, match="is not a duration"):
        seconds_of(f"{text} fortnights")
