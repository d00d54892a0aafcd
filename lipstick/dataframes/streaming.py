"""Operators of streaming data frames that SQL lacks: dropped duplicates, and watermarks.

A text reads such rows from a view, which the frame of them becomes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lipstick.dataframes.jvm import (
    Json,
    Plan,
    analysed,
    elements,
    frame_of,
    jvm_of,
    kind,
    node_at,
    sizes,
    untracked,
)
from rewriter import Deduplication, EventTimeColumn
from rewriter.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VIEW_PREFIX = "_lipstick_first_rows_"
"""The prefix of the views' names."""
_WITHIN = "DeduplicateWithinWatermark"
_WATERMARK = "EventTimeWatermark"
_DROPPING = ("Deduplicate", _WITHIN)
_OPERATORS = (*_DROPPING, _WATERMARK)
_RELATION = "deduplicate"
_NAMING = ("SubqueryAlias", "View")


def name_first_rows(spark: SparkSession, plan: Plan, nodes: Json) -> None:
    """Make views of rows without duplicates, and with watermarks, in a streaming frame.

    They are marked as tracked relations are.
    """
    size = sizes(nodes)
    for position, node in untracked(nodes, size):
        if kind(node) not in _OPERATORS:
            continue
        rows = node_at(plan, nodes, size, position)
        name = f"{VIEW_PREFIX}{uuid.uuid4().hex[:8]}"
        frame_of(spark, rows).createOrReplaceTempView(name)
        columns = [
            [int(attribute.exprId().id()), attribute.name()]
            for attribute in elements(rows.output())
        ]
        node["tracked"] = {"name": name, "columns": columns}


def uppermost(
    frame: DataFrame,
) -> tuple[DataFrame, Deduplication | None, EventTimeColumn | None]:
    """Return the input of the uppermost operator of a streaming frame, if SQL lacks that operator.

    It drops duplicates, or gives rows a watermark; else the frame itself is returned. Frames of
    Spark Connect are not looked into.
    """
    if not frame.isStreaming or not hasattr(frame, "_jdf"):
        return frame, None, None
    plan = analysed(frame)
    while plan.getClass().getSimpleName() in _NAMING:
        plan = plan.children().apply(0)
    name = plan.getClass().getSimpleName()
    if name not in _OPERATORS:
        return frame, None, None
    below = plan.children().apply(0)
    rows = frame_of(frame.sparkSession, below)
    columns = [int(attribute.exprId().id()) for attribute in elements(below.output())]
    if name == _WATERMARK:
        logical = jvm_of(frame.sparkSession).org.apache.spark.sql.catalyst.plans.logical
        delay = int(logical.EventTimeWatermark.getDelayMs(plan.delay()))
        place = columns.index(int(plan.eventTime().exprId().id()))
        return rows, None, EventTimeColumn(place, delay)
    keys = (columns.index(int(key.exprId().id())) for key in elements(plan.keys()))
    return rows, Deduplication(tuple(sorted(keys)), name == _WITHIN), None


def check_connect(relation: Mapping[str, Any]) -> None:
    """Refuse a plan of the Connect protocol that drops duplicates of streams.

    Raises
    ------
    UnsupportedError
        It has such an operator beside the tracked relations that are marked in it.
    """
    if _RELATION in _untracked_keys(relation):
        raise UnsupportedError(
            "in this data frame, dropDuplicates of a stream is not followed over Spark Connect",
            "Ask in a classic session, or drop them where the stream is tracked: "
            "track(name, stream.dropDuplicates(columns)).",
        )


def _untracked_keys(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and "tracked" not in value:
        for key, inner in value.items():
            yield key
            yield from _untracked_keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _untracked_keys(inner)
