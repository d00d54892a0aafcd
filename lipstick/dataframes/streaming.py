"""What streaming data frames do that no text of a query says: they drop duplicates.

A text reads the rows without duplicates from a view, which the frame of them becomes.
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
    kind,
    node_at,
    sizes,
    untracked,
)
from rewriter import Deduplication
from rewriter.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

VIEW_PREFIX = "_lipstick_first_rows_"
"""What the names of the views begin with."""
_WITHIN = "DeduplicateWithinWatermark"
_OPERATORS = ("Deduplicate", _WITHIN)
_RELATION = "deduplicate"
_NAMING = ("SubqueryAlias", "View")


def name_first_rows(spark: SparkSession, plan: Plan, nodes: Json) -> None:
    """Make views of the rows without duplicates in a streaming frame, and mark them as such."""
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


def deduplicated(frame: DataFrame) -> tuple[DataFrame, Deduplication] | None:
    """Return the rows that a streaming frame drops the duplicates of; None if it does not.

    Frames of Spark Connect are not looked into.
    """
    if not frame.isStreaming or not hasattr(frame, "_jdf"):
        return None
    plan = analysed(frame)
    while plan.getClass().getSimpleName() in _NAMING:
        plan = plan.children().apply(0)
    name = plan.getClass().getSimpleName()
    if name not in _OPERATORS:
        return None
    below = plan.children().apply(0)
    columns = [int(attribute.exprId().id()) for attribute in elements(below.output())]
    keys = (columns.index(int(key.exprId().id())) for key in elements(plan.keys()))
    distinct = Deduplication(tuple(sorted(keys)), name == _WITHIN)
    return frame_of(frame.sparkSession, below), distinct


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
