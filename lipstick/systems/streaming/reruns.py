"""A streaming query run again over other rows than it read, with the watermarks that they give.

An event that is not there, or has another time, may move a watermark: then a later row is late no
more, or a window is not complete yet.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lipstick.systems.streaming.checkpoint import MicroBatch
from lipstick.systems.streaming.errors import StreamError
from lipstick.systems.streaming.pushed import TIME, WatermarkRows, watermark_rows
from lipstick.systems.streaming.recorded import LATE
from lipstick.systems.streaming.sources.replayed import BATCH
from lipstick.systems.streaming.watermarks import (
    Watermark,
    known_restarts,
    possible_restarts,
    repeated,
    settled,
)
from lipstick.tracking.tracker import Tracked

if TYPE_CHECKING:
    from lipstick.systems.streaming.definition import AnnotatedStream


class Reruns:
    """The watermarks that a streaming query would have had over other rows.

    Parameters
    ----------
    batches
        The micro-batches that were run.
    recorded
        The rows that they read of the streams, by name.
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
            When the rows that a watermark sees are not known.
        StreamError
            When the watermarks that Spark had do not follow from the rows.
        """
        after = self._watermarks(views)
        if after == self._watermarks_of_all:
            return None
        possible = self._restarts
        moved = [self._repeated(after, restarts) for restarts in possible]
        if any(_marks(batches) != _marks(moved[0]) for batches in moved):
            shown = ", ".join(map(str, sorted(possible[-1] - possible[0])))
            raise StreamError(
                f"Whether the query was started again before the micro-batches {shown} was not "
                "recorded, and the watermarks of its streams without these rows depend on it.\n"
                "Start it by the writeStream of the annotated query, which records that."
            )
        return None if _marks(moved[0]) == _marks(self._batches) else moved[0]

    def _repeated(self, watermarks: Sequence[Watermark], restarts: Set[int]) -> list[MicroBatch]:
        """Return the batches with these watermarks; the last as the next one would have it."""
        batches = repeated(self._batches, watermarks, restarts)
        last = self._batches[-1].watermark
        if settled(self._batches, self._watermarks_of_all, restarts) == last:
            reached = settled(self._batches, watermarks, restarts)
            batches[-1] = replace(batches[-1], watermark=reached)
        return batches

    def with_late(self, batches: Sequence[MicroBatch], views: Mapping[str, str]) -> dict[str, str]:
        """Return views of the rows of all streams with the watermarks of these batches."""
        late = {batch.number: batch.late for batch in batches}
        spark = self._stream.session.spark
        return {
            name: _with_late(spark.table(views.get(name, tracked.view)), late)
            for name, tracked in self._recorded.items()
        }

    @cached_property
    def _watermarks_of_all(self) -> list[Watermark]:
        """The watermarks of all recorded rows."""
        return self._watermarks({})

    @cached_property
    def _restarts(self) -> list[Set[int]]:
        """The batches that runs began with: as few, and as many, as is possible.

        All recorded rows must have the watermarks that Spark had.
        """
        known = known_restarts(self._batches)
        possible = possible_restarts(self._batches, self._watermarks_of_all)
        choices: list[Set[int]] = [known] if possible == known else [known, possible]
        low = repeated(self._batches, self._watermarks_of_all, choices[-1])
        high = repeated(self._batches, self._watermarks_of_all, choices[0])
        between = all(
            least.watermark <= batch.watermark <= most.watermark
            for least, batch, most in zip(low, self._batches, high, strict=True)
        )
        if between and (len(choices) > 1 or _marks(low) == _marks(self._batches)):
            return choices
        raise StreamError(
            "The watermarks of this stream do not follow from the rows that it read.\n"
            "Ask for the results of a query that nothing but Spark's own sources feeds."
        )

    @cached_property
    def _rows(self) -> list[list[WatermarkRows]]:
        return watermark_rows(self._stream)

    def _watermarks(self, views: Mapping[str, str]) -> list[Watermark]:
        result = []
        for rows_seen in self._rows:
            latest: dict[int, int] = {}
            for each in rows_seen:
                for batch, time in self._latest(each, views).items():
                    latest[batch] = max(time, latest.get(batch, time))
            result.append(Watermark(rows_seen[0].delay, latest))
        return result

    def _latest(self, each: WatermarkRows, views: Mapping[str, str]) -> dict[int, int]:
        """Return the latest event time of each batch that a watermark sees."""
        view = views.get(each.relation, self._recorded[each.relation].view)
        latest = (
            each.of(self._stream.session.spark.table(view))
            .groupBy(BATCH)
            .agg(F.unix_millis(F.max(TIME)).alias("latest"))
            .where("latest IS NOT NULL")
            .collect()
        )
        return {row[BATCH]: row["latest"] for row in latest}


def _marks(batches: Sequence[MicroBatch]) -> list[tuple[int, int]]:
    return [(batch.watermark, batch.late) for batch in batches]


def _with_late(rows: DataFrame, late: Mapping[int, int]) -> str:
    """Return a view of recorded rows with other watermarks of their batches."""
    numbers = F.create_map(*(F.lit(value) for pair in late.items() for value in pair))
    moment = F.timestamp_millis(numbers[F.col(BATCH)].cast("bigint"))
    view = f"_lipstick_rerun_{uuid.uuid4().hex[:8]}"
    rows.withColumn(LATE, moment).createOrReplaceTempView(view)
    return view
