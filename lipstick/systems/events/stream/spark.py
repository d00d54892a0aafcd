"""The streaming job: frames of messages, reduced by Spark's tasks, a commit a micro-batch.

Workers have numpy and pyarrow and not this distribution: what they run is pickled by value.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark import TaskContext, cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import graphquery.errors as graph_errors
import graphquery.reduction as reduction_package
import lipstick.systems.events as events_package
import semiring as semiring_package
from lipstick.engines.spark.local_session import local_builder
from lipstick.engines.spark.workers import check_workers
from lipstick.systems.events.errors import EventsError
from lipstick.systems.events.stream.batches import Batches
from lipstick.systems.events.stream.local_reduction import decide, reduce_local
from lipstick.systems.events.stream.parsed_rows import cut
from lipstick.systems.events.stream.plan import EXECUTION, SOURCE, BatchPlan
from lipstick.systems.events.stream.settings import BatchProgress, StreamSettings
from lipstick.systems.events.stream.settling import resolve
from lipstick.systems.events.stream.task_messages import DDL, Row, batches_of, rows_of
from semiring.base import Semiring

for _module in (semiring_package, graph_errors, reduction_package, events_package):
    cloudpickle.register_pickle_by_value(_module)  # type: ignore[no-untyped-call]


_LOCAL = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.ui.enabled": "false",
}


def job_builder(name: str, master: str) -> SparkSession.Builder:
    """Return the builder of a session that only reduces a stream.

    In a local session Spark moves a few large rows, and all work is done in Python: Spark's code
    generation and web server would otherwise take as much processor time as some million edges.
    """
    builder = local_builder(name, master)
    for option, value in _LOCAL.items() if master.startswith("local") else ():
        builder = builder.config(option, value)
    return builder


class StreamReduction:
    """Reduces streaming frames into a store, to be used as a context.

    Parameters
    ----------
    store
        The folder of a store; made if there is none.
    settings
        The same whenever the reduction goes on.
    folder
        Of the job's own files, the checkpoint among them; by default beside the store. All workers
        read and write it.

    Raises
    ------
    EventsError
        When the store has something else, or was written with other settings.
    """

    def __init__(
        self,
        store: str | os.PathLike[str],
        settings: StreamSettings | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        path = Path(store)
        own_folder = Path(folder) if folder is not None else path.parent / f"{path.name}.stream"
        self.batches = Batches(path, settings or StreamSettings(), own_folder)
        self._spark: SparkSession | None = None
        self._error: BaseException | None = None

    def __enter__(self) -> StreamReduction:
        self.batches.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.batches.__exit__(*error)

    def start(
        self,
        frame: DataFrame,
        *,
        interval: float | None = None,
        tell: Callable[[BatchProgress], None] | None = None,
    ) -> StreamingQuery:
        """Start the job.

        Parameters
        ----------
        frame
            Of `files_of` or `messages_of`.
        interval
            Seconds between batches; None: the available input is reduced, and the job ends.
        tell
            Called after every batch.

        Raises
        ------
        EventsError
            When the frame is not a stream, of Spark Connect, or without partitions to go by.
        LipstickError
            When Spark's workers cannot run functions of this process.
        """
        _check(frame, self.batches.settings)
        check_workers(frame.sparkSession)
        self._spark = frame.sparkSession
        self.batches.labels = _labels(self.batches.settings.shards)

        def run(micro_batch: DataFrame, number: int) -> None:
            try:
                self._run(micro_batch, number, tell)
            except BaseException as error:
                self._error = error
                raise

        writer = frame.writeStream.foreachBatch(run)
        writer = writer.option("checkpointLocation", str(self.batches.folder / "checkpoint"))
        if interval is None:
            return writer.trigger(availableNow=True).start()
        return writer.trigger(processingTime=f"{round(interval * 1000)} milliseconds").start()

    def wait(self, query: StreamingQuery) -> None:
        """Wait for a job to end.

        Raises
        ------
        LipstickError
            The error that ended the job, as it was raised.
        """
        try:
            query.awaitTermination()
        except Exception:
            if self._error is not None:
                raise self._error from None
            raise

    def close(self) -> BatchProgress:
        """End the input after the job has ended: everything is closed and committed."""
        return self.batches.close(self._step if self._spark is not None else None)

    def _run(
        self, frame: DataFrame, number: int, tell: Callable[[BatchProgress], None] | None
    ) -> None:
        context = frame.sparkSession.sparkContext
        query = context.getLocalProperty("sql.streaming.queryId")
        if query is None:
            raise EventsError("Spark does not say which query a batch is of.")
        self.batches.begin(query)
        if number <= self.batches.batch:
            return
        told = _collected(job(frame, self.batches.plan(number)))
        progress = self.batches.commit(number, told)
        if tell is not None and progress is not None:
            tell(progress)

    def _step(self, plan: BatchPlan) -> Iterable[Row]:
        assert self._spark is not None
        frame = self._spark.range(0, plan.shards, 1, plan.shards)
        return _collected(frame.mapInArrow(shipped(_step, plan), DDL))


def job(frame: DataFrame, plan: BatchPlan) -> DataFrame:
    """Return the tasks of a batch as one frame: up to three shuffles, of few large rows.

    Messages go to the partition of their execution, which has its earlier state; by function or
    worker, counted messages go to another partition; and the remainder of local reducers goes to
    the shards of its vertices.
    """
    stages = {SOURCE: (_cut_whole,), EXECUTION: (_cut, _decide_whole)}
    first, *later = stages.get(plan.partitioning, (_cut, _decide, _reduce))
    frame = frame.mapInArrow(shipped(first, plan), DDL)
    for stage in (*later, _resolve):
        frame = frame.repartition(plan.shards, "to").mapInArrow(shipped(stage, plan), DDL)
    return frame


Arrow: TypeAlias = Iterator[pa.RecordBatch]
Stage: TypeAlias = Callable[[BatchPlan, Arrow], Iterator[Row]]


def _cut(plan: BatchPlan, batches: Arrow) -> Iterator[Row]:
    return cut(plan, batches, _task())


def _cut_whole(plan: BatchPlan, batches: Arrow) -> Iterator[Row]:
    return reduce_local(plan, decide(plan, cut(plan, batches, _task())))


def _decide(plan: BatchPlan, batches: Arrow) -> Iterator[Row]:
    return decide(plan, rows_of(batches))


def _decide_whole(plan: BatchPlan, batches: Arrow) -> Iterator[Row]:
    return reduce_local(plan, decide(plan, rows_of(batches)))


def _reduce(plan: BatchPlan, batches: Arrow) -> Iterator[Row]:
    return reduce_local(plan, rows_of(batches))


def _resolve(plan: BatchPlan, batches: Arrow) -> Iterator[Row]:
    return resolve(plan, _task(), rows_of(batches))


def _step(plan: BatchPlan, batches: Arrow) -> Iterator[Row]:
    del batches
    return resolve(plan, _task(), ())


def shipped(stage: Stage, plan: BatchPlan) -> Callable[[Arrow], Arrow]:
    """Return a stage for workers that do not have this project.

    Its code is pickled once a process, since that takes longer than a small batch; the parts that
    change from batch to batch are plain values.
    """
    code, document = _pickled(stage, plan.semiring), plan.document()

    def run(batches: Arrow) -> Arrow:
        return pickle.loads(code)(document, batches)  # type: ignore[no-any-return]

    return run


@cache
def _pickled(stage: Stage, semiring: Semiring[Any] | None) -> bytes:
    def run(document: dict[str, Any], batches: Arrow) -> Arrow:
        return batches_of(stage(BatchPlan.of(document, semiring), batches))

    data: bytes = cloudpickle.dumps(run)  # type: ignore[no-untyped-call]
    return data


def _task() -> int:
    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def _collected(frame: DataFrame) -> list[Row]:
    return [Row(*row) for row in frame.collect()]


@cache
def _labels(count: int) -> tuple[int, ...]:
    """Return, for every partition, the least number that Spark's hash partitioning sends there.

    A shard would detect a misdirected number.
    """
    labels: dict[int, int] = {}
    number = 0
    while len(labels) < count:
        labels.setdefault(_spark_hash(number) % count, number)
        number += 1
    return tuple(labels[each] for each in range(count))


def _spark_hash(number: int) -> int:
    """Return Spark's hash of an int column: Murmur3 for 32 bits, of one word, with seed 42."""

    def multiplied(value: int, factor: int) -> int:
        return value * factor & 0xFFFFFFFF

    def rotated(value: int, bits: int) -> int:
        return (value << bits | value >> 32 - bits) & 0xFFFFFFFF

    word = multiplied(rotated(multiplied(number, 0xCC9E2D51), 15), 0x1B873593)
    value = multiplied(rotated(42 ^ word, 13), 5) + 0xE6546B64 & 0xFFFFFFFF
    value ^= 4  # bytes
    value = multiplied(value ^ value >> 16, 0x85EBCA6B)
    value = multiplied(value ^ value >> 13, 0xC2B2AE35)
    value ^= value >> 16
    return value - (1 << 32) if value >> 31 else value


def _check(frame: DataFrame, settings: StreamSettings) -> None:
    if not isinstance(frame, DataFrame) or not hasattr(frame, "_jdf"):
        raise EventsError(
            "A stream over Spark Connect is reduced by a function that runs in the server, without "
            "this store.\nStart the job from a classic session."
        )
    if not frame.isStreaming:
        raise EventsError("The frame is not a stream.\nReduce files with `reduce_files`.")
    needed = {"value", "origin", "line", "time"}
    if not needed <= set(frame.columns):
        raise EventsError("The frame has other columns.\nMake it with `files_of` or `messages_of`.")
    if settings.partitioning == SOURCE and "partition" not in frame.columns:
        raise EventsError(
            "The stream has no column `partition` to go by.\nPartition by execution, or give every "
            "message the number of a partition that has all messages of its execution."
        )
