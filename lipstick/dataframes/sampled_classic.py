"""Samples of a classic session that no TABLESAMPLE says, as filters by the numbers they draw."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lipstick.dataframes.jvm import (
    Json,
    Plan,
    analysed,
    changed,
    described,
    frame_of,
    kind,
    sizes,
    untracked,
)
from rewriter.frames.catalyst.refusals import is_local_sort
from rewriter.frames.writing.rows import condition, is_percentage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def with_filters(spark: SparkSession, plan: Plan, nodes: Json) -> DataFrame | None:
    """Return the frame of a plan without such samples; None where it has none.

    What tracked relations are made of, which are marked, is kept.
    """
    positions = {
        position
        for position, node in untracked(nodes, sizes(nodes))
        if kind(node) == "Sample" and _is_drawn(nodes, position)
    }
    if not positions:
        return None
    return frame_of(spark, changed(spark, plan, nodes, positions, partial(_filtered, spark)))


def _is_drawn(nodes: Json, position: int) -> bool:
    sample, below = nodes[position : position + 2]
    if sample["withReplacement"]:
        return False
    return is_local_sort(kind(below), below) or not is_percentage(*_bounds_and_seed(sample))


def _filtered(spark: SparkSession, sample: Plan) -> Plan:
    rows = frame_of(spark, sample.children().apply(0))
    return analysed(rows.where(condition(*_bounds_and_seed(described(sample)[0]))))


def _bounds_and_seed(sample: dict[str, Any]) -> tuple[tuple[float, float], int]:
    return (float(sample["lowerBound"]), float(sample["upperBound"])), int(sample["seed"])
