"""The protocol of sources that are not files: they return the rows between two offsets again."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, LongType, StructType

from lipstick.errors import SourceError
from lipstick.systems.streaming.sources.on_workers import replaying
from lipstick.tracking.naming import ROW_BITS
from lipstick.tracking.tracker import ROW_COLUMN


class PythonSource:
    """Reads a registered data source again.

    Parameters
    ----------
    source
        The class of the source.
    """

    token: tuple[str, ...] = ()

    def __init__(self, source: Any) -> None:
        self._source = source

    @staticmethod
    def registered(spark: SparkSession, name: str) -> PythonSource:
        """Return the source registered under a name in a classic session.

        Raises
        ------
        SourceError
            When Spark does not have its class at hand.
        """
        state: Any = spark._jsparkSession.sessionState()
        function = state.dataSourceManager().lookupDataSource(name).dataSourceCls()
        numbers = str(function.command().mkString(",")).split(",")
        source = cloudpickle.loads(bytes(int(number) % 256 for number in numbers))
        if not isinstance(source, type):
            raise SourceError(
                f"The class of the data source {name!r} is too large to be read from Spark.\n"
                "Keep large data out of it, and register it anew."
            )
        return PythonSource(source)

    def rows(
        self, spark: SparkSession, options: Mapping[str, str], schema: StructType, read: Batched
    ) -> DataFrame:
        """See :class:`Replayed`."""
        name = f"_lipstick_replay_{uuid.uuid4().hex[:8]}"
        columns = StructType(list(schema.fields))
        placed = columns.add(BATCH, IntegerType()).add(ROW_COLUMN, LongType())
        spans = [(batch, span.start, span.end) for batch, span in read]
        replay = replaying(name, self._source, dict(options), placed, spans, ROW_BITS)
        spark.dataSource.register(replay)
        return spark.read.format(name).load()


BATCH = "_lipstick_batch"
"""The column with the number of the micro-batch that read a row."""


@dataclass(frozen=True, slots=True)
class OffsetSpan:
    """The rows that a micro-batch read from a source, from one offset up to another.

    Parameters
    ----------
    start, end
        The documents of the offsets in the checkpoint. ``start`` None: the source's first offset.
    log
        The folder of the checkpoint with the source's own metadata.
    """

    start: Any
    end: Any
    log: Path


Batched: TypeAlias = Sequence[tuple[int, OffsetSpan]]
"""The numbers of micro-batches, ascending, and their spans of one source."""


class Replayed(Protocol):
    """A source whose rows are a function of offsets."""

    @property
    def token(self) -> tuple[str, ...]:
        """The columns that identify a row; empty: the added ``_lipstick_row``, its position,
        does.
        """
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
    """Return the reader of a source's past rows, or None if none is known for its format.

    Parameters
    ----------
    python
        It is a data source written in Python, registered in a classic session.
    """
    from lipstick.systems.streaming.sources.kafka import Kafka
    from lipstick.systems.streaming.sources.rate import Rate, RateByBatch

    if python:
        return PythonSource.registered(spark, format)
    known: Mapping[str, Replayed] = {
        "kafka": Kafka(),
        "rate": Rate(),
        "rate-micro-batch": RateByBatch(),
    }
    return known.get(format)
