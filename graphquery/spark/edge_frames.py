"""Edge sets as they are stored, read as a data frame of edges."""

from __future__ import annotations

import functools
from collections.abc import Callable

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F

from graphquery.distributed.row_edges import IMPLIED, placing
from graphquery.errors import GraphDataError
from graphquery.spark.folder import EDGE, EdgeFrame
from graphquery.spark.tables import GraphTables


def read_edges(tables: GraphTables, path: Callable[[str], str]) -> EdgeFrame:
    """All edges of a graph from the files of its edge sets, written by the levels they join.

    Parameters
    ----------
    path
        Of a file, where Spark finds it.

    Raises
    ------
    GraphDataError
        Fewer edges in the files than there should be, or ordinals that are no nodes.
    """
    levels = tables.levels
    spark = tables.spark
    stored = [edges for edges in levels.edge_sets if edges.file is not None]
    implied = [edges for edges in levels.edge_sets if edges.file is None]
    columns = ["file", "row", "source", "target"]
    frames = []
    if stored:
        files = sorted({path(edges.file) for edges in stored if edges.file is not None})
        read = spark.read.schema("source BIGINT, target BIGINT").parquet(*files)
        frames.append(
            read.select("_metadata.file_path", "_metadata.row_index", "source", "target").toDF(
                *columns
            )
        )
    if implied:
        nothing = F.lit(None).cast("bigint")
        numbers = spark.range(sum(edges.count for edges in implied))
        frames.append(numbers.select(F.lit(IMPLIED), "id", nothing, nothing).toDF(*columns))
    schema = f"{EDGE}, link BIGINT, wrong BOOLEAN"
    if not frames:
        return EdgeFrame(spark.createDataFrame([], f"{EDGE}, link BIGINT"), frozenset())
    placed = functools.reduce(DataFrame.union, frames).mapInArrow(placing(levels, path), schema)
    observed = Observation()
    checked = placed.observe(
        observed, F.count(F.lit(1)).alias("rows"), F.count_if(F.col("wrong")).alias("wrong")
    ).drop("wrong")
    edges = tables.store_edges(checked, levels.links)
    counts, expected = observed.get, sum(edges.count for edges in levels.edge_sets)
    if counts["rows"] != expected:
        raise GraphDataError(
            f"The files have {counts['rows']:,} edges, and the graph should have {expected:,}.\nThe"
            " store is damaged: check it."
        )
    if counts["wrong"]:
        raise GraphDataError(
            f"{counts['wrong']:,} edges have ordinals that are no nodes.\nThe store is damaged:"
            " check it."
        )
    return edges
