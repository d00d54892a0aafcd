"""A graph on Structured Streaming: start, wait, end, and restart.

Every micro-batch is one commit of a store, with the assertions and the state after it, under
Spark's number of the batch. A batch that Spark runs again, because it was killed between that
commit and its own, is found in the store and skipped: exactly once, even if operators are not
deterministic or delays are measured.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from lipstick.engines.spark.workers import check_workers
from lipstick.systems.errors import StreamError
from lipstick.systems.streams.assertions import Assertions
from lipstick.systems.streams.delays import Delays, Fixed
from lipstick.systems.streams.graph import Graph
from lipstick.systems.streams.properties import Property
from lipstick.systems.streams.recorded_query import RecordedQuery
from lipstick.systems.streams.structured.joint_source import (
    InProcess,
    Result,
    check,
    one_frame,
    slots_of,
)
from lipstick.systems.streams.structured.partitioned import Partitioned
from semiring.support.door import checked


@checked
class RunningGraph:
    """A running graph; to be used as a context, which stops it. See `start`."""

    def __init__(
        self,
        name: str,
        recorder: RecordedQuery,
        work: InProcess | Partitioned,
        frame: DataFrame,
        checkpoint: str,
    ) -> None:
        self._name = name
        self._frame = frame
        self._recorder = recorder
        self._work = work
        self._checkpoint = checkpoint
        self._query: StreamingQuery | None = None
        self._started = threading.Event()
        self._lock = threading.Lock()
        self._bound = False
        self._closed = False
        self._error: BaseException | None = None

    def __enter__(self) -> RunningGraph:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    @property
    def query(self) -> StreamingQuery:
        """Spark's query, for its progress and status."""
        assert self._query is not None
        return self._query

    def process_all(self) -> None:
        """Wait until all current data of the sources is processed.

        Raises
        ------
        StreamError
            What stopped the graph.
        """
        self._raised(self.query.processAllAvailable)

    def wait(self, seconds: int | None = None) -> bool:
        """Wait until the query ends, as by an ``availableNow`` trigger, or for some seconds.

        Returns
        -------
        bool
            Whether it has ended; raises as `process_all`.
        """
        if seconds is not None:
            return bool(self._raised(lambda: self.query.awaitTermination(seconds)))
        self._raised(self.query.awaitTermination)
        return True

    def stop(self) -> None:
        """Stop the query and release the store; it can be started again. Repeated calls do
        nothing.
        """
        if self._query is not None:
            self._query.stop()
        with self._lock:  # a batch that is being stored is stored
            self._close()

    def finish(self) -> None:
        """Process the available data and end the input: events held back for order are released.

        Raises
        ------
        StreamError
            What stopped the graph; nothing can be added to a query that has ended.
        """
        if self.query.isActive:
            self.process_all()
        elif self.query.exception() is not None:
            self.wait()
        self.query.stop()
        with self._lock:
            if self._closed:
                raise StreamError(f"Graph {self._name} was stopped: start it again to end it.")
            self._bind()
            self._recorder.offsets = None
            session, schema = self._frame.sparkSession, self._frame.schema
            self._work.finish(session.createDataFrame([], schema))
            self._close()

    def begin(self, trigger: Mapping[str, Any] | None) -> None:
        """Start the query; `start` does it."""
        writer = self._frame.writeStream.foreachBatch(self._take).queryName(self._name)
        writer = writer.option("checkpointLocation", self._checkpoint)
        if trigger is not None:
            writer = writer.trigger(**trigger)
        self._query = writer.start()
        self._started.set()

    def _take(self, frame: DataFrame, number: int) -> None:
        self._started.wait()
        with self._lock:
            try:
                self._batch(frame, number)
            except BaseException as error:
                self._error = error
                raise

    def _batch(self, frame: DataFrame, number: int) -> None:
        if self._closed:
            raise StreamError(f"Graph {self._name} was stopped; nothing of the batch was stored.")
        self._bind()
        following = self._work.following
        if number > following:
            raise StreamError(
                f"Checkpoint {self._checkpoint} is at batch {number} of {self._name}, but store "
                f"{self._recorder.path} has {following} batches.\nRestore the store that belongs to"
                " the checkpoint, or run the graph under another name with a new checkpoint."
            )
        self._recorder.offsets = _offsets(self._checkpoint, number)
        if number < following:
            self._recorder.check_last(number)
        else:
            self._work.take(frame)

    def _bind(self) -> None:
        if not self._bound:
            self._recorder.bind(str(self.query.id))
            self._bound = True

    def _raised(self, wait: Any) -> Any:
        try:
            return wait()
        except StreamingQueryException as error:
            if isinstance(self._error, StreamError):
                raise self._error from error
            raise

    def _close(self) -> None:
        if not self._closed:
            self._closed = True
            self._recorder.__exit__(None, None, None)


def _offsets(checkpoint: str, number: int) -> str | None:
    """Return a checksum of Spark's offsets for a batch, or None without a local file."""
    path = Path(checkpoint.removeprefix("file:")) / "offsets" / str(number)
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return None


def _check_options(graph: Graph, results: Mapping[str, Result], trigger: Mapping[str, Any]) -> None:
    for sid in results:
        graph.node(sid)
    for name in ("continuous", "realTime"):
        if name in trigger:
            raise StreamError(
                f"trigger={name}: a graph runs batch by batch.\nUse processingTime or availableNow."
            )


@checked
def start(
    graph: Graph,
    frames: Mapping[str, DataFrame],
    store: str | Path,
    *,
    checkpoint: str | Path,
    partitions: int | None = None,
    full: bool = False,
    properties: Sequence[Property] = (),
    delays: Delays | None = None,
    results: Mapping[str, Result] | None = None,
    trigger: Mapping[str, Any] | None = None,
) -> RunningGraph:
    """Run a graph over streaming frames, and record it in a store.

    Parameters
    ----------
    frames
        For each source a frame of ``spark.readStream``, which has its columns.
    store
        The folder of a store, made if it is not there. With `partitions` all workers see it.
    checkpoint
        Spark's checkpoint of the query: a restart goes on by it together with the store.
    partitions
        The number of partitions of the keys, each with its state and a task of its own, if all
        streams have a key; None: one process runs the graph.
    full
        Whether to record the content of all streams, not only of sources.
    properties
        Properties that travel with the events, as columns of results.
    delays
        The source of outputs' delays; by default 0, a logical clock.
    results
        By stream, a function that gets the new events of each batch as a table after the batch was
        stored, so at most once; an error of it stops the query. The columns are content, ``_key``
        (if there is one), ``_n``, ``_t``, ``_d``, and each property with ``_`` before its name.
    trigger
        As for ``writeStream.trigger``, such as ``{"availableNow": True}``.

    Raises
    ------
    StreamError
        A frame of a name that is not a source, or results of one that is not a stream.
        Before it starts: a graph that cannot run there, or a store or checkpoint of something else.
    LipstickError
        With `partitions`, when Spark's workers cannot run functions of this process.
    """
    _check_options(graph, results or {}, trigger or {})
    check(graph, frames, partitions)
    frame = one_frame(graph, frames, partitions)
    if partitions:
        check_workers(frame.sparkSession)
    asked = (properties, delays or Fixed(), results or {})
    recorder = (RecordedQuery if partitions else Assertions)(store, full=full)
    recorder.__enter__()
    try:
        if isinstance(recorder, Assertions):
            work: InProcess | Partitioned = InProcess(graph, recorder, *asked)
        else:
            assert partitions is not None
            work = Partitioned(graph, recorder, slots_of(frame.sparkSession, partitions), *asked)
        running = RunningGraph(graph.name, recorder, work, frame, str(checkpoint))
        running.begin(trigger)
    except BaseException:
        recorder.__exit__(None, None, None)
        raise
    return running
