"""The source ``rate``: so many numbers a second since the query first began.

Its offsets are seconds. The numbers of a micro-batch have times spread evenly over its seconds, as
Spark spreads them (``RateStreamMicroBatchStream``); when the first began is kept in the checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lipstick.errors import SourceError
from lipstick.systems.streaming.sources.numbers import Numbers, timed_numbers
from lipstick.systems.streaming.sources.options import option, seconds_of
from lipstick.systems.streaming.sources.replayed import Batched, Span

_MILLISECONDS = 1000


class Rate:
    """Reads ``rate`` again."""

    token: tuple[str, ...] = ("value",)

    def rows(
        self, spark: SparkSession, options: Mapping[str, str], schema: StructType, read: Batched
    ) -> DataFrame:
        """See :class:`Replayed`."""
        del schema
        rows_per_second = int(option(options, "rowsPerSecond", "1"))
        ramp = seconds_of(option(options, "rampUpTime", "0s"))
        return timed_numbers(
            spark,
            (numbers(batch, span, rows_per_second, ramp) for batch, span in read),
        )


def numbers(batch: int, span: Span, rows_per_second: int, ramp: int) -> Numbers:
    """Return the numbers of a micro-batch.

    Raises
    ------
    SourceError
        When the offsets are no seconds, or when the query began is not known.
    """
    start, end = (_seconds(0 if offset is None else offset) for offset in (span.start, span.end))
    first, after = (numbers_until(second, rows_per_second, ramp) for second in (start, end))
    step = _MILLISECONDS * (end - start) / (after - first) if after > first else 0.0
    return Numbers(batch, first, after, _began(span) + _MILLISECONDS * start, step)


def numbers_until(second: int, rows_per_second: int, ramp: int) -> int:
    """Return how many numbers come before a second.

    While the rate rises, each second has ``rows_per_second // (ramp + 1)`` more than the one before
    (``RateStreamProvider.valueAtSecond``).
    """
    if second > ramp:
        whole = (second - ramp) * rows_per_second
        return numbers_until(ramp, rows_per_second, ramp) + whole
    more = rows_per_second // (ramp + 1)
    return more * (second * (second + 1) // 2)


def _seconds(offset: Any) -> int:
    if not isinstance(offset, int):
        raise SourceError(
            f"The offset {offset!r} is none of the source 'rate'.\n"
            "Restore the checkpoint from a copy."
        )
    return offset


def _began(span: Span) -> int:
    """Return when the query first began, in milliseconds since 1970."""
    file = span.log / "0"
    try:
        return int(file.read_text(encoding="utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError) as error:
        raise SourceError(
            f"{file} does not say when the source 'rate' began.\n"
            "Restore the checkpoint from a copy."
        ) from error
