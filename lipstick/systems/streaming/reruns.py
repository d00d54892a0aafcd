"""A streaming query run again over different rows, with the watermarks that follow from them.

Without an event, or with a different event time, a watermark may move: then a later row is no
longer late, or a window is not yet complete.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lipstick.dataframes.jvm import active, alias, analysed, elements, frame_of, jvm_of, sequence
from lipstick.errors import UnsupportedError
from lipstick.systems.errors import StreamError
from lipstick.systems.streaming.checkpoint import MicroBatch
from lipstick.systems.streaming.leaves import tracked_by
from lipstick.systems.streaming.prepared import over_rows
from lipstick.systems.streaming.recorded import LATE
from lipstick.systems.streaming.sources.replayed import BATCH
from lipstick.tracking.tracker import Tracked

if TYPE_CHECKING:
    from lipstick.dataframes.jvm import Plan
    from lipstick.systems.streaming.definition import AnnotatedStream


class Reruns:
    """The watermarks of a streaming query over different rows.

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
        """Return the batches with the watermarks of changed rows, or None if no watermark moves.

        Parameters
        ----------
        views
            By stream with changed rows, the view of its rows.

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

    def _repeated(
        self, watermarks: Sequence[DelayedWatermark], restarts: Set[int]
    ) -> list[MicroBatch]:
        """Return the batches with these watermarks; the last one has the next batch's watermark."""
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
    def _watermarks_of_all(self) -> list[DelayedWatermark]:
        """The watermarks over all recorded rows."""
        return self._watermarks({})

    @cached_property
    def _restarts(self) -> list[Set[int]]:
        """The smallest and the largest possible sets of batches with which runs began.

        With all recorded rows, they must yield Spark's watermarks.
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

    def _watermarks(self, views: Mapping[str, str]) -> list[DelayedWatermark]:
        result = []
        for rows_seen in self._rows:
            latest: dict[int, int] = {}
            for each in rows_seen:
                for batch, time in self._latest(each, views).items():
                    latest[batch] = max(time, latest.get(batch, time))
            result.append(DelayedWatermark(rows_seen[0].delay, latest))
        return result

    def _latest(self, each: WatermarkRows, views: Mapping[str, str]) -> dict[int, int]:
        """Return the latest event time that a watermark sees in each batch."""
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
    """Return a view of recorded rows with changed watermarks of their batches."""
    numbers = F.create_map(*(F.lit(value) for pair in late.items() for value in pair))
    moment = F.timestamp_millis(numbers[F.col(BATCH)].cast("bigint"))
    view = f"_lipstick_rerun_{uuid.uuid4().hex[:8]}"
    rows.withColumn(LATE, moment).createOrReplaceTempView(view)
    return view


TIME = "_lipstick_time"
_WITH_ID = 4
"""Number of parameters of Spark's operator in versions where the first is an id."""


@dataclass(frozen=True, slots=True)
class WatermarkRows:
    """The rows that one watermark of a query sees.

    Parameters
    ----------
    relation
        The stream.
    delay
        The delay of the watermark in milliseconds.
    below
        Spark's operators below the watermark.
    time
        Its attribute of event times.
    prefix
        The prefix of the names of the source's columns in recorded rows.
    """

    relation: str
    delay: int
    below: Any
    time: Any
    prefix: str

    def of(self, rows: DataFrame) -> DataFrame:
        """Return the recorded rows that the watermark sees, with their batch and ``TIME``."""
        spark = rows.sparkSession
        logical = jvm_of(spark).org.apache.spark.sql.catalyst.plans.logical
        plan = over_rows(spark, self.below, rows, self.prefix, [BATCH])
        batch = next(a for a in elements(plan.output()) if a.name() == BATCH)
        named = jvm_of(spark).org.apache.spark.sql.catalyst.expressions.NamedExpression
        time = alias(spark, self.time, TIME, named.newExprId())
        return frame_of(spark, logical.Project(sequence(spark, [time, batch]), plan))


def watermark_rows(stream: AnnotatedStream) -> list[list[WatermarkRows]]:
    """Return, for each watermark of a query, the rows that it sees at each of its positions.

    The watermark of a stream that is read several times may occur several times in the plan.

    Raises
    ------
    UnsupportedError
        When the plan is not known: over Spark Connect, or where it has more below a watermark.
    """
    frame = stream.df
    if not hasattr(frame, "_jdf"):
        raise UnsupportedError(
            "whether a deletion moves a watermark is not known over Spark Connect",
            "Ask it in a classic session.",
            stream.query,
        )
    spark = stream.session.spark
    with active(spark):
        plan = spark._jsparkSession.sessionState().optimizer().execute(analysed(frame))
    seen: dict[str, list[WatermarkRows]] = {}
    for number, node in enumerate(_watermarks(plan)):
        identity = str(node.productElement(0)) if node.productArity() == _WITH_ID else str(number)
        seen.setdefault(identity, []).append(_seen(stream, node))
    return list(seen.values())


def _watermarks(plan: Plan) -> Iterator[Plan]:
    if plan.getClass().getSimpleName() == "EventTimeWatermark":
        yield plan
    for child in elements(plan.children()):
        yield from _watermarks(child)


def _seen(stream: AnnotatedStream, watermark: Plan) -> WatermarkRows:
    below = watermark.children().apply(0)
    leaf = below
    while leaf.getClass().getSimpleName() in ("Filter", "Project"):
        leaf = leaf.children().apply(0)
    name = tracked_by(stream.sources, leaf)
    if name is None:
        raise UnsupportedError(
            "the operators below a watermark in Spark's plan of this query are not supported",
            "Ask the annotations, or what_if of a deletion in another relation.",
            stream.query,
        )
    source = stream.sources[name]
    source_delay = jvm_of(stream.session.spark).org.apache.spark.sql.catalyst.plans.logical
    delay = int(source_delay.EventTimeWatermark.getDelayMs(watermark.delay()))
    return WatermarkRows(name, delay, below, watermark.eventTime(), source.raw_prefix)


_MOST_UNKNOWN = 300
"""Limit on the possible restarts that are checked against Spark's recorded watermarks."""
Latest = Mapping[int, int]
"""The latest event time of each batch that has rows, in milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class DelayedWatermark:
    """A watermark of a query: its delay in milliseconds, and the latest times that it saw."""

    delay: int
    latest: Latest


def repeated(
    batches: Sequence[MicroBatch],
    watermarks: Sequence[DelayedWatermark],
    restarts: Set[int] | None = None,
) -> list[MicroBatch]:
    """Return the batches with the watermarks that follow from these event times.

    When the watermark moves, Spark runs a batch without data before the next one if no data wait
    yet: it is assumed to do so exactly where it did in the recording. A run begins without a
    watermark.

    Parameters
    ----------
    restarts
        The batches with which a run began; None: the known ones.
    """
    known = known_restarts(batches)
    reset = known if restarts is None else restarts
    settles = _settles(batches, known)
    result: list[MicroBatch] = []
    current, before = 0, 0
    highest = [0] * len(watermarks)
    for number, batch in enumerate(batches):
        settled_before = settles
        if batch.number in reset:
            highest = [0] * len(watermarks)
        if batch.number in known:
            waited = number > 0 and batches[number - 1].watermark != batch.watermark
            settled_before = settles and not waited
        late = current if settled_before and batch.has_data else before
        result.append(replace(batch, watermark=current, late=late))
        before = current
        current = _after(batch, watermarks, highest, current)
    return result


def settled(
    batches: Sequence[MicroBatch],
    watermarks: Sequence[DelayedWatermark],
    restarts: Set[int] | None = None,
) -> int:
    """Return the watermark after the last batch, which the next batch would have."""
    known = known_restarts(batches) if restarts is None else restarts
    current, highest = 0, [0] * len(watermarks)
    for batch in batches:
        if batch.number in known:
            highest = [0] * len(watermarks)
        current = _after(batch, watermarks, highest, current)
    return current


def known_restarts(batches: Sequence[MicroBatch]) -> frozenset[int]:
    """Return the batches that a run of the query is known to have begun with."""
    return frozenset(batch.number for batch in batches if batch.restarted)


def possible_restarts(
    batches: Sequence[MicroBatch], watermarks: Sequence[DelayedWatermark]
) -> frozenset[int]:
    """Return the batches with which a run may have begun, given the recorded watermarks.

    Restarts only lower watermarks, so one that makes them lower than recorded is impossible. For
    any subset of the possible restarts, the watermarks lie between the ones of all and of none.
    """
    known = known_restarts(batches)
    unknown = [batch.number for batch in batches[1:] if batch.restarted is None]
    if len(watermarks) < 2 or len(unknown) > _MOST_UNKNOWN:
        return known.union(unknown)
    recorded = [batch.watermark for batch in batches]

    def lowers(number: int) -> bool:
        given = repeated(batches, watermarks, known | {number})
        pairs = zip(given, recorded, strict=True)
        return any(batch.watermark < watermark for batch, watermark in pairs)

    return known.union(number for number in unknown if not lowers(number))


def _after(
    batch: MicroBatch, watermarks: Sequence[DelayedWatermark], highest: list[int], current: int
) -> int:
    """Return the watermark after a batch, and advance ``highest``, the streams' watermarks, in
    place.
    """
    for number, watermark in enumerate(watermarks):
        latest = watermark.latest.get(batch.number)
        if latest is not None:
            highest[number] = max(highest[number], latest - watermark.delay)
    choose = max if batch.policy == "max" else min
    return max(current, choose(highest, default=0))


def _settles(batches: Sequence[MicroBatch], restarts: Set[int]) -> bool:
    """Return True if a batch without data followed each move of the watermark in its run."""
    pairs = pairwise(batches)
    return not any(
        after.watermark != before.watermark
        and after.has_data
        and (after.planned or after.number not in restarts)
        for before, after in pairs
    )
