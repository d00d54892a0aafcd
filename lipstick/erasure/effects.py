"""Effects of an erasure on a table: counts of rows, and the statements that bring them about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lipstick.dataframes.arrow import frame_of_arrow
from lipstick.erasure.parquet import FORMAT as PARQUET
from lipstick.erasure.tables import ErasureHost, PlannedTable
from lipstick.histories.engine import shape_of
from lipstick.stages.reading import own_sql
from lipstick.tracking.formats.iceberg import reference_of
from lipstick.tracking.states import FileState
from lipstick.tracking.tracker import fixed_length
from lipstick.tracking.views import column_of, quoted_name
from rewriter.statements import Bags, changes_of, hypothetical, merge_changes, rewrite_table
from semiring.errors import LipstickError

_MAPPING = "delta.columnMapping.mode"


def effect_of(
    host: ErasureHost,
    table: PlannedTable,
    bags: Bags,
    states: Sequence[FileState],
    made: str,
    *,
    in_place: bool,
) -> dict[str, Any]:
    """Return the counts of a table, and the statements that apply the difference."""
    real = host.spark.table(bags.real)
    effect = _counts(host.spark, table, bags) | {
        "bytes": sum(length for _, length, _ in states),
        "action": "none",
        "target": table.table,
        "statements": [],
        "publish": [],
    }
    if not bags.changed:
        return effect
    if table.format == PARQUET:
        exchange = f"exchange {table.table} for a folder of the remaining rows"
        return effect | {"action": "exchange", "statements": [exchange]}
    branch = None if in_place or table.format != "iceberg" else f"erasure_{made}"
    if not in_place and branch is None:
        return effect | _copy(host, table, bags, made)
    if table.table.startswith("iceberg.`"):
        raise LipstickError(
            f"SQL has no name for the Iceberg table {table.table}.\nTrack it by its name in a "
            "catalog."
        )
    if branch is not None and reference_of(table.table)[1] is not None:
        raise LipstickError(
            f"{table.table} is a branch, which no other branch can be published to.\n"
            "Erase in place: in_place=True."
        )
    target = table.table if branch is None else f"{table.table}.branch_{branch}"
    action, statement = change_statement(target, table, real.schema, bags, made)
    effect |= {"action": action, "target": target, "statements": [statement]}
    if branch is not None:
        created = f"ALTER TABLE {table.table} CREATE BRANCH IF NOT EXISTS {branch}"
        if table.version is not None:
            created += f" AS OF VERSION {table.version}"
        catalog, _, name = table.table.partition(".")
        forward = f"CALL {catalog}.system.fast_forward('{name}', 'main', '{branch}')"
        effect |= {"statements": [created, statement], "publish": [forward]}
    return effect


def change_statement(
    target: str, table: PlannedTable, schema: StructType, bags: Bags, made: str
) -> tuple[str, str]:
    """Return the action, merge or rewrite, and the statement that gives a table its new rows.

    Raises
    ------
    LipstickError
        For columns that the table computes where rows must be written.
    """
    view = view_name(made, table.name)
    columns = [column for column in shape_of(schema).columns if not column.computed]
    if len(columns) < len(schema.names) and bags.came is not None:
        raise LipstickError(
            f"{table.table} computes columns itself, and rows of it must be written anew.\n"
            "Write its rows by its own pipeline, from the sources without what is erased."
        )
    # Spark does not resolve a MERGE of a table with itself by a CHAR, which it pads in reading.
    if not any(fixed_length(schema[name]) for name in table.key or schema.names):
        if table.key:
            names, writes = [column.name for column in columns], bags.came is not None
            return "merge", merge_changes(target, view, names, table.key, writes=writes)
        if table.predicate is not None:
            # Equal rows satisfy a predicate alike: all of them go.
            values = (quoted_name([name]) for name in schema.names)
            same = " AND ".join(f"t.{name} <=> s.{name}" for name in values)
            return "merge", f"MERGE INTO {target} AS t USING `{view}` AS s ON {same} " + (
                "WHEN MATCHED THEN DELETE"
            )
    return "rewrite", rewrite_table(target, named_bags(made, table.name, bags))


def view_name(made: str, table: str, side: str = "changes") -> str:
    """Return the name of a view that statements of an erasure read."""
    word = "".join(letter if letter.isalnum() else "_" for letter in table)
    return f"_lipstick_erasure_{made}_{word}_{side}"


def named_bags(made: str, table: str, bags: Bags) -> Bags:
    """Return bags by the names of views that statements of an erasure read."""
    return Bags(
        view_name(made, table, "real"),
        None if bags.gone is None else view_name(made, table, "gone"),
        None if bags.came is None else view_name(made, table, "came"),
        None if bags.rest is None else view_name(made, table, "rest"),
    )


def put_views(host: ErasureHost, table: PlannedTable, bags: Bags, made: str) -> None:
    """Make the views that the statements of an erasure read for a table."""
    spark = host.spark
    for view, name in zip(astuple(bags), astuple(named_bags(made, table.name, bags)), strict=True):
        if view is not None:
            host.add_view(spark.table(view), name)
    columns = spark.table(bags.real).columns
    if table.key:
        changes = own_sql(spark, changes_of(bags, columns, table.key))
    elif bags.gone is not None:
        changes = spark.table(bags.gone).distinct()
    else:
        return
    host.add_view(changes, view_name(made, table.name))


def _copy(host: ErasureHost, table: PlannedTable, bags: Bags, made: str) -> dict[str, Any]:
    """Return the statements that write a table of its own with the hypothetical rows."""
    if table.table.endswith("`"):
        target = f"{table.table[:-1]}_erasure_{made}`"
    else:
        target = f"{table.table}_erasure_{made}"
    detail = host.spark.sql(f"DESCRIBE DETAIL {table.table}").head()
    assert detail is not None
    parts = ", ".join(quoted_name([name]) for name in detail["partitionColumns"])
    options = f"PARTITIONED BY ({parts}) " if parts else ""
    if _MAPPING in detail["properties"]:  # its columns may have names that files cannot
        options += f"TBLPROPERTIES ('{_MAPPING}' = 'name') "
    rows = hypothetical(named_bags(made, table.name, bags))
    return {
        "action": "copy",
        "target": target,
        "statements": [f"CREATE OR REPLACE TABLE {target} USING delta {options}AS {rows}"],
        "publish": [
            f"INSERT OVERWRITE {table.table} SELECT * FROM {target}",
            f"DROP TABLE {target}",
        ],
    }


def _counts(spark: SparkSession, table: PlannedTable, bags: Bags) -> dict[str, Any]:
    """Count the rows of a table, and its rows that are removed, changed and added.

    Raises
    ------
    LipstickError
        When a key does not name the rows that change.
    """
    real, key = spark.table(bags.real), [column_of(name) for name in table.key]
    if missing := set(table.key) - set(real.columns):
        raise LipstickError(f"{table.name!r} has no column {min(missing)!r} for its key.")
    names = [f"k{number}" for number in range(len(key))]
    aliased = [each.alias(name) for each, name in zip(key, names, strict=True)]
    sides = [view for view in (bags.gone, bags.came) if view is not None]
    if not key or not sides:
        gone, came = (0 if v is None else spark.table(v).count() for v in (bags.gone, bags.came))
        return {"rows": real.count(), "removed": gone, "changed": 0, "added": came}
    keys = {view: spark.table(view).select(*aliased).toArrow() for view in sides}
    concerned = (
        pa.concat_tables(keys.values(), promote_options="default").group_by(names).aggregate([])
    )
    hit = frame_of_arrow(spark, concerned).withColumn("hit", F.lit(True))
    found = real.select(*aliased).join(F.broadcast(hit), names, "left")
    counted = found.agg(F.count(F.lit(1)), F.count("hit")).head()
    assert counted is not None
    gone, came = (keys[v].num_rows if v in keys else 0 for v in (bags.gone, bags.came))
    # The rows of the table with one of these keys are the removed and changed ones alone.
    unique = all(len(k.group_by(names).aggregate([])) == len(k) for k in keys.values())
    if not unique or counted[1] != gone or any(c.null_count for c in concerned.columns):
        raise LipstickError(
            f"{', '.join(table.key)} does not name the rows of {table.name!r}: values occur twice "
            "or are NULL.\nGive other columns, key={...}, or leave it out: the table is rewritten."
        )
    changed = gone + came - len(concerned)
    return {"rows": counted[0], "removed": gone - changed, "changed": changed} | {
        "added": came - changed
    }
