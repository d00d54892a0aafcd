"""Data sources written in Python: the source's own reader reads between two offsets again.

Spark asks the same of it when a query is started again after a failure: the rows between two
offsets must be the same ones, in the same partitions and order, and the first offset be fixed.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, LongType, StructType

from lipstick.errors import SourceError
from lipstick.systems.streaming.sources.on_workers import replaying
from lipstick.systems.streaming.sources.replayed import BATCH, Batched
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
        """Return the source that is registered under a name in a classic session.

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
                f"The class of the data source {name!r} is too large to be had from Spark.\n"
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
        replay = replaying(name, self._source, dict(options), schema, placed, spans, ROW_BITS)
        spark.dataSource.register(replay)
        return spark.read.format(name).load()
