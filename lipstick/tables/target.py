"""Where an answer is written to, and what must hold before anything is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlparse

from pyspark.sql import SparkSession
from pyspark.sql.types import NullType, StructType

from lipstick.errors import SourceError, TrackingError
from lipstick.tables.columns import goals
from lipstick.tracking.source import Source, read_source
from rewriter.dialect import Into

KEPT = ("parquet", "orc")
"""Formats of paths in which every value is read as it was written."""

LOSSY = ("avro", "binaryfile", "csv", "json", "text", "xml")
"""Formats of tables that do not give back every value: '' is NULL in one, a type another."""

_MODES = ("append", "error", "overwrite")

BY_NAME = Into(by_name=True)

Key: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """A table, or a path of files, and how it is filled.

    Parameters
    ----------
    name
        What it is tracked as.
    source
        The table's name, or the path.
    mode
        ``error`` (there must be nothing yet), ``append`` or ``overwrite``.
    format
        Of a path's files; None: a table.
    into
        Which columns of a table that is there are given values.
    keeps_schema
        Overwriting leaves the columns of the table as they are. Those that are given no values
        are filled.
    key
        Columns that name the rows; (): their places do; None: what the query groups by, if it
        shows that, else their places.
    directory
        Where the derivation is kept; None: beside a path, or in the session's store.
    """

    name: str
    source: str
    mode: str
    format: str | None = None
    into: Into = BY_NAME
    keeps_schema: bool = False
    key: Key | None = None
    directory: Path | None = None
    provider: str | None = None
    """The format of a table that is made; None: that of the session, or of what is there."""
    partitions: tuple[str, ...] = ()
    """The columns that a table that is made is partitioned by; other names are passed over."""

    def __post_init__(self) -> None:
        check_provider(self.name, self.provider)
        if self.mode not in _MODES:
            raise TrackingError(
                f"mode is one of {', '.join(map(repr, _MODES))}, not {self.mode!r}."
            )
        if self.format is not None and self.format not in KEPT:
            raise TrackingError(
                f"Values may be read from {self.format} otherwise than they were written.\n"
                f"Write {' or '.join(KEPT)} files, or a table (saveAsTable)."
            )

    @property
    def replaced(self) -> tuple[str, ...]:
        """The columns whose values tell which rows are overwritten; (): all rows are, or none."""
        return tuple(self.into.static) if self.mode == "overwrite" else ()

    @property
    def adds(self) -> bool:
        """Whether rows of the table stay, all or some."""
        return self.mode == "append" or bool(self.replaced)

    @property
    def is_path(self) -> bool:
        """Whether files are written, and no table."""
        return self.format is not None

    def kept_in(self, store: Path) -> Path:
        """Return the directory of its derivation; ``store`` is the session's."""
        if self.directory is not None:
            return self.directory
        if self.is_path:
            return Path(f"{_local(self.source)}.provenance").absolute()
        return store / "derived" / self.name

    def existing(self, spark: SparkSession) -> Source | None:
        """Return what is there already; None: nothing."""
        if not self.is_path:
            return self.read(spark) if spark.catalog.tableExists(self.source) else None
        try:
            return self.read(spark)
        except SourceError:
            return None

    def read(self, spark: SparkSession) -> Source:
        """Return what is there."""
        return read_source(spark, self.source, self.format)

    def columns(self, answer: StructType, existing: Source | None) -> tuple[str, ...]:
        """Return what the columns of an answer are called in the table.

        Raises
        ------
        TrackingError
            When they are not of the types that the table has, or no table can have them.
        """
        keeps = self.mode == "append" or self.keeps_schema
        if existing is not None and keeps:
            table = existing.frame.schema
            return goals(self.name, self.into, answer, table, fills=self.keeps_schema)
        folded = [name.lower() for name in answer.names]
        twice = next((name for name in answer.names if folded.count(name.lower()) > 1), None)
        if twice is not None:
            raise TrackingError(f"The answer has two columns called {twice}.\nName them apart: AS.")
        untyped = [field.name for field in answer if isinstance(field.dataType, NullType)]
        if untyped:
            raise TrackingError(
                f"The column {untyped[0]} is NULL and has no type.\nGive it one: CAST(NULL AS ...)."
            )
        return tuple(answer.names)


def check_provider(name: str, provider: str | None) -> None:
    """Refuse the format of a table that does not keep the values that are written to it."""
    if provider is not None and provider.lower() in LOSSY:
        raise TrackingError(
            f"Values may be read from {name!r}, a table of {provider.lower()}, otherwise than they "
            f"were written.\nMake it of {' or '.join(KEPT)}: CREATE TABLE ... USING parquet AS."
        )


def _local(path: str) -> str:
    parsed = urlparse(path)
    return unquote(parsed.path) if parsed.scheme == "file" else os.fspath(path).rstrip("/")


def named_key(name: str, key: Sequence[str], columns: Sequence[str]) -> Key:
    """Return the columns of a key as the table spells them.

    Raises
    ------
    TrackingError
        For a column that the table does not have.
    """
    known = {column.lower(): column for column in columns}
    missing = [column for column in key if column.lower() not in known]
    if missing:
        raise TrackingError(
            f"{name!r} has no column {missing[0]!r} to use as a key.\n"
            f"Its columns are: {', '.join(columns)}."
        )
    return tuple(known[column.lower()] for column in key)
