"""Data frames of nodes, edges and counts that are computed once and stored in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from graphquery.distributed.levels import Levels, Link
from graphquery.distributed.nodes import NodeSet
from semiring.arrays.segments import ascending
from semiring.base import Array

Frame: TypeAlias = DataFrame
Session: TypeAlias = SparkSession

NODE = "segment INT, id BIGINT"
EDGE = "source_segment INT, source BIGINT, target_segment INT, target BIGINT, port TINYINT"

_FEW = 4_096
"""Limit on rows that are collected rather than written to files and read back."""


@dataclass(frozen=True, slots=True, eq=False)
class EdgeFrame:
    """Stored edges, and their links."""

    frame: Frame
    links: frozenset[Link]


class Folder:
    """Computed data frames of one graph.

    Large frames are written to the folder and read back; small ones are collected on the driver.

    Parameters
    ----------
    folder
        An empty folder that all of Spark's workers reach.
    """

    def __init__(self, spark: Session, folder: str, levels: Levels) -> None:
        self.spark = spark
        self.folder = folder.rstrip("/")
        self.levels = levels
        self._numbers = count()
        self._were_few = True

    def store(self, nodes: Frame) -> tuple[Frame, int]:
        """Compute rows of nodes, and cut their query plan; return them and their number."""
        rows = nodes.select("segment", "id")
        few = self._few(rows)
        if few is not None:
            return self._local(few, NODE), few.num_rows
        frame, total = self._written(rows, NODE, F.count(F.lit(1)))
        self._were_few = total <= _FEW
        return frame, total

    def stored(self, nodes: Frame | None) -> NodeSet:
        """Compute distinct rows of nodes of any levels as a set."""
        if nodes is None:
            return NodeSet()
        few = self._few(nodes.select("id").distinct())
        if few is not None:
            return self.given(np.sort(few["id"].to_numpy()))
        places = self._small(
            {"segment": pa.int32(), "level": pa.int32()},
            [list(range(len(self.levels.segments))), self.levels.level],
        )
        path = f"{self.folder}/frames/{next(self._numbers)}"
        placed = nodes.select("segment", "id").distinct().join(F.broadcast(places), "segment")
        placed.write.partitionBy("level").parquet(path)
        written = self.spark.read.schema(f"{NODE}, level INT").parquet(path)
        counted = written.groupBy("level").count().toArrow().to_pydict()
        parts = {
            level: (written.where(F.col("level") == level).select("segment", "id"),)
            for level in counted["level"]
        }
        found_rows = sum(counted["count"])
        self._were_few = found_rows <= _FEW
        return NodeSet(frozenset(), parts, found_rows)

    def _written(self, rows: Frame, schema: str, measured: Column) -> tuple[Frame, int]:
        """Write rows; return them, read back, and an aggregate observed while writing."""
        path = f"{self.folder}/frames/{next(self._numbers)}"
        observed = Observation()
        rows.observe(observed, measured.alias("measured")).write.parquet(path)
        return self.spark.read.schema(schema).parquet(path), int(observed.get["measured"])

    def _few(self, rows: Frame) -> pa.Table | None:
        """Collect rows on the driver; None if there are many, or were the last time."""
        if not self._were_few:
            return None
        some = rows.limit(_FEW + 1).toArrow()
        self._were_few = some.num_rows <= _FEW
        return some if self._were_few else None

    def _local(self, rows: pa.Table, schema: str) -> Frame:
        if not rows.num_rows:  # whose columns Spark Connect does not take from the table
            return self.spark.createDataFrame([], schema)
        return self.spark.createDataFrame(rows, schema)

    def store_edges(self, edges: Frame, links: Iterable[Link]) -> EdgeFrame:
        """Write edges, which may exceed memory, by the levels that they join."""
        path = f"{self.folder}/edges/{next(self._numbers)}"
        spread = F.floor(F.col("target") / F.lit(1 << 24))
        (
            edges.repartition(F.col("link"), spread)
            .sortWithinPartitions("link", "target_segment", "target")
            .write.partitionBy("link")
            .parquet(path)
        )
        return EdgeFrame(
            self.spark.read.schema(f"{EDGE}, link BIGINT").parquet(path), frozenset(links)
        )

    def given(self, ids: Array) -> NodeSet:
        """Return a set of nodes from distinct ids."""
        segments = self.levels.segment_of(ids)
        levels = np.array(self.levels.level, dtype=np.int64)[segments]
        parts = {}
        for level in ascending(levels).tolist():
            chosen = levels == level
            parts[level] = (
                self._small(
                    {"segment": pa.int32(), "id": pa.int64()}, [segments[chosen], ids[chosen]]
                ),
            )
        return NodeSet(frozenset(), parts, len(ids))

    def store_counts(self, counts: Frame) -> tuple[Frame, int]:
        """Compute counts; return them, and the number beyond 64 bits, which are NULL."""
        schema = f"{NODE}, value BIGINT"
        few = self._few(counts)
        if few is not None:
            return self._local(few, schema), few["value"].null_count
        return self._written(counts, schema, F.count_if(F.col("value").isNull()))

    def _small(self, columns: Mapping[str, pa.DataType], values: Sequence[Any]) -> Frame:
        arrays = [pa.array(v, kind) for v, kind in zip(values, columns.values(), strict=True)]
        return self.spark.createDataFrame(pa.table(arrays, list(columns)))
