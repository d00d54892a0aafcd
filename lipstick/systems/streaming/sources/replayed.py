"""The protocol of sources that are no files: they give the rows between two offsets again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

BATCH = "_lipstick_batch"
"""The column with the number of the micro-batch that read a row."""


@dataclass(frozen=True, slots=True)
class Span:
    """The rows that a micro-batch read of a source, from one offset up to another.

    Parameters
    ----------
    start, end
        The documents of the offsets in the checkpoint. ``start`` None: the source's first offset.
    log
        The folder of the checkpoint where the source keeps what it knows of itself.
    """

    start: Any
    end: Any
    log: Path


Batched: TypeAlias = Sequence[tuple[int, Span]]
"""The numbers of micro-batches, ascending, and what they read of one source."""


class Replayed(Protocol):
    """A source whose rows are a function of offsets."""

    @property
    def token(self) -> tuple[str, ...]:
        """The columns that name a row; empty: its place does, an added ``_lipstick_row``."""
        ...

    def rows(
        self,
        spark: SparkSession,
        options: Mapping[str, str],
        schema: StructType,
        read: Batched,
    ) -> DataFrame:
        """Return the rows that micro-batches read, with the number of the batch of each.

        Parameters
        ----------
        options, schema
            Of the streaming reader.

        Raises
        ------
        SourceError
            When offsets are not understood.
        """
        ...


def replayed_source(spark: SparkSession, format: str, *, python: bool) -> Replayed | None:
    """Return how a source is read again; None if that is not known of a format.

    Parameters
    ----------
    python
        It is a data source written in Python, registered in a classic session.
    """
    from lipstick.systems.streaming.sources.kafka import Kafka
    from lipstick.systems.streaming.sources.python import PythonSource
    from lipstick.systems.streaming.sources.rate import Rate
    from lipstick.systems.streaming.sources.rate_by_batch import RateByBatch

    if python:
        return PythonSource.registered(spark, format)
    known: Mapping[str, Replayed] = {
        "kafka": Kafka(),
        "rate": Rate(),
        "rate-micro-batch": RateByBatch(),
    }
    return known.get(format)
