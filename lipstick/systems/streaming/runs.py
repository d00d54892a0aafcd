"""A run of a streaming query: its micro-batches, and its results with their provenance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lipstick.systems.errors import StreamError
from lipstick.systems.streaming.checkpoint import MicroBatch, read_checkpoint
from lipstick.systems.streaming.kept import Keeper
from lipstick.systems.streaming.periods import Watch
from lipstick.systems.streaming.results import StreamResults
from lipstick.systems.streaming.starts import Start, read_starts
from rewriter.streaming import Emission, OutputMode

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from lipstick.systems.streaming.definition import AnnotatedStream


class StreamRun:
    """A run of a streaming query, while it runs or afterwards.

    Has the methods of Spark's ``StreamingQuery``, where this process started it.

    Parameters
    ----------
    begun
        The number of its start, and the start's record.
    """

    def __init__(
        self,
        stream: AnnotatedStream,
        checkpoint: Path,
        mode: OutputMode,
        query: StreamingQuery | None = None,
        begun: tuple[int, Start] | None = None,
    ) -> None:
        stream.reading(mode, Emission(0))
        self._stream = stream
        self.checkpoint = checkpoint
        """The folder of the query's checkpoint."""
        self._mode = mode
        self._query = query
        self._keeper = None
        if query is not None and begun is not None:
            number, start = begun
            spark = stream.session.spark
            watch = Watch(spark, checkpoint, number, stream.still, start.relations)
            self._keeper = Keeper(checkpoint, lambda: query.isActive, number, watch.look)

    @property
    def batches(self) -> Sequence[MicroBatch]:
        """The committed micro-batches, ascending."""
        return read_checkpoint(self.checkpoint)

    def results(self, batch: int | None = None) -> StreamResults:
        """Return the rows up to a micro-batch, with their provenance.

        In output mode append, these are all rows that were emitted; in update and complete, the
        rows as they were after the batch.

        Parameters
        ----------
        batch
            Its number; None: the last that was committed.

        Raises
        ------
        StreamError
            When there is no such batch.
            When batches were computed by another text of the query, under other settings, or with
            other rows of a relation that is not a stream.
        SourceError, SourceChangedError
            When files that the stream has read are gone, or were changed.
        """
        return self._results(self._until(batch), None)

    def emitted(self, batch: int) -> StreamResults:
        """Return the rows that one micro-batch passed to the sink, with their provenance.

        See :meth:`results`.
        """
        return self._results(self._until(batch), batch)

    def stop(self) -> None:
        """Stop the query."""
        if self._query is not None:
            self._query.stop()
        if self._keeper is not None:
            self._keeper.stop()

    def __getattr__(self, name: str) -> Any:
        if self._query is None:
            raise AttributeError(
                f"{name!r} is of a query that runs, and this one was read from its checkpoint"
            )
        return getattr(self._query, name)

    def __repr__(self) -> str:
        return f"<run of a streaming query, {len(self.batches)} micro-batches>"

    def _until(self, number: int | None) -> list[MicroBatch]:
        batches = read_checkpoint(self.checkpoint)
        last = batches[-1].number if batches else -1
        if number is not None and not 0 <= number <= last:
            raise StreamError(
                f"There is no micro-batch {number}: {last + 1} were committed, from 0.\n"
                "See batches."
            )
        return batches if number is None else batches[: number + 1]

    def _results(self, batches: Sequence[MicroBatch], batch: int | None) -> StreamResults:
        emission = partial(self._emission, batch=batch)
        history = read_starts(self.checkpoint)
        return StreamResults(self._stream, self._mode, batches, emission, history)

    def _emission(self, batches: Sequence[MicroBatch], batch: int | None) -> Emission:
        watermark = batches[-1].watermark if batches else 0
        if batch is None or self._mode is OutputMode.COMPLETE:
            return Emission(watermark)
        before = batches[-2].watermark if len(batches) > 1 else None
        return Emission(watermark, before, batch)
