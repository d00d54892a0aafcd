"""Rows that are made of the numbers between two numbers, as a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.systems.streaming.sources.replayed import BATCH

_MOST = 1 << 16
"""So many numbers are made of one row."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers that a micro-batch read, and the times of them.

    Parameters
    ----------
    batch
        The micro-batch.
    first, after
        The first number, and the one after the last.
    time, step
        The time of the first, and how much later each other is, in milliseconds.
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
