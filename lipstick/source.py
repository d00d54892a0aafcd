"""Where the rows of a tracked relation come from, and whether they are still the same.

A source is pinned when it is tracked: the data frame keeps its list of files, and a fingerprint
(path, length and modification time of every file) tells later jobs whether a file was replaced.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlparse

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick.errors import SourceChangedError, SourceError

FileState: TypeAlias = tuple[str, int, int]
"""A file's URI, length in bytes and modification time in nanoseconds (local) or milliseconds."""

_FORMATS = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".orc": "orc"}


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

    @property
    def table(self) -> str | None:
        """The name of a table, which queries read anew: files may have been added to it."""
        return self.place if self.format is None else None


def read_source(
    spark: SparkSession,
    source: DataFrame | str | os.PathLike[str],
    format: str | None = None,
    options: Mapping[str, str] | None = None,
) -> Source:
    """Open a data frame, a table or view name, or a path of files, and pin it.

    Raises
    ------
    SourceError
        When there is no such table or path, or its format is not known.
    """
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
        return Source(frame, f"table {text}", None, fingerprint(spark, frame), text)
    return Source(source, "data frame", None, fingerprint(spark, source))


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
    if kind == "csv":
        options = {"header": "true", "inferSchema": "true", **options}
    try:
        frame = spark.read.format(kind).options(**options).load(path)
        frame.schema  # noqa: B018 - Connect reads the schema here
    except PySparkException as error:
        raise SourceError(f"Spark cannot read {path!r} as {kind}: {error}") from error
    return Source(frame, f"{kind} {path}", kind, fingerprint(spark, frame), path)


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
    files = sorted(frame.inputFiles())
    states = [local_state(file) for file in files]
    if all(state is not None for state in states):
        return tuple(state for state in states if state is not None)
    listing = spark.read.format("binaryFile").load(files)
    columns = listing.selectExpr("path", "length", "unix_millis(modificationTime) AS time")
    return tuple(sorted((row[0], row[1], row[2]) for row in columns.collect()))


def local_state(uri: str) -> FileState | None:
    """Return the state of a file; None: it is on no local disk. One that is gone has length -1."""
    parsed = urlparse(uri)
    if parsed.scheme not in ("", "file"):
        return None
    try:
        status = Path(unquote(parsed.path)).stat()
    except OSError:
        return (uri, -1, -1)
    return (uri, status.st_size, status.st_mtime_ns)


def check_unchanged(spark: SparkSession, name: str, source: Source) -> None:
    """Raise :class:`SourceChangedError` if a file of the source was replaced or removed."""
    if not source.fingerprint:
        return
    now = fingerprint(spark, source.frame if source.table is None else spark.table(source.table))
    if now == source.fingerprint:
        return
    before = set(source.fingerprint)
    changed = sorted({state[0] for state in before.symmetric_difference(now)})
    shown = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if len(changed) > 3 else "")
    raise SourceChangedError(
        f"The source of {name!r} ({source.description}) changed since it was tracked: {shown}.\n"
        f"Annotations of the old and the new rows must not mix: untrack({name!r}), then track it "
        "again."
    )
