"""Relations that a data frame of a classic session reads, found in its plan and tracked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lipstick.dataframes.jvm import Plan, analysed, elements, frame_of
from lipstick.errors import SourceError
from lipstick.tracking.formats.probe import versioned_leaf
from lipstick.tracking.naming import ROW_BITS
from lipstick.tracking.source import Source, fingerprint, version_source
from lipstick.tracking.tracker import (
    ROW_COLUMN,
    Naming,
    Tracked,
    name_rows,
    verify_tokens,
)
from lipstick.tracking.views import column_of

if TYPE_CHECKING:
    from lipstick.sessions import Session

_ROWS = (
    "LogicalRelation",
    "LocalRelation",
    "LogicalRDD",
    "HiveTableRelation",
    "DataSourceV2Relation",
)
"""The leaves of plans that have rows of their own."""


def plan_leaves(plan: Plan) -> list[Plan]:
    """Return the leaves of an analysed plan, and of its subqueries."""
    leaves = []
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        waiting += elements(node.subqueries())
        below = elements(node.children())
        if not below:
            leaves.append(node)
        waiting += below
    return leaves


def row_leaves(plan: Plan) -> list[Plan]:
    """Return the leaves of a plan that have rows of their own, each relation once."""
    found: list[Plan] = []
    for leaf in plan_leaves(plan):
        has_rows = leaf.getClass().getSimpleName() in _ROWS
        if has_rows and not any(leaf.sameResult(known) for known in found):
            found.append(leaf)
    return found


def table_name(leaf: Plan) -> str | None:
    """Return the name of the table of files that a leaf reads; None if it reads no such table."""
    table = _file_table(leaf)
    return None if table is None else str(table.unquotedString())


def table_parts(leaf: Plan) -> tuple[str, ...] | None:
    """Return the parts of the name of the table that a leaf reads; None if it reads no table.

    The catalog is the first of three or more parts, if the leaf has it.
    """
    if leaf.getClass().getSimpleName() == "DataSourceV2Relation":
        return catalog_parts(leaf)
    table = _file_table(leaf)
    return None if table is None else tuple(map(str, elements(table.nameParts())))


def catalog_parts(relation: Plan) -> tuple[str, ...] | None:
    """Return the parts of the name that a relation or stream has in a catalog; None: in none."""
    identifier, catalog = relation.identifier(), relation.catalog()
    if identifier.isEmpty() or catalog.isEmpty():
        return None
    place = identifier.get()
    return (str(catalog.get().name()), *map(str, place.namespace()), str(place.name()))


def _file_table(leaf: Plan) -> Plan | None:
    """Return the identifier of the table of files that a leaf reads; None if there is none."""
    kind = leaf.getClass().getSimpleName()
    if kind == "HiveTableRelation":
        return leaf.tableMeta().identifier()
    if kind == "LogicalRelation" and leaf.catalogTable().isDefined():
        return leaf.catalogTable().get().identifier()
    return None


def file_format(leaf: Plan) -> str | None:
    """Return the format of files that a leaf reads: ``parquet``, or another's class; else None."""
    files = files_of(leaf)
    if files is None:
        return None
    kind = files.fileFormat().getClass().getSimpleName()
    return "parquet" if kind == "ParquetFileFormat" else str(kind)


def files_of(leaf: Plan) -> Plan | None:
    """Return the relation of the files that a leaf reads; None: it reads something else."""
    if leaf.getClass().getSimpleName() != "LogicalRelation":
        return None
    files = leaf.relation()
    return files if files.getClass().getSimpleName() == "HadoopFsRelation" else None


def reads_alike(leaf: Plan, other: Plan) -> bool:
    """Return True if two leaves read the same files alike, however their path was given."""
    first, second = files_of(leaf), files_of(other)
    if first is None or second is None or first.schema().json() != second.schema().json():
        return False
    parts = (
        (files.location(), files.fileFormat().getClass(), files.options().removed("path"))
        for files in (first, second)
    )
    return all(one.equals(two) for one, two in zip(*parts, strict=True))


def track_leaf(
    session: Session,
    leaf: Plan,
    name: str,
    called: str,
    copies: Path,
    key: str | Sequence[str] | None = None,
) -> Tracked:
    """Track the rows of a leaf.

    Without a key, rows of Parquet are named by their places in the files, rows of versioned tables
    by the ids of the format or by their values; rows of other sources are copied once, with their
    places.

    Parameters
    ----------
    called
        The path or table, for messages.
    copies
        The folder to make if the rows are copied.
    """
    rows = frame_of(session.spark, leaf)
    if (version := versioned_leaf(session.spark, leaf)) is not None:
        pinned = version_source(version.table, version.version)
    else:
        kind = file_format(leaf)
        # Data made in Python have no place: nothing is read by the name that we give them.
        place = called if kind is not None or table_name(leaf) is not None else None
        pinned = Source(rows, called, kind, fingerprint(session.spark, rows), place)
    keys = [key] if key is not None else [None] if version is None else [None, "*"]
    for each in keys:
        try:
            named = name_rows(name, pinned, each, True)
            verify_tokens(name, named[0], named[1], named[2])
        except SourceError:
            continue
        return session._track(name, pinned, *named)
    copy, token, files = _copied(pinned.frame, copies)
    states = fingerprint(session.spark, copy)
    return session._track(name, pinned, copy, Naming.ROWS, token, files, copied=states)


def _copied(
    source: DataFrame, directory: Path
) -> tuple[DataFrame, tuple[str, ...], tuple[str, ...]]:
    """Copy rows to Parquet with their places: the file, and the number in it, from 0.

    Splits of a file are read from where they begin, and the rows of one in order.
    """
    # Rows of Hive's own formats have no places in files.
    in_files = file_format(analysed(source)) is not None
    marks = [F.monotonically_increasing_id().alias("_at")]
    if in_files:
        marks += [
            F.col("_metadata.file_path").alias("_file"),
            F.col("_metadata.file_block_start").alias("_block"),
        ]
    else:
        marks += [F.lit("").alias("_file"), F.lit(0).alias("_block")]
    marked = source.select("*", *marks)
    file_rows = marked.select("_file").distinct().collect() if in_files else []
    files = tuple(sorted(row["_file"] for row in file_rows)) or ("",)
    window = Window.partitionBy("_file").orderBy("_block", "_at")
    number = F.lit(0)
    if len(files) > 1:
        known = F.create_map(*(F.lit(v) for n, f in enumerate(files) for v in (f, n)))
        number = known[F.col("_file")]
    row_number = F.shiftleft(number.cast("bigint"), ROW_BITS).bitwiseOR(
        (F.row_number().over(window) - 1).cast("bigint")
    )
    columns = [column_of(name) for name in source.columns]
    target = str(directory)
    copied = marked.select(*columns, row_number.alias(ROW_COLUMN))
    copied.write.parquet(target)
    # With the schema no job reads it from a file.
    return source.sparkSession.read.schema(copied.schema).parquet(target), (ROW_COLUMN,), files
