"""Streaming frames of messages, with the columns that a reduction reads."""

from __future__ import annotations

import os

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.systems.events.errors import EventsError

_FILES = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"
_FOREVER = "36500d"
"""Spark silently ignores files that are a week older than the newest one seen."""


def files_of(
    spark: SparkSession,
    folder: str | os.PathLike[str],
    *,
    files_per_batch: int | None = None,
    bytes_per_batch: int | None = None,
) -> DataFrame:
    """Return the files of messages that keep arriving in a folder, as a streaming frame.

    Parameters
    ----------
    folder
        The folder, including its subfolders. Files must be complete when they appear, must not be
        removed, and must be smaller than 2 GiB each.
    files_per_batch, bytes_per_batch
        Limits on the input of a batch; without them, a batch reads all available files.
    """
    reader = spark.readStream.format("binaryFile").schema(_FILES)
    reader = reader.option("recursiveFileLookup", True).option("maxFileAge", _FOREVER)
    if files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", files_per_batch)
    if bytes_per_batch is not None:
        reader = reader.option("maxBytesPerTrigger", bytes_per_batch)
    return reader.load(os.fspath(folder)).select(
        F.col("content").alias("value"),
        F.col("path").alias("origin"),
        F.lit(1).cast("bigint").alias("line"),
        F.unix_micros("modificationTime").alias("time"),
    )


def messages_of(frame: DataFrame, column: str = "value") -> DataFrame:
    """Return messages from a column of a streaming frame, for example of Kafka.

    Parameters
    ----------
    frame
        Where it has columns `topic`, `partition`, `offset` and `timestamp`, as Kafka's has, bad
        messages are named by them.
    column
        Texts or bytes: a message each, or lines of messages.

    Raises
    ------
    EventsError
        The column is missing, or has a different type.
    """
    kinds = dict(frame.dtypes)
    if kinds.get(column) not in {"string", "binary"}:
        raise EventsError(
            f"The stream has no column {column!r} of texts or bytes; it has "
            f"{', '.join(f'{name} ({kind})' for name, kind in kinds.items())}.\n"
            "Name the column that messages are in."
        )
    partition = F.col("partition").cast("int") if "partition" in kinds else None
    topic = F.col("topic").cast("string") if "topic" in kinds else F.lit("stream")
    origin = topic if partition is None else F.concat_ws("/", topic, partition)
    line = F.col("offset").cast("bigint") if "offset" in kinds else F.lit(0).cast("bigint")
    no_time = F.lit(None).cast("bigint")
    time = F.unix_micros("timestamp") if kinds.get("timestamp") == "timestamp" else no_time
    columns = [
        F.col(column).cast("binary").alias("value"),
        origin.alias("origin"),
        line.alias("line"),
        time.alias("time"),
    ]
    if partition is not None:
        columns.append(partition.alias("partition"))
    return frame.select(*columns)
