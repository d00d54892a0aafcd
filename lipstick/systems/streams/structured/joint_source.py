"""The streaming frames of a graph's sources as one frame, so that a query has one checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import DataType, DoubleType, FloatType

from lipstick.systems.errors import StreamError
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.batch import Batch
from lipstick.systems.streams.delays import Delays
from lipstick.systems.streams.engine import Runner
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.properties import Property
from lipstick.systems.streams.structured.batch_rows import (
    ARRIVAL,
    PARTITION,
    SLOT,
    SOURCE,
    by_source,
    column_of,
    result_table,
)

Result = Callable[[pa.Table], object]


class InProcess:
    """Runs every micro-batch in this process, which holds the state in memory."""

    def __init__(
        self,
        graph: Graph,
        recorder: Assertions,
        properties: Sequence[Property],
        delays: Delays,
        results: Mapping[str, Result],
    ) -> None:
        self._graph = graph
        self._runner = Runner(graph, delays=delays, properties=properties, recorders=[recorder])
        for sid, function in results.items():
            self._runner.subscribe(sid, self._as_batches(function))

    @property
    def following(self) -> int:
        """The number of the next batch."""
        return self._runner.number

    def take(self, frame: DataFrame) -> None:
        """Run a micro-batch, and record it."""
        self._runner.push(by_source(frame.toArrow(), self._graph.sources))

    def finish(self, empty: DataFrame) -> None:
        """End the input."""
        self._runner.close()

    def _as_batches(self, function: Result) -> Callable[[Batch], None]:
        def give(batch: Batch) -> None:
            function(result_table(batch, self._runner.codes))

        return give


def check(graph: Graph, frames: Mapping[str, DataFrame], partitions: int | None) -> None:
    """Raise if a graph cannot run over these frames.

    Raises
    ------
    StreamError
        A frame for what is not a source.
        A source without a frame; a frame that is not a stream, is of a Spark Connect session, or
        has a type that Arrow has not; keys that cannot be divided.
    """
    for sid in frames:
        if sid not in graph.sources:
            raise StreamError(
                f"Graph {graph.name} has no source {sid!r}.\nIt has {', '.join(graph.sources)}."
            )
    for sid in graph.sources:
        if sid not in frames:
            raise StreamError(f"Source {sid} of graph {graph.name} has no frame: give it one.")
        _check_frame(sid, frames[sid])
    if partitions is not None:
        _check_partitions(graph, frames, partitions)


def _check_frame(sid: str, frame: DataFrame) -> None:
    if type(frame.sparkSession).__module__.startswith("pyspark.sql.connect"):
        raise StreamError(
            f"Source {sid}: its frame is of a Spark Connect session, whose server would run the "
            "operators.\nUse a classic session, or run the graph in memory by a Runner."
        )
    if not frame.isStreaming:
        raise StreamError(
            f"Source {sid}: its frame is not a stream.\nRead it by spark.readStream, or run the "
            "graph in memory by a Runner."
        )
    names = frame.columns
    for name in names:
        if names.count(name) > 1:
            raise StreamError(
                f"Source {sid}: its frame has several columns {name!r}.\nGive them different names."
            )
    try:
        to_arrow_schema(frame.schema)
    except PySparkException as error:
        raise StreamError(
            f"Source {sid}: its rows cannot be given to operators: {error}\nSelect other columns, "
            "or cast them."
        ) from error


def _check_partitions(graph: Graph, frames: Mapping[str, DataFrame], partitions: int) -> None:
    if partitions < 1:
        raise StreamError(f"partitions={partitions}: give 1 or more.")
    for sid, node in graph.nodes.items():
        if not node.keyed:
            raise StreamError(
                f"Stream {sid} has no key: its events have one order, which one process keeps.\n"
                "Leave partitions= out, or give every source a key."
            )
    types: dict[str, DataType] = {}
    for sid in graph.sources:
        key = _key(graph, sid)
        if key not in frames[sid].columns:
            raise StreamError(
                f"Source {sid}: its frame has no column {key!r}, but "
                f"{', '.join(frames[sid].columns)}."
            )
        types[sid] = frames[sid].schema[key].dataType
        if isinstance(types[sid], FloatType | DoubleType):
            raise StreamError(
                f"Source {sid}: its key {key!r} is {types[sid].simpleString()}, of which equal "
                "values may be divided.\nCast it to another type."
            )
    if len(set(types.values())) > 1:
        names = ", ".join(f"{sid} {each.simpleString()}" for sid, each in types.items())
        raise StreamError(
            f"The keys of sources have different types: {names}.\nCast them to one: equal keys of "
            "different types would be divided."
        )


def one_frame(graph: Graph, frames: Mapping[str, DataFrame], partitions: int | None) -> DataFrame:
    """Return all rows of all sources, with the number of the source and its columns as a struct."""
    return reduce(
        lambda left, right: left.unionByName(right, allowMissingColumns=True),
        [
            frames[sid].select(
                F.lit(number).alias(SOURCE),
                F.struct("*").alias(column_of(number)),
                *_partition(graph, sid, frames[sid], partitions),
            )
            for number, sid in enumerate(graph.sources)
        ],
    )


def _partition(graph: Graph, sid: str, frame: DataFrame, partitions: int | None) -> list[Column]:
    if partitions is None:
        return []
    return [F.pmod(F.hash(frame[_key(graph, sid)]), F.lit(partitions)).alias(PARTITION)]


def _key(graph: Graph, sid: str) -> str:
    source = graph.node(sid).source
    assert source is not None
    assert source.key is not None
    return source.key


def slots_of(spark: SparkSession, partitions: int) -> list[int]:
    """Return, for each partition, a number that Spark's hash partitioning sends there."""
    numbers = spark.range(64 * partitions).select(
        F.col("id"), F.pmod(F.hash("id"), F.lit(partitions)).alias("partition")
    )
    least = numbers.groupBy("partition").agg(F.min("id").alias("id")).collect()
    slots = {row["partition"]: int(row["id"]) for row in least}
    return [slots[number] for number in range(partitions)]


def divided(frame: DataFrame, slots: Sequence[int]) -> DataFrame:
    """Return rows of a batch by partition, one task each, and a row without source per partition.

    Their arrival is numbered, since a shuffle does not preserve it.
    """
    partitions = len(slots)
    markers = frame.sparkSession.range(partitions).select(
        F.lit(-1).alias(SOURCE), F.col("id").cast("int").alias(PARTITION)
    )
    both = frame.unionByName(markers, allowMissingColumns=True)
    numbered = both.withColumn(ARRIVAL, F.monotonically_increasing_id())
    places = F.array(*(F.lit(slot).cast("long") for slot in slots))
    slotted = numbered.withColumn(SLOT, F.element_at(places, F.col(PARTITION) + 1))
    return slotted.repartition(partitions, SLOT)
