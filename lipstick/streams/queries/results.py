"""Results of a streaming query, with their provenance."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lipstick.capture.capture import Capture
from lipstick.deletion import Cascade, Deletion, resolve_deletion, without
from lipstick.derived.hypothesis import Hypothesis, Reduced
from lipstick.errors import UnsupportedError
from lipstick.frame import AnnotatedFrame
from lipstick.memory import MemoryWhatIf, WhatIfMany
from lipstick.scenarios import Given
from lipstick.streams.errors import StreamError
from lipstick.streams.queries.checkpoint import MicroBatch
from lipstick.streams.queries.pushed import WatermarkRows, watermark_rows
from lipstick.streams.queries.recorded import BATCH, LATE, recorded
from lipstick.streams.queries.watermarks import Watermark, repeated, settled
from lipstick.tracking import Tracked, verify_key
from lipstick.views import drop_once_read
from lipstick.whatif import WhatIf
from rewriter import Block, lower_query
from rewriter.emit.statements import plain_sql
from rewriter.streaming import Emission, OutputMode, Reading

if TYPE_CHECKING:
    from lipstick.streams.queries.definition import AnnotatedStream

Emitted = Callable[[Sequence[MicroBatch]], Emission]
Gone = Mapping[str, tuple[str, tuple[str, ...]]]
"""By relation the view of the tokens that are deleted, and their columns."""


class StreamResults(AnnotatedFrame):
    """The rows of a streaming query up to a micro-batch; made by :class:`StreamRun`.

    Everything that the answer of an ordinary query knows, they know. Annotations and analyses are
    of the stream with its watermarks as they were. A deletion may move a watermark, so that a row
    is late no more or a window not complete: ``what_if`` answers what the stream, run again
    without the events in the same micro-batches, would have emitted.
    """

    def __init__(
        self,
        stream: AnnotatedStream,
        mode: OutputMode,
        batches: Sequence[MicroBatch],
        emitted: Emitted,
    ) -> None:
        self._stream = stream
        self._mode = mode
        self._batches = batches
        self._emitted = emitted
        emission = emitted(batches)
        self._reading = stream.reading(mode, emission)
        only = emission.batch if self._reading.stateless else None
        self._recorded = _recorded(stream, batches, only)
        if self._reading.sessions:
            _check_sessions(stream, self._recorded)
        root = _lowered(stream, self._reading, self._recorded)
        super().__init__(stream.session, stream.query, stream.expression, stream.schema, root)

    @property
    def _known(self) -> Mapping[str, Tracked]:
        return {**self._stream.relations, **self._recorded}

    @property
    def df(self) -> DataFrame:
        """The plain rows."""
        return self._named(self._session.spark.sql(plain_sql(self.root)))

    # -- what if ---------------------------------------------------------------------------

    def what_if(
        self, delete: Mapping[str, Any], cascade: Cascade | None = None, *, method: str = "auto"
    ) -> WhatIf:
        """Return what the stream would have emitted, had some events not been there.

        See :meth:`lipstick.AnnotatedFrame.what_if`. Where the deletion moves no watermark, the
        captured annotations answer; else the query is run over what is left, with the watermarks
        that this gives.

        Raises
        ------
        UnsupportedError
            When the watermarks of what is left cannot be told.
        """
        batches = self._moved(delete, cascade)
        if batches is None:
            return super().what_if(delete, cascade, method=method)
        return self._again(delete, cascade, batches)

    def what_if_many(self, scenarios: Given) -> WhatIfMany:
        """See :meth:`lipstick.Capture.what_if_many`; the query must not depend on watermarks."""
        self._require_no_watermark("what_if, one scenario at a time")
        return super().what_if_many(scenarios)

    def what_if_updated(self, update: Mapping[str, Any]) -> MemoryWhatIf:
        """See :meth:`lipstick.Capture.what_if_updated`; the query must not depend on watermarks."""
        self._require_no_watermark("what_if, which deletes")
        return super().what_if_updated(update)

    def what_if_updated_many(self, scenarios: Given) -> WhatIfMany:
        """See :meth:`lipstick.Capture.what_if_updated_many`; as :meth:`what_if_updated`."""
        self._require_no_watermark("what_if, one scenario at a time")
        return super().what_if_updated_many(scenarios)

    def _require_no_watermark(self, instead: str) -> None:
        if self._reading.by_time:
            raise UnsupportedError(
                "what this query emits depends on watermarks, which such a change may move",
                f"Ask {instead}.",
                self._query,
            )

    def _moved(self, delete: Mapping[str, Any], cascade: Cascade | None) -> list[MicroBatch] | None:
        """Return the batches with the watermarks of what is left; None: no watermark moves."""
        if not self._reading.by_time or not delete:
            return None
        deletion = self._deletion(self._hypothetical(self.root), delete, cascade)
        gone = deletion.views(self._session.spark)
        after = self._watermarks(gone)
        for view, _ in gone.values():
            self._session.spark.catalog.dropTempView(view)
        batches = repeated(self._batches, after)
        last = self._batches[-1]
        if settled(self._batches, self._recorded_watermarks) == last.watermark:
            batches[-1] = replace(batches[-1], watermark=settled(self._batches, after))
        return None if _marks(batches) == _marks(self._batches) else batches

    def _hypothetical(self, root: Block) -> Capture:
        """Return what answers about a query over these rows without being written."""
        manifest = replace(self.manifest("copy"), root=root)
        return Capture(self._session.store, manifest, self._session.spark, self._known)

    def _deletion(
        self, asked: Capture, delete: Mapping[str, Any], cascade: Cascade | None
    ) -> Deletion:
        """Return the tokens to delete of what the query reads, and of what that was made of."""
        delete = self._concerning(delete)
        asked.ancestry.check_unambiguous(delete)
        return resolve_deletion(self._session.spark, asked.cluster.readable, delete, cascade)

    @cached_property
    def _recorded_watermarks(self) -> list[Watermark]:
        """The watermarks of all recorded rows, which must be those that Spark had."""
        watermarks = self._watermarks({})
        if _marks(repeated(self._batches, watermarks)) != _marks(self._batches):
            raise StreamError(
                "The watermarks of this stream do not follow from the rows that it read.\n"
                "Ask for the results of a query that nothing but Spark's own sources feeds."
            )
        return watermarks

    @cached_property
    def _watermark_rows(self) -> list[WatermarkRows]:
        return watermark_rows(self._stream)

    def _watermarks(self, gone: Gone) -> list[Watermark]:
        """Return the watermarks of the recorded rows, without those that are gone."""
        spark = self._session.spark
        result = []
        for each in self._watermark_rows:
            tracked = self._recorded[each.relation]
            view = tracked.view
            if each.relation in gone:
                view = without(spark, view, *gone[each.relation])
            latest = (
                each.of(spark.table(view))
                .groupBy(BATCH)
                .agg(F.unix_millis(F.max(F.col(f"`{each.time}`"))).alias("latest"))
                .where("latest IS NOT NULL")
                .collect()
            )
            if each.relation in gone:
                spark.catalog.dropTempView(view)
            result.append(Watermark(each.delay, {row[BATCH]: row["latest"] for row in latest}))
        return result

    def _again(
        self, delete: Mapping[str, Any], cascade: Cascade | None, batches: Sequence[MicroBatch]
    ) -> WhatIf:
        """Run the query over what is left, with other watermarks."""
        self._check_sources()
        spark = self._session.spark
        reading = self._stream.reading(self._mode, self._emitted(batches))
        asked = self._hypothetical(_lowered(self._stream, reading, self._recorded))
        hypothesis = Hypothesis(spark, self._deletion(asked, delete, cascade), rerun=True)
        reduced = hypothesis.reduced(asked)
        late = {batch.number: batch.late for batch in batches}
        streams = {
            name: _with_late(spark.table(tracked.view), late)
            for name, tracked in self._recorded.items()
        }
        replaced = {**reduced.replaced, **streams}
        new = hypothesis.rows(asked, Reduced(reduced.deletion, replaced))
        drop_once_read(new, streams.values())
        old = spark.sql(plain_sql(self.root, identity=True))
        return WhatIf(spark, self.manifest("copy"), new, old, "rerun")


def _marks(batches: Sequence[MicroBatch]) -> list[tuple[int, int]]:
    return [(batch.watermark, batch.late) for batch in batches]


def _recorded(
    stream: AnnotatedStream, batches: Sequence[MicroBatch], only: int | None
) -> dict[str, Tracked]:
    """Return what batches, or one of them, read of the streams of a query."""
    session = stream.session
    result = {}
    for name in stream.streams:
        tracked = stream.relations[name]
        result[name] = recorded(session, tracked, batches, only)
        if tracked.unique:
            verify_key(name, session.spark.table(result[name].view), tracked.token)
    return result


def _check_sessions(stream: AnnotatedStream, relations: Mapping[str, Tracked]) -> None:
    """Refuse sessions that Spark may have emitted before one more of their rows came."""
    for name, tracked in relations.items():
        time = stream.streams[name].time
        if time is None:
            continue
        rows = stream.session.spark.table(tracked.view).where(F.col(f"`{time}`") <= F.col(LATE))
        split = rows.head()
        if split is not None:
            raise UnsupportedError(
                f"a row of {name!r} came after the watermark had passed its time ({split[time]}), "
                "so that a session may have been emitted in two parts, which is not followed",
                "Give the watermark a delay that no event exceeds.",
                stream.query,
            )


def _lowered(stream: AnnotatedStream, reading: Reading, relations: Mapping[str, Tracked]) -> Block:
    tokens = {name: tracked.token_source for name, tracked in stream.relations.items()}
    tokens |= {name: tracked.token_source for name, tracked in relations.items()}
    return lower_query(reading.root, tokens, stream.query, stream.converted)


def _with_late(rows: DataFrame, late: Mapping[int, int]) -> str:
    """Return a view of recorded rows with other watermarks of their batches."""
    numbers = F.create_map(*(F.lit(value) for pair in late.items() for value in pair))
    moment = F.timestamp_millis(numbers[F.col(BATCH)].cast("bigint"))
    view = f"_lipstick_rerun_{uuid.uuid4().hex[:8]}"
    rows.withColumn(LATE, moment).createOrReplaceTempView(view)
    return view
