"""Files of rows: the file, row group and commit that a row is in, and the rows of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.dataframes.arrow import arrow_rows, frame_of_arrow
from lipstick.errors import SourceError
from lipstick.questions.deletion import resolve_deletion
from lipstick.tracking.formats.versions import VersionedTable
from lipstick.tracking.row_groups import row_group_ends
from lipstick.tracking.states import local_path
from lipstick.tracking.tracker import (
    ORDINAL_COLUMN,
    ROW_COLUMN,
    ROW_ID_COLUMN,
    Naming,
    Tracked,
    row_place,
)
from lipstick.tracking.views import column_of

FILE, ROW = "_file", "_row"
_OF_FILES = ("_metadata.file_path", "_metadata.row_index")
"""The file of a row of plain Parquet, and the number of the row there."""


def files_of_rows(spark: SparkSession, tracked: Tracked, rows: Any, limit: int) -> pa.Table:
    """Return where rows of a relation are; see :meth:`lipstick.Session.files`."""
    placed = _placed(tracked)
    names = [name for name in tracked.token if name != ORDINAL_COLUMN]
    given = frame_of_arrow(spark, rows) if isinstance(rows, pa.Table) else rows
    if isinstance(given, DataFrame):
        if not set(names) <= set(given.columns):  # rows of a relation without a key
            names = [name for name in tracked.columns if name in given.columns]
    else:
        found = resolve_deletion(spark, {tracked.name: tracked.record}, {tracked.name: rows})
        given = frame_of_arrow(spark, found.tokens[tracked.name])
    wanted = given.select(*map(column_of, names)).distinct()
    wanted = wanted.toDF(*(f"_wanted{number}" for number in range(len(names))))
    same = [
        column_of(name).eqNullSafe(column_of(f"_wanted{number}"))
        for number, name in enumerate(names)
    ]
    where = placed.join(wanted, same, "left_semi").select(*_shown(tracked), FILE, ROW)
    return _with_groups(tracked, arrow_rows(where.orderBy(FILE, ROW).limit(limit)))


def rows_of_file(tracked: Sequence[Tracked], path: str, limit: int) -> dict[str, pa.Table]:
    """Return the rows that a file holds; see :meth:`lipstick.Session.rows_of_file`."""
    found = dict[str, pa.Table]()
    for each in tracked:
        try:
            placed = _placed(each)
        except SourceError:
            continue
        files = placed.select(FILE).distinct().collect()
        named = [row[0] for row in files if _spellings(row[0]) & _spellings(path)]
        if named:
            rows = placed.where(F.col(FILE).isin(named)).orderBy(ROW).limit(limit)
            found[each.name] = arrow_rows(rows.select(*_shown(each), ROW))
    if not found:
        raise SourceError(
            f"No tracked relation has rows in {path}.\n"
            "Name a data file of Parquet, Delta or Iceberg by its path, as files() shows it."
        )
    return found


def _shown(tracked: Tracked) -> list[str]:
    """Return the columns that name the rows of a relation to a reader."""
    return [name for name in tracked.token if name != ORDINAL_COLUMN]


def _spellings(path: str) -> set[str]:
    """Return what a path may mean: it as it is, and what it is as a URI."""
    plain = path.removeprefix("file://").removeprefix("file:")
    local = local_path(path)
    return {str(Path(each).absolute()) for each in (plain, local) if each is not None}


def _placed(tracked: Tracked) -> DataFrame:
    """Return the rows of a relation with their tokens, and with their files and numbers there.

    Raises
    ------
    SourceError
        For a relation whose rows are of no file.
    """
    source = tracked.source
    file, row = _OF_FILES if source.version is None else source.version.place
    try:
        if tracked.copied is not None or tracked.derived is not None:
            raise SourceError("They are a copy, or were written by an annotated query.")
        place = [F.col(file).alias(FILE), F.col(row).alias(ROW)]
        if tracked.naming is Naming.ROWS:
            place.append(row_place(file, tracked.files, index=row).alias(ROW_COLUMN))
        elif tracked.naming is Naming.ROW_IDS and source.version is not None:
            place.append(F.col(source.version.row_id).alias(ROW_ID_COLUMN))
        placed = _selected(source.frame, place)
        if placed is None and source.version is not None:
            # Delta numbers rows where it has deletion vectors: without, files have no others.
            placed = _of_whole_files(tracked, source.version, place)
        if placed is None:
            unknown = F.lit(None).cast("bigint").alias(ROW)
            placed = source.frame.select("*", place[0], unknown)
        placed.schema  # noqa: B018 - Connect resolves the columns here
    except (PySparkException, SourceError) as error:
        raise SourceError(
            f"The rows of {tracked.name!r} ({source.description}) are of no file.\n"
            "Those of tables and folders of Parquet are, and of Delta and Iceberg."
        ) from error
    return placed


def _of_whole_files(
    tracked: Tracked, table: VersionedTable, place: Sequence[Column]
) -> DataFrame | None:
    """Return the rows of the files of a version; None where they have other columns than it."""
    (pinned,) = tracked.source.versions
    files = table.files(pinned.version)
    if not files:
        return None
    reader = tracked.source.frame.sparkSession.read.option("basePath", table.location)
    rows = _selected(reader.parquet(*files), place)
    names = set(_shown(tracked))
    return rows if rows is not None and names <= set(rows.columns) else None


def _selected(rows: DataFrame, columns: Sequence[Column]) -> DataFrame | None:
    """Return rows with more columns; None: Spark knows none such."""
    try:
        found = rows.select("*", *columns)
        found.schema  # noqa: B018 - Connect resolves the columns here
    except PySparkException:
        return None
    return found


def _with_groups(tracked: Tracked, rows: pa.Table) -> pa.Table:
    """Add the row group of each row, and the commit that added its file, where they are known."""
    files = rows.column(FILE).to_pylist()
    ends = {file: row_group_ends(file) for file in set(files)}
    groups = [
        None if row is None else next((n for n, end in enumerate(ends[file]) if row < end), None)
        for file, row in zip(files, rows.column(ROW).to_pylist(), strict=True)
    ]
    rows = rows.append_column("_row_group", pa.array(groups, pa.int32()))
    table = tracked.source.version
    if table is None:
        return rows
    added: Mapping[str, int] = table.added(sorted(ends))
    commits = {each.version: each for each in table.history()}
    made = [commits.get(added.get(file, -1)) for file in files]
    versions = pa.array([added.get(file) for file in files], pa.int64())
    times = pa.array([each and each.time for each in made], pa.timestamp("us"))
    operations = pa.array([each and each.operation for each in made], pa.string())
    known = {"_version": versions, "_time": times, "_operation": operations}
    for name, column in known.items():
        rows = rows.append_column(name, column)
    return rows
