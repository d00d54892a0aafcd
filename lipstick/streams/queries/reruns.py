"""A streaming query run again over other rows than it read, with the watermarks that they give.

An event that is not there, or has another time, may move a watermark: then a later row is late no
more, or a window is not complete yet.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lipstick.streams.errors import StreamError
from lipstick.streams.queries.checkpoint import MicroBatch
from lipstick.streams.queries.pushed import WatermarkRows, watermark_rows
from lipstick.streams.queries.recorded import LATE
from lipstick.streams.queries.sources.replayed import BATCH
from lipstick.streams.queries.watermarks import Watermark, repeated, settled
from lipstick.tracking import Tracked

if TYPE_CHECKING:
    from lipstick.streams.queries.definition import AnnotatedStream


class Reruns:
    """What a streaming query would have had for watermarks.

    Parameters
    ----------
    batches
        The micro-batches that were run.
    recorded
        What they read of the streams, by name.
    """

    def __init__(
        self,
        stream: AnnotatedStream,
        batches: Sequence[MicroBatch],
        recorded: Mapping[str, Tracked],
    ) -> None:
        self._stream = stream
        self._batches = batches
        self._recorded = recorded

    def moved(self, views: Mapping[str, str]) -> list[MicroBatch] | None:
        """Return the batches with the watermarks of other rows; None: no watermark moves.

        Parameters
        ----------
        views
            By stream, the view of its rows where they are others than it had.

        Raises
        ------
        UnsupportedError
            When which rows a watermark sees cannot be told.
        StreamError
            When the watermarks that Spark had do not follow from the rows.
        """
        after = self._watermarks(views)
        batches = repeated(self._batches, after)
        last = self._batches[-1]
        if settled(self._batches, self._recorded_watermarks) == last.watermark:
            batches[-1] = replace(batches[-1], watermark=settled(self._batches, after))
        return None if _marks(batches) == _marks(self._batches) else batches

    def with_late(self, batches: Sequence[MicroBatch], views: Mapping[str, str]) -> dict[str, str]:
        """Return views of the rows of all streams with the watermarks of these batches."""
        late = {batch.number: batch.late for batch in batches}
        spark = self._stream.session.spark
        return {
            name: _with_late(spark.table(views.get(name, tracked.view)), late)
            for name, tracked in self._recorded.items()
        }

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
    def _rows(self) -> list[WatermarkRows]:
        return watermark_rows(self._stream)

    def _watermarks(self, views: Mapping[str, str]) -> list[Watermark]:
        spark = self._stream.session.spark
        result = []
        for each in self._rows:
            view = views.get(each.relation, self._recorded[each.relation].view)
            latest = (
                each.of(spark.table(view))
                .groupBy(BATCH)
                .agg(F.unix_millis(F.max(F.col(f"`{each.time}`"))).alias("latest"))
                .where("latest IS NOT NULL")
                .collect()
            )
            result.append(Watermark(each.delay, {row[BATCH]: row["latest"] for row in latest}))
        return result


def _marks(batches: Sequence[MicroBatch]) -> list[tuple[int, int]]:
    return [(batch.watermark, batch.late) for batch in batches]


def _with_late(rows: DataFrame, late: Mapping[int, int]) -> str:
    """Return a view of recorded rows with other watermarks of their batches."""
    numbers = F.create_map(*(F.lit(value) for pair in late.items() for value in pair))
    moment = F.timestamp_millis(numbers[F.col(BATCH)].cast("bigint"))
    view = f"_lipstick_rerun_{uuid.uuid4().hex[:8]}"
    rows.withColumn(LATE, moment).createOrReplaceTempView(view)
    return view
