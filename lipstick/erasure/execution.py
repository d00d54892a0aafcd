"""The statements of an erasure, run so that a stopped run goes on where it was.

A statement of Delta or Iceberg is one commit, and folders of plain Parquet are exchanged at once:
each happened or it did not. A run that goes on finds
out by comparing the table's rows with the rows that it should have, which are computed from the
versions that the plan names.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from lipstick.erasure.effects import put_views
from lipstick.erasure.holders import check_holder
from lipstick.erasure.parquet import ParquetFolder
from lipstick.erasure.plan import ErasurePlan, Steps, planned_tables
from lipstick.erasure.tables import CurrentTable, ErasedTables, PlannedTable, current_table
from lipstick.histories.differences import differing_rows
from lipstick.stages.reading import own_sql
from rewriter.statements import Bags, hypothetical, rows_of
from semiring.errors import LipstickError

_OVERWRITE = "spark.sql.sources.partitionOverwriteMode"


def apply_plan(plan: ErasurePlan, on_step: Steps) -> None:
    """Apply a plan; see :meth:`lipstick.ErasurePlan.apply`."""
    for path in plan.document["drop"]:
        check_holder(Path(path))
    folders = [
        opened
        for entry, table in zip(plan.document["tables"], planned_tables(plan.document), strict=True)
        if entry["effect"]["action"] == "exchange"
        and isinstance(opened := table.open(plan.spark), ParquetFolder)
    ]
    # Earlier rows are removed once all tables are written.
    done = [each.exchanged(plan.id) and not each.has_earlier(plan.id) for each in folders]
    if not any(done):
        _write_tables(plan, on_step)
    for folder in folders:
        on_step(f"removing the earlier rows of {folder.table}")
        folder.remove_earlier(plan.id)
    for path in map(Path, plan.document["drop"]):
        if path.exists():
            on_step(f"removing {path}")
            (path.unlink if path.is_file() else lambda p=path: shutil.rmtree(p))()


def _write_tables(plan: ErasurePlan, on_step: Steps) -> None:
    tables, differences = plan.computed(on_step)
    entries = {entry["name"]: entry for entry in plan.document["tables"]}
    waiting = [
        table
        for name, table in tables.tables.items()
        if not _finished(tables, table, differences[name], entries[name]["effect"]["target"])
    ]
    host = tables.host
    with _whole_tables(host.spark):
        for table in waiting:
            effect = entries[table.name]["effect"]
            opened, bags = tables.opened[table.name], differences[table.name]
            if isinstance(opened, ParquetFolder):
                opened.write(own_sql(host.spark, hypothetical(bags, table.key)), plan.id, on_step)
            else:
                put_views(host, table, bags, plan.id)
                for statement in effect["statements"]:
                    on_step(statement)
                    own_sql(host.spark, statement)
            on_step(f"{effect['target']} is written")


@contextmanager
def _whole_tables(spark: SparkSession) -> Iterator[None]:
    """Let INSERT OVERWRITE replace all rows of a table, whatever partitions it has."""
    before = spark.conf.get(_OVERWRITE)
    spark.conf.set(_OVERWRITE, "static")
    try:
        yield
    finally:
        spark.conf.set(_OVERWRITE, before or "static")


def _finished(tables: ErasedTables, table: PlannedTable, bags: Bags, target: str) -> bool:
    """Return True if a table has the rows that it should have; False: it is as it was planned with.

    Raises
    ------
    LipstickError
        When it has others.
    """
    spark = tables.host.spark
    now = current_table(spark, table, target, table.open(spark))
    if now is None or now.main.version != table.version:
        if now is not None and _same(tables, now, bags):
            return True
        raise LipstickError(
            f"{table.table} has moved on since the erasure was planned: version {table.version} is "
            "not its current one.\nNothing is changed by this call; plan the erasure anew."
        )
    if not bags.changed:
        return True
    return not now.published and _same(tables, now, bags)


def _same(tables: ErasedTables, now: CurrentTable, bags: Bags) -> bool:
    """Return True if a table, its branch or its copy has the hypothetical rows."""
    spark = tables.host.spark
    columns = spark.table(bags.real).columns
    found = now.read()
    if found.columns != columns:
        return False
    rows = rows_of(tables.engine.named(found))
    return differing_rows(spark, rows, hypothetical(bags), columns).isEmpty()
