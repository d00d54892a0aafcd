"""The counting sources ``rate`` and ``rate-micro-batch``.

The offsets of ``rate`` are seconds since the query first began, which its checkpoint records. The
numbers of a micro-batch have times spread evenly over its seconds, as in Spark
(``RateStreamMicroBatchStream``). Each micro-batch of ``rate-micro-batch`` has a fixed count of
numbers, all with the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lipstick.errors import SourceError
from lipstick.systems.streaming.sources.options import option, seconds_of
from lipstick.systems.streaming.sources.replayed import BATCH, Batched, OffsetSpan

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


def numbers(batch: int, span: OffsetSpan, rows_per_second: int, ramp: int) -> Numbers:
    """Return the numbers of a micro-batch.

    Raises
    ------
    SourceError
        When the offsets are not seconds, or when the query began is not known.
    """
    start, end = (_seconds(0 if offset is None else offset) for offset in (span.start, span.end))
    first, after = (numbers_until(second, rows_per_second, ramp) for second in (start, end))
    step = _MILLISECONDS * (end - start) / (after - first) if after > first else 0.0
    return Numbers(batch, first, after, _began(span) + _MILLISECONDS * start, step)


def numbers_until(second: int, rows_per_second: int, ramp: int) -> int:
    """Return the count of numbers before a second.

    While the rate rises, each second has ``rows_per_second

    (ramp + 1)`` more than the one before (``RateStreamProvider.valueAtSecond``).
    """
    if second > ramp:
        whole = (second - ramp) * rows_per_second
        return numbers_until(ramp, rows_per_second, ramp) + whole
    more = rows_per_second // (ramp + 1)
    return more * (second * (second + 1) // 2)


def _seconds(offset: Any) -> int:
    if not isinstance(offset, int):
        raise SourceError(
            f"The offset {offset!r} is not an offset of the source 'rate'.\n"
            "Restore the checkpoint from a copy."
        )
    return offset


def _began(span: OffsetSpan) -> int:
    """Return the first start of the query, in milliseconds since 1970."""
    file = span.log / "0"
    try:
        return int(file.read_text(encoding="utf-8").splitlines()[-1])
    except (OSError, ValueError, IndexError) as error:
        raise SourceError(
            f"{file} does not say when the source 'rate' began.\n"
            "Restore the checkpoint from a copy."
        ) from error


_MOST = 1 << 16
"""Count of numbers generated from one row."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers that a micro-batch read, and their times.

    Parameters
    ----------
    batch
        The micro-batch.
    first, after
        The first number, and the one after the last.
    time, step
        The time of the first number, and the step between times, in milliseconds.
    """

    batch: int
    first: int
    after: int
    time: int
    step: float = 0.0


def timed_numbers(spark: SparkSession, read: Iterable[Numbers]) -> DataFrame:
    """Return a row for each number: ``timestamp``, ``value`` and the batch."""
    parts = [part for numbers in read for part in _parts(numbers)]
    schema = f"{BATCH} INT, _first BIGINT, _from BIGINT, _to BIGINT, _time BIGINT, _step DOUBLE"
    late = F.floor((F.col("value") - F.col("_first")) * F.col("_step") + F.lit(0.5))
    return (
        spark.createDataFrame(parts, schema)
        .select("*", F.explode(F.sequence("_from", "_to")).alias("value"))
        .select(F.timestamp_millis(F.col("_time") + late).alias("timestamp"), "value", BATCH)
    )


def _parts(numbers: Numbers) -> Iterator[tuple[int, int, int, int, int, float]]:
    for start in range(numbers.first, numbers.after, _MOST):
        last = min(start + _MOST, numbers.after) - 1
        yield numbers.batch, numbers.first, start, last, numbers.time, numbers.step


class RateByBatch:
    """Reads ``rate-micro-batch`` again."""

    token: tuple[str, ...] = ("value",)

    def rows(
        self, spark: SparkSession, options: Mapping[str, str], schema: StructType, read: Batched
    ) -> DataFrame:
        """See :class:`Replayed`."""
        del schema
        began = int(option(options, "startTimestamp", "0"))
        return timed_numbers(spark, (numbers_by_batch(batch, span, began) for batch, span in read))


def numbers_by_batch(batch: int, span: OffsetSpan, began: int) -> Numbers:
    """Return the numbers of a micro-batch; ``began`` is the time of the first batch.

    Raises
    ------
    SourceError
        When its offsets are not of this source.
    """
    first, time = (0, began) if span.start is None else _offset(span.start)
    after, _ = _offset(span.end)
    return Numbers(batch, first, after, time)


def _offset(document: Any) -> tuple[int, int]:
    try:
        return int(document["offset"]), int(document["timestamp"])
    except (KeyError, TypeError, ValueError) as error:
        raise SourceError(
            f"The offset {document!r} is not an offset of the source 'rate-micro-batch'.\n"
            "Restore the checkpoint from a copy."
        ) from error
