"""The rows of a stream that its watermarks see.

Spark's optimiser moves conditions on other columns below a watermark, which then sees only the rows
that meet them. The optimised plan of the query has these conditions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from lipstick.dataframes.jvm import active, alias, analysed, elements, frame_of, jvm_of, sequence
from lipstick.errors import UnsupportedError
from lipstick.systems.streaming.leaves import tracked_by
from lipstick.systems.streaming.prepared import over_rows
from lipstick.systems.streaming.recorded import of_stream
from lipstick.systems.streaming.sources.replayed import BATCH

if TYPE_CHECKING:
    from lipstick.dataframes.jvm import Plan
    from lipstick.systems.streaming.definition import AnnotatedStream


TIME = "_lipstick_time"
_WITH_ID = 4
"""So many parameters has Spark's operator in versions where the first is an identity."""


@dataclass(frozen=True, slots=True)
class WatermarkRows:
    """The rows that one watermark of a query sees.

    Parameters
    ----------
    relation
        The stream.
    delay
        How far the watermark is behind, in milliseconds.
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
    """Return, for each watermark of a query, the rows that it sees at each of its places.

    The watermark of a stream that is read several times may stand in several places of the plan.

    Raises
    ------
    UnsupportedError
        When the plan is not known: over Spark Connect, or where it has more below a watermark.
    """
    frame = stream.df
    if not hasattr(frame, "_jdf"):
        raise UnsupportedError(
            "whether a deletion moves a watermark is not told over Spark Connect",
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
    name = tracked_by(stream, leaf)
    if name is None:
        raise UnsupportedError(
            "what stands below a watermark of this query in Spark's plan is not understood",
            "Ask the annotations, or what_if of a deletion in another relation.",
            stream.query,
        )
    source = of_stream(stream.relations[name])
    source_delay = jvm_of(stream.session.spark).org.apache.spark.sql.catalyst.plans.logical
    delay = int(source_delay.EventTimeWatermark.getDelayMs(watermark.delay()))
    return WatermarkRows(name, delay, below, watermark.eventTime(), source.raw_prefix)
