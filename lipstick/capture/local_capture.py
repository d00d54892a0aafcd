"""Captures of a few rows that stay in this process: nothing is written, and Spark is asked little.

Of every block the members and then the rows are computed here, where that can be done exactly as
Spark does it (:mod:`lipstick.engines.memory.cores`, :mod:`lipstick.engines.memory.grouping`). Spark
runs the statements of the others, whose results are collected.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from functools import cached_property, partial

import pyarrow as pa
from pyspark.sql import SparkSession

from lipstick.capture.files import in_arrow, spark_schema, storable
from lipstick.capture.manifest import Manifest
from lipstick.capture.writer import needs_rows
from lipstick.dataframes.arrow import arrow_rows, frame_of_arrow
from lipstick.engines.memory.arrow_datasets import HeldDatasets
from lipstick.engines.memory.cores import CoreInputs, core_rows
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.grouping import group_rows
from lipstick.engines.route import answer, left_to_spark
from lipstick.stages.reading import own_sql
from rewriter.blocks import Block, Kind, topological
from rewriter.emit.statements import members_sql, rows_sql
from rewriter.interpret import in_time_zone


class TooLargeError(Exception):
    """More rows than are to be held, or of types that only Spark's files have."""


def collect(
    spark: SparkSession,
    manifest: Manifest,
    relations: Mapping[str, pa.Table],
    show: Callable[[], None],
    limit: int,
) -> Engine:
    """Capture a query whose relations are here as tables.

    Parameters
    ----------
    relations
        The tables that views are of, by name.
    show
        Makes these views, before Spark is asked at all; an error of its own is raised.
    limit
        Of the rows to collect, and of the pairs of rows that a join here looks at.

    Raises
    ------
    TooLargeError
        When the capture is to be written instead.
    """
    collector = _Collector(spark, manifest, relations, show, limit)
    try:
        with in_time_zone(manifest.time_zone):
            collector.run()
    finally:
        collector.close()
    return collector.engine


class _Collector:
    def __init__(
        self,
        spark: SparkSession,
        manifest: Manifest,
        relations: Mapping[str, pa.Table],
        show: Callable[[], None],
        limit: int,
    ) -> None:
        self._spark = spark
        self._relations = relations
        self._show = show
        self._limit = limit
        self._id = uuid.uuid4().hex[:8]
        self._held = HeldDatasets()
        self._tables: dict[tuple[str, str], pa.Table] = {}
        self._views: dict[tuple[str, str], str] = {}
        self.engine = Engine(self._held, manifest)

    def run(self) -> None:
        """Compute the members and rows of every block, inner blocks first."""
        for block in topological(self.engine.manifest.root):
            if block.core is not None:
                self._hold(block, "members", self._members(block))
            if needs_rows(block):
                rows = self._rows(block)
                if rows is not None:
                    self._hold(block, "rows", rows)

    def close(self) -> None:
        """Drop the views that Spark read."""
        for view in self._views.values():
            self._spark.catalog.dropTempView(view)

    def _hold(self, block: Block, name: str, table: pa.Table) -> None:
        self._tables[block.name, name] = table
        self._held.hold(block, name, table)

    def _members(self, block: Block) -> pa.Table:
        core = block.core
        assert core is not None

        def collected(_: Exception) -> pa.Table:
            names = tuple(name for name, _ in core.select)
            return self._collected(members_sql(block, self._view_of_members, names))

        held = {name: table for (name, kind), table in self._tables.items() if kind == "members"}
        here = partial(core_rows, core, CoreInputs(self._relations, self._limit, held))
        return answer(here, collected, left_to_spark())

    def _rows(self, block: Block) -> pa.Table | None:
        """The rows of a block; None where they are computed from the members when asked for."""

        def here() -> pa.Table | None:
            if block.kind is Kind.GROUP:
                return group_rows(self.engine.members(block))
            self.engine.made(block).check()
            return None

        def collected(_: Exception) -> pa.Table:
            captured = [name for name, kind in self._tables if kind == "rows"]
            rows = {name: self._view(name, "rows") for name in captured}
            return self._collected(rows_sql(block, self._view_of_members, rows))

        return answer(here, collected, left_to_spark())

    # -- Spark -----------------------------------------------------------------------------

    def _collected(self, sql: str) -> pa.Table:
        """The rows of a statement that Spark runs."""
        frame = storable(own_sql(self._session, sql))
        if not in_arrow(frame.schema):
            raise TooLargeError
        table = arrow_rows(frame.limit(self._limit + 1))
        if table.num_rows > self._limit:
            raise TooLargeError
        return table

    @cached_property
    def _session(self) -> SparkSession:
        """The session, to which the relations are shown first."""
        self._show()
        return self._spark

    def _view_of_members(self, block: Block) -> str:
        return self._view(block.name, "members")

    def _view(self, block: str, name: str) -> str:
        """Return a view of a dataset in memory of a block."""
        key = (block, name)
        if key not in self._views:
            view = f"_lipstick_held_{self._id}_{block}_{name}"
            table = self._tables[key]
            frame = frame_of_arrow(self._session, table, spark_schema(table))
            frame.createOrReplaceTempView(view)
            self._views[key] = view
        return self._views[key]
