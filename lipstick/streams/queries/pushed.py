"""Which rows of a stream its watermarks see.

Spark's optimiser moves conditions on other columns below a watermark, which then sees only the rows
that meet them. Which they are is read from the optimised plan of the query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from lipstick.dataframes.jvm import active, alias, analysed, elements, frame_of, jvm_of, sequence
from lipstick.errors import UnsupportedError
from lipstick.streams.queries.leaves import tracked_by
from lipstick.streams.queries.recorded import of_stream
from lipstick.streams.queries.sources.replayed import BATCH

if TYPE_CHECKING:
    from lipstick.dataframes.jvm import Plan
    from lipstick.streams.queries.definition import AnnotatedStream


@dataclass(frozen=True, slots=True)
class WatermarkRows:
    """The rows that one watermark of a query sees.

    Parameters
    ----------
    relation
        The stream.
    time, delay
        The column of event times, and how far the watermark is behind, in milliseconds.
    conditions
        Spark's expressions of the conditions below the watermark.
    columns
        Spark's attributes of the source that they are over, by name.
    """

    relation: str
    time: str
    delay: int
    conditions: tuple[Any, ...]
    columns: tuple[tuple[str, Any], ...]

    def of(self, rows: DataFrame) -> DataFrame:
        """Return those of the recorded rows of the stream, with their batch and time."""
        if not self.conditions:
            return rows
        spark = rows.sparkSession
        logical = jvm_of(spark).org.apache.spark.sql.catalyst.plans.logical
        plan = analysed(rows)
        by_name = {attribute.name(): attribute for attribute in elements(plan.output())}
        named = [
            alias(spark, by_name[name], name, attribute.exprId())
            for name, attribute in self.columns
        ]
        plan = logical.Project(sequence(spark, [*named, by_name[BATCH]]), plan)
        for condition in self.conditions:
            plan = logical.Filter(condition, plan)
        return frame_of(spark, plan)


def watermark_rows(stream: AnnotatedStream) -> list[WatermarkRows]:
    """Return what the watermarks of a query see.

    Raises
    ------
    UnsupportedError
        When the plan cannot be told: over Spark Connect, or where it has more below a watermark.
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
    return [_seen(stream, node) for node in _watermarks(plan)]


def _watermarks(plan: Plan) -> Iterator[Plan]:
    if plan.getClass().getSimpleName() == "EventTimeWatermark":
        yield plan
    for child in elements(plan.children()):
        yield from _watermarks(child)


def _seen(stream: AnnotatedStream, watermark: Plan) -> WatermarkRows:
    conditions = []
    below = watermark.children().apply(0)
    while below.getClass().getSimpleName() in ("Filter", "Project"):
        if below.getClass().getSimpleName() == "Filter":
            conditions.append(below.condition())
        below = below.children().apply(0)
    name = tracked_by(stream, below)
    if name is None:
        raise UnsupportedError(
            "what stands below a watermark of this query in Spark's plan is not understood",
            "Ask the annotations, or what_if of a deletion in another relation.",
            stream.query,
        )
    source = of_stream(stream.relations[name])
    assert source.time is not None
    columns = tuple((attribute.name(), attribute) for attribute in elements(below.output()))
    return WatermarkRows(name, source.time, source.delay, tuple(conditions), columns)
