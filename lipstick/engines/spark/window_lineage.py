"""Rows of a block that values of its window functions come from, on the cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from rewriter.blocks import Block
from rewriter.emit import Extent
from rewriter.emit.statements import extents_sql


def with_window_rows(
    spark: SparkSession,
    block: Block,
    members_view: Callable[[Block], str],
    rows_views: Mapping[str, str],
    selected: DataFrame,
) -> DataFrame:
    """Return the identities of the selected rows of a block and of those they depend on.

    That is all rows between the first and the last one that a window function reads at a selected
    row: found by counting, in the order of the window, the selected rows whose frames have begun
    and not ended. Cost: one sort per window function.
    """
    if not block.identity:
        return selected
    sql, extents = extents_sql(block, members_view, rows_views)
    rows = spark.sql(sql)
    names = [f"`{name}`" for name in block.identity]
    keys = selected.toDF(*(f"_s{number}" for number in range(len(names))))
    same = [rows[name].eqNullSafe(keys[f"_s{number}"]) for number, name in enumerate(names)]
    chosen = rows.join(keys, reduce(and_, same), "left_semi")
    read_rows = [_read_at(rows, chosen, extent, names) for extent in extents]
    return reduce(DataFrame.union, [selected, *read_rows]).distinct()


def _read_at(rows: DataFrame, chosen: DataFrame, extent: Extent, identity: list[str]) -> DataFrame:
    """Return the identities of the rows that one window function reads at the chosen rows."""
    partition = [F.col(f"`{name}`") for name in extent.partition]
    columns = [F.col(name) for name in identity]
    at = F.col(f"`{extent.at}`").alias("_at")
    own_events = rows.select(
        *columns, *partition, at, F.lit(0).alias("_begun"), F.lit(True).alias("_own")
    )
    ends = (F.col(f"`{extent.start}`"), 1), (F.col(f"`{extent.stop}`") + 1, -1)
    events = [
        chosen.where(end.isNotNull()).select(
            *columns,
            *partition,
            end.alias("_at"),
            F.lit(change).alias("_begun"),
            F.lit(False).alias("_own"),
        )
        for end, change in ends
    ]
    order = Window.partitionBy(*partition).orderBy("_at")
    open_ = F.sum("_begun").over(order.rangeBetween(Window.unboundedPreceding, 0))
    counted = reduce(DataFrame.union, [own_events, *events]).withColumn("_open", open_)
    return counted.where("_own AND _open > 0").select(*columns)
