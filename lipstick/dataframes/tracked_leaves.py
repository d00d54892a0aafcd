"""Leaves of the plan of a classic session, tracked as relations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from lipstick.dataframes.jvm import Plan, analysed, frame_of
from lipstick.dataframes.leaves import file_format, table_name
from lipstick.errors import SourceError
from lipstick.tracking.formats.probe import versioned_leaf
from lipstick.tracking.naming import ROW_BITS
from lipstick.tracking.source import Source, fingerprint, version_source
from lipstick.tracking.tracker import (
    ROW_COLUMN,
    NamedRows,
    Naming,
    Tracked,
    name_rows,
    verify_tokens,
)
from lipstick.tracking.views import column_of

if TYPE_CHECKING:
    from lipstick.sessions import Session


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
            named = verify_tokens(name, name_rows(name, pinned, each, True))
        except SourceError:
            continue
        return session._track(name, pinned, named)
    copy = _copied(pinned.frame, copies)
    return session._track(name, pinned, copy, copied=fingerprint(session.spark, copy.frame))


def _copied(source: DataFrame, directory: Path) -> NamedRows:
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
    frame = source.sparkSession.read.schema(copied.schema).parquet(target)
    return NamedRows(frame, Naming.ROWS, (ROW_COLUMN,), files)
