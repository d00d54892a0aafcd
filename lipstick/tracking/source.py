"""The source of a tracked relation's rows, and the check that it has not changed since.

A source is pinned when it is tracked: the data frame has its list of files, and a fingerprint
(path, length and modification time of every file) shows later jobs whether a file was replaced.
Files that come into a folder of the source later are not among its rows, which is an error too:
nobody who asks about a folder means the files that it had this morning. Tables of this process,
of Arrow or pandas, become data frames.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, TypeAlias
from urllib.parse import unquote, urlparse

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.dataframes.arrow import frame_of_arrow
from lipstick.errors import SourceChangedError, SourceError, first_line, readable_types
from lipstick.tracking.formats.probe import (
    check_plain_files,
    check_readable,
    folders_of,
    pin,
    pinned_leaves,
    read_anew,
    table_identity,
    version_at,
    versioned_path,
    versioned_table,
)
from lipstick.tracking.formats.versions import Moment, VersionedTable
from lipstick.tracking.names import Identity, identity_of, plain_name
from lipstick.tracking.states import FORMAT_NAMES, FileState, PinnedVersion, local_path, local_state
from lipstick.tracking.views import is_temporary, same_rows
from rewriter.dialect import name_parts

MOST_BYTES = 64 * 2**20
"""The maximum size of a table in memory, in bytes."""


class PandasFrame(Protocol):
    """A frame of pandas, as far as it is looked at here."""

    @property
    def iloc(self) -> Any:
        """Rows by their places."""

    def memory_usage(self) -> Any:
        """The bytes of each column."""


InMemory: TypeAlias = pa.Table | pa.RecordBatch | PandasFrame
"""Tables of this process that can be tracked."""


def as_frame(spark: SparkSession, table: InMemory) -> DataFrame:
    """Return a table as a data frame, as ``createDataFrame`` makes it.

    Raises
    ------
    SourceError
        For more than `MOST_BYTES`, which would travel in every plan, and where Spark makes no
        data frame of it.
    """
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    size = table.nbytes if isinstance(table, pa.Table) else int(table.memory_usage().sum())
    if size > MOST_BYTES:
        raise SourceError(
            f"A table of {size:,} bytes in memory is too large to travel in every plan (at most "
            f"{MOST_BYTES:,}).\nWrite it to Parquet, and track the path."
        )
    try:
        if isinstance(table, pa.Table):
            return frame_of_arrow(spark, table)
        return spark.createDataFrame(table)
    except Exception as error:
        raise SourceError(f"Spark makes no data frame of this table: {error}") from error


SourceLike: TypeAlias = DataFrame | InMemory | str | os.PathLike[str]
"""The sources that can be tracked: data frames, tables in memory, and names or paths."""

_CHOOSING = frozenset(
    ["basepath", "modifiedafter", "modifiedbefore", "pathglobfilter", "recursivefilelookup"]
)
"""Options of readers that choose among the files of a folder."""

_PATTERN = frozenset("*?[{")
_FORMATS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".orc": "orc"}


@dataclass(frozen=True, slots=True)
class Folders:
    """Folders that a source reads, and the files that were in them."""

    paths: tuple[str, ...]
    options: Mapping[str, str]
    """The options of the reader that choose among files."""
    files: frozenset[str]


@dataclass(frozen=True, slots=True)
class Source:
    """A pinned source: how to read it, what it is called in messages, and its fingerprint."""

    frame: DataFrame
    description: str
    format: str | None
    """File format when the source is a path, else None."""
    fingerprint: tuple[FileState, ...]
    place: str | None = None
    """The name of the table, or the path; None: neither."""
    folders: Folders | None = None
    """The folders that the files are in; None: there are none, or not known."""
    version: VersionedTable | None = None
    """The table whose version the rows are, as they are in it; None: they are something else."""
    versions: tuple[PinnedVersion, ...] = ()
    """The versions of tables that the rows are read from, instead of a fingerprint."""
    identity: Identity | None = None
    """The table of the catalog whose rows these are; None: they are of none."""
    held: pa.Table | None = field(default=None, compare=False)
    """The table of this process that the rows were given as."""
    stays: bool = False
    """The version was asked for: the name of the table does not mean it once there is another."""

    @property
    def table(self) -> str | None:
        """The name of a table, which queries read anew: files may have been added to it."""
        return self.place if self.format is None else None

    def is_same(self, other: Source) -> bool:
        """Return True if another source has the same rows, in the same files or versions.

        Rows that were made in Python have none, and are compared.
        """
        if (self.fingerprint, self.versions) != (other.fingerprint, other.versions):
            return False
        if self.place != other.place or self.frame.sameSemantics(other.frame):
            return self.place == other.place
        return not (self.fingerprint or self.versions) and same_rows(self.frame, other.frame)

    @property
    def full_table(self) -> str | None:
        """The name of the table whatever the current schema is."""
        known = self.identity is not None and self.table is not None
        return plain_name(self.identity or ()) if known else self.table


def read_source(
    spark: SparkSession,
    source: SourceLike,
    format: str | None = None,
    options: Mapping[str, str] | None = None,
    at: int | Moment | None = None,
    *,
    copied: bool = False,
) -> Source:
    """Open a data frame, a table in memory, a table or view name, or a path of files, and pin it.

    Parameters
    ----------
    at
        The version of a table whose format keeps versions; None: the current one.
    copied
        Whether the rows are about to be copied: then they may be read from anywhere.

    Raises
    ------
    SourceError
        When there is no such table or path, or its format is not known.
    VersionGoneError
        When the table has no such version.
    """
    if isinstance(source, str | os.PathLike):
        found = _read_version(spark, os.fspath(source), format, at)
        if found is not None:
            return found
    if at is not None:
        raise SourceError(
            "at= is for tables of Delta and Iceberg by their name or path, whose versions can be "
            "read: the source has none.\nFor a data frame, read the version: "
            "spark.read.option('versionAsOf', ...)."
        )
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        if format is not None or _is_path(text):
            return _read_path(spark, text, format, dict(options or {}))
        try:
            frame = spark.table(text)
            frame.schema  # noqa: B018 - Connect resolves the name here
        except PySparkException as error:
            raise SourceError(
                f"There is no table, view or path {text!r}.\n"
                "Give a data frame, the name of a table or view, or a path that ends in "
                ".parquet, .csv, .json or .orc (or pass format=...)."
            ) from error
        found = _read_frame(spark, frame, f"table {text}", text, copied=copied)
        return replace(found, identity=identity_of(spark, name_parts(text)))
    if isinstance(source, DataFrame):
        return _read_frame(spark, source, "data frame", None, copied=copied)
    read = _read_frame(spark, as_frame(spark, source), "data frame", None, copied=copied)
    return replace(read, held=source if isinstance(source, pa.Table) else None)


def _read_version(
    spark: SparkSession, text: str, format: str | None, at: int | Moment | None
) -> Source | None:
    """Return the current or another version of the table that a text names; None: it has none."""
    table = versioned_path(spark, text, format) if format or _is_path(text) else None
    named = None
    if table is None and format is None:
        found = versioned_table(spark, text)
        if found is None:
            return None
        table, named = found
    if table is None:
        return None
    place = None if table_identity(table) is None else text
    at = named if at is None else at
    return replace(version_source(table, version_at(table, at), place), stays=at is not None)


def version_source(
    table: VersionedTable, version: int | None, place: str | None = None, *, listed: bool = True
) -> Source:
    """Return a version of a table as a source, whose rows stay whatever is committed later.

    Parameters
    ----------
    listed
        False: the files are not listed, which takes jobs.
    """
    frame = table.read(version)
    pinned = pin(table, version, table.files(version) if listed else ())
    return Source(
        frame,
        pinned.description,
        None,
        (),
        place,
        version=table,
        versions=(pinned,),
        identity=table_identity(table),
    )


def _read_frame(
    spark: SparkSession, frame: DataFrame, description: str, place: str | None, *, copied: bool
) -> Source:
    """Return a frame as a source: a version of a table where it is one, else what it reads."""
    if copied:
        return Source(frame, description, None, (), place)
    anew = read_anew(frame)
    if anew is not None:
        raise SourceError(
            f"The {description} reads {anew}, which may have other rows each time that it is "
            "read.\nCopy the rows once, when they are tracked: track(..., materialize=True)."
        )
    leaves, bare = pinned_leaves(spark, frame)
    if bare:
        (leaf,) = leaves
        return replace(version_source(leaf.table, leaf.version), stays=leaf.pinned)
    for leaf in leaves:
        if not leaf.pinned:
            raise SourceError(
                f"The {description} computes its rows from the {FORMAT_NAMES[leaf.table.format]} "
                f"table {leaf.table.table} as it is whenever it runs.\nTrack the table and make a "
                f"query over it, read a version in the frame (VERSION AS OF {leaf.version}), or "
                "copy the rows once (materialize=True)."
            )
    if leaves:
        versions = tuple(pin(x.table, x.version, x.table.files(x.version)) for x in leaves)
        return Source(frame, description, None, (), place, versions=versions)
    files = fingerprint(spark, frame)
    check_plain_files(folders_of(files))
    folders = _folders(
        spark, frame, files, None if place is None or is_temporary(spark, place) else place
    )
    return Source(frame, description, None, files, place, folders)


def _is_path(text: str) -> bool:
    return "/" in text or os.sep in text or Path(text).suffix in _FORMATS or Path(text).exists()


def _read_path(
    spark: SparkSession, path: str, format: str | None, options: dict[str, str]
) -> Source:
    kind = format or _format_of(path)
    if kind is None:
        raise SourceError(
            f"The format of {path!r} is not known.\n"
            "Name it: track(..., format='parquet' | 'csv' | 'json' | 'orc')."
        )
    if (folder := local_path(path)) is not None:
        check_plain_files([folder.absolute()])
    if kind == "csv":
        options = {"header": "true", "inferSchema": "true", **options}
    try:
        frame = spark.read.format(kind).options(**options).load(path)
        with readable_types():
            frame.schema  # noqa: B018 - Connect reads the schema here
    except PySparkException as error:
        raise SourceError(f"Spark cannot read {path!r} as {kind}: {first_line(error)}") from error
    files = fingerprint(spark, frame)
    check_plain_files(folders_of(files))
    folders = _listed(spark, (path,), options, files)
    return Source(frame, f"{kind} {path}", kind, files, path, folders)


def _format_of(path: str) -> str | None:
    local = Path(unquote(urlparse(path).path) if path.startswith("file:") else path)
    if local.suffix in _FORMATS:
        return _FORMATS[local.suffix]
    if local.is_dir():
        # Spark passes over names that begin so, which are of what is kept beside data.
        shown = [child for child in local.rglob("*") if not child.name.startswith(("_", "."))]
        suffixes = {child.suffix for child in shown if child.suffix in _FORMATS}
        if len(suffixes) == 1:
            return _FORMATS[suffixes.pop()]
    return None


def fingerprint(spark: SparkSession, frame: DataFrame) -> tuple[FileState, ...]:
    """Return path, length and modification time of every file a frame reads, sorted.

    Empty for data that is not in files.
    """
    files = sorted(frame.inputFiles()) or _files_of_cached(frame)
    states = [local_state(file) for file in files]
    if all(state is not None for state in states):
        return tuple(state for state in states if state is not None)
    listing = spark.read.format("binaryFile").load(files)
    columns = listing.selectExpr("path", "length", "unix_millis(modificationTime) AS time")
    return tuple(sorted((row[0], row[1], row[2]) for row in columns.collect()))


def _files_of_cached(frame: DataFrame) -> list[str]:
    """Return the files of a frame whose rows Spark has cached, and whose files it hides."""
    if not hasattr(frame, "_jdf"):
        return []
    from lipstick.dataframes.jvm import file_relations

    return sorted({file for each in file_relations(frame) for file in each.location().inputFiles()})


def check_unchanged(spark: SparkSession, name: str, source: Source) -> None:
    """Raise :class:`SourceChangedError` if a source has other files than it had.

    One was replaced or removed, or has come into a folder of the source. A version of a table
    stays what it is, as long as it can be read.
    """
    for pinned in source.versions:
        check_readable(spark, name, pinned)
    if source.versions or not (source.fingerprint or source.table or source.folders):
        return
    try:
        frame = source.frame if source.full_table is None else spark.table(source.full_table)
        now = fingerprint(spark, frame)
        folders = source.folders
        came = set[str]() if folders is None else _files(spark, folders) - folders.files
    except PySparkException as error:
        raise SourceChangedError(
            f"The source of {name!r} ({source.description}) cannot be read any more: "
            f"{first_line(error)}\nuntrack({name!r}), then track what is there."
        ) from error
    changed = sorted({state[0] for state in set(source.fingerprint) ^ set(now)} | came)
    if not changed:
        return
    shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
    raise SourceChangedError(
        f"The source of {name!r} ({source.description}) changed since it was tracked: {shown}.\n"
        f"Annotations of the old and the new rows must not mix: untrack({name!r}), then track it "
        "again."
    )


def _folders(
    spark: SparkSession, frame: DataFrame, files: Sequence[FileState], table: str | None
) -> Folders | None:
    """Return the folders that a frame, or a table, reads; None where its plan names none."""
    if not files:
        return None
    paths, options = _paths(spark, frame)
    if not paths and table is not None and all(local_state(state[0]) for state in files):
        # Over Connect: its files are in its folder, below partitions.
        parents = {PurePosixPath(unquote(urlparse(state[0]).path)).parent for state in files}
        paths = tuple({str(_above_partitions(parent)) for parent in parents})
    return _listed(spark, paths, options, files) if paths else None


def _paths(spark: SparkSession, frame: DataFrame) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the paths that the plan of a frame reads, and the options that it reads them with.

    Over Spark Connect a plan has the paths that a reader got, and no paths of tables.
    """
    paths: dict[str, None] = {}
    options: dict[str, str] = {}
    if hasattr(frame, "_jdf"):
        from lipstick.dataframes.jvm import file_relations, texts

        for relation in file_relations(frame):
            roots = relation.location().rootPaths()
            paths |= dict.fromkeys(roots.apply(at).toUri().toString() for at in range(roots.size()))
            options |= texts(relation.options())
    else:
        from lipstick.dataframes.messages import relation_of, values_of

        for source in values_of(relation_of(spark, frame), "data_source"):
            paths |= dict.fromkeys(source.get("paths", []))
            options |= source.get("options", {})
    return tuple(paths), options


def _above_partitions(folder: PurePosixPath) -> PurePosixPath:
    while "=" in folder.name:
        folder = folder.parent
    return folder


def _listed(
    spark: SparkSession,
    paths: Sequence[str],
    options: Mapping[str, str],
    files: Sequence[FileState],
) -> Folders | None:
    """Return folders with the files that are in them; None where the paths are files."""
    read = {unquote(urlparse(state[0]).path) for state in files}
    if not files or all(unquote(urlparse(path).path) in read for path in paths):
        return None
    kept = {name: value for name, value in options.items() if name.lower() in _CHOOSING}
    folders = Folders(tuple(paths), kept, frozenset())
    return replace(folders, files=frozenset(_files(spark, folders)))


def _files(spark: SparkSession, folders: Folders) -> set[str]:
    """Return the files that are in folders now: by this process on a local disk, else by Spark."""
    local = all(
        urlparse(path).scheme in ("", "file") and not _PATTERN & set(path) for path in folders.paths
    )
    chosen = {name.lower() for name in folders.options} - {"recursivefilelookup", "basepath"}
    if chosen or not local:
        reader = spark.read.format("binaryFile").options(**folders.options)
        return set(reader.load(list(folders.paths)).inputFiles())
    options = {name.lower(): value.lower() for name, value in folders.options.items()}
    every = options.get("recursivefilelookup") == "true"
    found = set[str]()
    for path in folders.paths:
        root = unquote(urlparse(path).path) if path.startswith("file:") else path
        found.update(_below(Path(root), every=every))
    return found


def _below(root: Path, *, every: bool) -> Iterator[str]:
    """Yield the files in a folder and in its partitions, or in every folder of it."""
    if root.is_file():
        yield str(root)
        return
    for at, folders, files in os.walk(root, followlinks=True):
        folders[:] = [name for name in folders if "=" in name or (every and name[0] not in "._")]
        yield from (f"{at}/{name}" for name in files if name[0] not in "._")


def copied_source(spark: SparkSession, source: Source, folder: Path, name: str) -> Source:
    """Copy the rows of a source to Parquet files below a folder, and return these as a source."""
    path = folder / f"{name}-{uuid.uuid4().hex[:8]}"
    source.frame.write.parquet(str(path))
    frame = spark.read.schema(source.frame.schema).parquet(str(path))
    return Source(frame, f"copy of {source.description}", "parquet", fingerprint(spark, frame))
