"""Kafka topics: the batch reader reads the records between the offsets of the micro-batches.

A row is identified by topic, partition and offset, which also determine the micro-batch that read
it. Spark's offset is, by topic and partition, the first record that was not read yet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType

from lipstick.errors import SourceError
from lipstick.systems.streaming.sources.replayed import BATCH, Batched, OffsetSpan

Offsets: TypeAlias = dict[tuple[str, int], int]
"""The number of a record, by topic and partition."""

_OF_STREAMS = (
    "assign",
    "endingoffsets",
    "endingoffsetsbytimestamp",
    "endingtimestamp",
    "failondataloss",
    "maxoffsetspertrigger",
    "maxtriggerdelay",
    "minoffsetspertrigger",
    "startingoffsets",
    "startingoffsetsbytimestamp",
    "startingoffsetsbytimestampstrategy",
    "startingtimestamp",
    "subscribe",
    "subscribepattern",
)
"""Options that choose the records that are read, in lower case."""


@dataclass(frozen=True, slots=True)
class Range:
    """The records of a partition that a micro-batch read: from one offset up to, but not
    including, another.
    """

    topic: str
    partition: int
    start: int
    end: int
    batch: int


class Kafka:
    """Reads topics again, as long as they retain the records."""

    token: tuple[str, ...] = ("topic", "partition", "offset")

    def rows(
        self, spark: SparkSession, options: Mapping[str, str], schema: StructType, read: Batched
    ) -> DataFrame:
        """See :class:`Replayed`."""
        known = ranges(read)
        if not known:
            none = StructType([*schema.fields, StructField(BATCH, IntegerType())])
            return spark.createDataFrame([], none)
        reader = spark.read.format("kafka").options(**reader_options(options, known))
        return in_batches(reader.load(), known)


def ranges(read: Batched) -> list[Range]:
    """Return the ranges of records that micro-batches read.

    Raises
    ------
    SourceError
        When an offset is none of Kafka's, or the first one is not known.
    """
    return [each for batch, span in read for each in _ranges(batch, span)]


def reader_options(options: Mapping[str, str], read: list[Range]) -> dict[str, str]:
    """Return the options of a batch reader for all records that micro-batches read.

    Records that the topic no longer has raise an error.
    """
    kept = {name: value for name, value in options.items() if name.lower() not in _OF_STREAMS}
    starts: Offsets = {}
    ends: Offsets = {}
    for each in read:
        partition_of_topic = (each.topic, each.partition)
        starts[partition_of_topic] = min(starts.get(partition_of_topic, each.start), each.start)
        ends[partition_of_topic] = max(ends.get(partition_of_topic, each.end), each.end)
    partitions: dict[str, list[int]] = {}
    for topic, partition in sorted(ends):
        partitions.setdefault(topic, []).append(partition)
    return {
        **kept,
        "assign": json.dumps(partitions),
        "startingOffsets": _document(starts),
        "endingOffsets": _document(ends),
        "failOnDataLoss": "true",
    }


def in_batches(rows: DataFrame, read: list[Range]) -> DataFrame:
    """Return the records that micro-batches read, with the numbers of the batches."""
    schema = f"_topic STRING, _partition INT, _start BIGINT, _end BIGINT, {BATCH} INT"
    ranges = [(each.topic, each.partition, each.start, each.end, each.batch) for each in read]
    known = F.broadcast(rows.sparkSession.createDataFrame(ranges, schema))
    inside = (
        (F.col("topic") == F.col("_topic"))
        & (F.col("partition") == F.col("_partition"))
        & F.col("offset").between(F.col("_start"), F.col("_end") - 1)
    )
    return rows.join(known, inside).select(*(f"`{name}`" for name in rows.columns), BATCH)


def _ranges(batch: int, span: OffsetSpan) -> Iterator[Range]:
    start = _initial(span) if span.start is None else _offsets(span.start)
    for (topic, partition), end in sorted(_offsets(span.end).items()):
        # Spark reads partitions that were added from their beginning.
        first = start.get((topic, partition), 0)
        if end > first:
            yield Range(topic, partition, first, end, batch)


def _initial(span: OffsetSpan) -> Offsets:
    """Return the initial offsets of the query, which Spark stores separately."""
    file = span.log / "0"
    try:
        return _offsets(json.loads(file.read_text(encoding="utf-8").splitlines()[-1]))
    except (OSError, ValueError, IndexError) as error:
        raise SourceError(
            f"{file} does not say at which offsets the query began to read from Kafka.\n"
            "Restore the checkpoint from a copy."
        ) from error


def _offsets(document: Any) -> Offsets:
    try:
        return {
            (str(topic), int(partition)): int(offset)
            for topic, partitions in document.items()
            for partition, offset in partitions.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise SourceError(
            f"The offset {json.dumps(document)} is not an offset of Kafka.\n"
            "Restore the checkpoint from a copy."
        ) from error


def _document(offsets: Offsets) -> str:
    by_topic: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        by_topic.setdefault(topic, {})[str(partition)] = offset
    return json.dumps(by_topic)
