"""Rows of blocks computed in this process: over few members, a job of Spark's takes longer.

They are what Spark would compute, to the type, or are left to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lipstick.capture.files import arrow_of, in_arrow
from lipstick.capture.manifest import Manifest
from lipstick.engines.memory.arrow_datasets import HeldDataset
from lipstick.engines.memory.cores import CoreInputs, core_rows, scanned_views
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.grouping import group_rows
from lipstick.engines.memory.store import Dataset, StoredDataset
from lipstick.engines.route import if_here
from lipstick.errors import NeedsSparkError
from rewriter.blocks import Block, Kind, made_of
from rewriter.emit import PRESENT
from rewriter.interpret import in_time_zone
from semiring.arrays.arrow import decoded, whole

Made: TypeAlias = Callable[[Block, list[str]], pa.Table]
Relations: TypeAlias = Callable[[Collection[str]], Mapping[str, pa.Table] | None]
"""Finds the rows of relations by their views; None unless all of these are in this process."""

_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
}
"""Settings under which Spark computes scalars as this process does."""

MOST = 4_000_000
"""Members of a block whose rows are computed here, at most, with the rows that they refer to."""


MOST_PAIRS = 4_000_000
"""Pairs of rows that a join here looks at, at most."""


def computes_alike(spark: SparkSession) -> bool:
    """Return True if this process computes as Spark does under the session's settings."""
    return all(spark.conf.get(key) == value for key, value in _SETTINGS.items())


class LocalRows:
    """Computes rows of blocks from datasets of a capture, as far as these are written.

    Parameters
    ----------
    spark
        The session that would compute them.
    manifest
        That of the capture.
    relations
        Those whose rows are here.
    """

    def __init__(self, spark: SparkSession, manifest: Manifest, relations: Relations) -> None:
        self._relations = relations
        self._members: dict[str, pa.Table] = {}
        self._datasets: dict[tuple[str, str], Path | Dataset] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._alike = computes_alike(spark)
        self._engine = Engine(self, manifest)
        self._time_zone = manifest.time_zone

    def add(self, block: Block, name: str, path: Path, schema: StructType) -> int:
        """Take a dataset that is written; return how many rows it has.

        A dataset may be written again with fewer columns: computed is from what came first.
        """
        import pyarrow.dataset as ds

        count: int = ds.dataset(path, format="parquet").count_rows()
        self._datasets.setdefault((block.name, name), path)
        self._counts[block.name, name] = count
        self._alike = self._alike and in_arrow(schema)
        return count

    def hold(self, block: Block, name: str, table: pa.Table) -> int:
        """Take a dataset that was computed here; return how many rows it has."""
        self._datasets.setdefault((block.name, name), HeldDataset(table))
        self._counts[block.name, name] = table.num_rows
        return int(table.num_rows)

    def count(self, block: Block, name: str) -> int:
        """Return the number of rows of a dataset."""
        return self._counts[block.name, name]

    def dataset(self, block: Block, name: str) -> Dataset | None:
        """See :class:`lipstick.engines.memory.store.Datasets`."""
        dataset = self._datasets.get((block.name, name))
        return StoredDataset(dataset) if isinstance(dataset, Path) else dataset

    def captured_from_relations(self, blocks: Mapping[str, Block]) -> list[str]:
        """Return the blocks whose members are made of few rows, all in this process.

        Parameters
        ----------
        blocks
            Inner ones first. A block may read the tuples of those before it that are returned.
        """
        found: list[str] = []
        for name, block in blocks.items():
            tables = self._scanned(block) if self._alike and MOST else None
            reads = () if block.core is None else block.core.reads()
            if (
                tables is not None
                and sum(table.num_rows for table in tables.values()) <= MOST
                and all(made_of(read) <= set(found) for read in reads)
            ):
                found.append(name)
        return found

    def captured(self, block: Block, schema: StructType) -> pa.Table | None:
        """The members of one of these blocks; None where Spark is to write them.

        They are not reduced by the members of other blocks.
        """
        core, tables = block.core, self._scanned(block)
        assert core is not None
        assert tables is not None
        inputs = CoreInputs(tables, MOST_PAIRS, self._members)
        made = self._of_schema(block, schema, lambda *_: core_rows(core, inputs))
        if made is not None:
            self._members[block.name] = made
        return made

    def _scanned(self, block: Block) -> Mapping[str, pa.Table] | None:
        core = block.core
        views = None if core is None else if_here(lambda: set(scanned_views(core)), NeedsSparkError)
        return None if views is None else self._relations(views)

    def rows(self, block: Block, schema: StructType) -> pa.Table | None:
        """The rows of a block as a capture keeps them; None where Spark is to compute them."""
        return self._of_schema(block, schema, self._computed)

    def members(self, block: Block, schema: StructType) -> pa.Table | None:
        """Some columns of the members of a block; None where Spark is to write them."""
        return self._of_schema(block, schema, self._chosen)

    def _of_schema(self, block: Block, schema: StructType, compute: Made) -> pa.Table | None:
        if not self._alike or self._size(block) > MOST:
            return None
        with in_time_zone(self._time_zone):
            return if_here(lambda: as_spark_has(compute(block, schema.names), arrow_schema(schema)))

    def _size(self, block: Block) -> int:
        """Return the number of rows that are read to compute the rows of a block."""
        size = self._counts.get((block.name, "members"), 0)
        for inner in block.derived:
            rows = self._counts.get((inner.name, "rows"))
            size += self._size(inner) if rows is None or inner.kind is not Kind.GROUP else rows
        return size

    def _computed(self, block: Block, names: list[str]) -> pa.Table:
        members = None if block.kind is Kind.UNION else self._engine.members(block)
        if members is not None and members.references.combines_captured:
            raise NeedsSparkError(f"Spark joins the members of {block.name} by conditions.")
        if block.kind is Kind.GROUP:
            assert members is not None
            return group_rows(members)
        if block.having:
            raise NeedsSparkError(f"Spark says which rows of {block.name} are there.")
        made = self._engine.made(block)
        if block.windowed:
            made.check()
        base = made.base
        rows = np.repeat(base.sequence, base.copies(base.sequence))
        columns = {name: base.take(name, rows) for name in names if name != PRESENT}
        return pa.table({**columns, PRESENT: pa.repeat(pa.scalar(True), len(rows))})

    def _chosen(self, block: Block, names: list[str]) -> pa.Table:
        dataset = self._engine.captured(block)
        assert dataset is not None
        return pa.table({name: dataset.column(name) for name in names})


def arrow_schema(schema: StructType) -> pa.Schema:
    """A schema as Arrow has it; refused where that is not as Parquet has it."""
    if not in_arrow(schema):
        raise NeedsSparkError(f"Arrow has no rows of {schema.simpleString()}.")
    return arrow_of(schema)


def as_spark_has(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of a schema; refused where their types are others than Spark's."""
    columns = []
    for field in schema:
        column = decoded(whole(table.column(field.name)))
        if pa.types.is_null(column.type):
            column = column.cast(field.type)
        if column.type != field.type:
            raise NeedsSparkError(f"Spark computes {field.name} as {field.type}.")
        columns.append(column)
    return pa.Table.from_arrays(columns, schema=schema)
