"""The source ``rate-micro-batch``: so many numbers a micro-batch.

An offset is a number and a time, both of the batch that begins there; all numbers of a batch have
its time (``RatePerMicroBatchStream``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lipstick.errors import SourceError
from lipstick.systems.streaming.sources.numbers import Numbers, timed_numbers
from lipstick.systems.streaming.sources.options import option
from lipstick.systems.streaming.sources.replayed import Batched, Span


class RateByBatch:
    """Reads ``rate-micro-batch`` again."""

    token: tuple[str, ...] = ("value",)

    def rows(
        self, spark: SparkSession, options: Mapping[str, str], schema: StructType, read: Batched
    ) -> DataFrame:
        """See :class:`Replayed`."""
        del schema
        began = int(option(options, "startTimestamp", "0"))
        return timed_numbers(spark, (numbers(batch, span, began) for batch, span in read))


def numbers(batch: int, span: Span, began: int) -> Numbers:
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
            f"The offset {document!r} is none of the source 'rate-micro-batch'.\n"
            "Restore the checkpoint from a copy."
        ) from error
