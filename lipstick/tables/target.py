"""The table that an answer is written to: its columns, and the checks before it is written."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlparse

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NullType,
    ShortType,
    StructField,
    StructType,
)

from lipstick.errors import SourceError, TrackingError
from lipstick.tracking.source import Source, read_source
from lipstick.tracking.states import FORMAT_NAMES
from rewriter.dialect import Action, Into, Write

FILLED = "_lipstick_filled"
"""The struct column with the defaults of the table columns that the query does not write."""

_VARCHAR = "__CHAR_VARCHAR_TYPE_STRING"
_DEFAULT = "CURRENT_DEFAULT"
_DIGITS: Mapping[type[DataType], int] = {ByteType: 3, ShortType: 5, IntegerType: 10, LongType: 20}
"""The integer types, from the shortest, and how many digits values have."""


def goals(
    name: str, into: Into, answer: StructType, table: StructType, *, fills: bool
) -> tuple[str, ...]:
    """Return the target columns of an answer's columns in a table.

    Parameters
    ----------
    name
        That of the table.
    fills
        Columns may be left out where the statement lists the ones it gives, or takes them by name.

    Raises
    ------
    TrackingError
        When a column is not there, or is of a type whose values another one need not have.
    """
    if into.by_name:
        called: Sequence[str] = answer.names
    elif into.columns is not None:
        called = into.columns
    else:
        filled = {column.lower() for column in into.static}
        called = [column for column in table.names if column.lower() not in filled]
    wanted = table.names if into.by_name and not fills else called
    if len(answer) != len(wanted):
        listed = f"{len(wanted)} columns of {name!r} are listed"
        there = listed if into.columns is not None else f"{name!r} has {len(wanted)} columns"
        raise TrackingError(f"{there}, the answer has {len(answer)}.")
    places = {field.name.lower(): field for field in table}
    fields = [_goal(name, column, places, table) for column in called]
    for field, given in zip(fields, answer, strict=True):
        _check_type(name, field, given)
    if len({field.name for field in fields}) != len(fields):
        raise TrackingError("The answer has two columns of one name.\nName them apart: AS.")
    for column, _ in into.partition:
        _goal(name, column, places, table)
    return tuple(field.name for field in fields)


def _goal(name: str, column: str, places: dict[str, StructField], table: StructType) -> StructField:
    field = places.get(column.lower())
    if field is None:
        known = ", ".join(table.names)
        raise TrackingError(f"{name!r} has no column {column}.\nIts columns are: {known}.")
    return field


def _check_type(name: str, field: StructField, given: StructField) -> None:
    if isinstance(given.dataType, NullType):
        return
    wanted = field.metadata.get(_VARCHAR, field.dataType.simpleString())
    actual = given.metadata.get(_VARCHAR, given.dataType.simpleString())
    wider = _VARCHAR not in field.metadata and _holds(field.dataType, given.dataType)
    if wanted != actual and not wider:
        raise TrackingError(
            f"The column {field.name} of {name!r} is {wanted}, the answer's is {actual}: values "
            "could change when they are written.\n"
            f"Convert them in the query: CAST(... AS {field.dataType.simpleString()})."
        )


def _holds(wide: DataType, narrow: DataType) -> bool:
    """Return True if a type has all values of another one, so that Spark writes them unchanged."""
    kinds = list(_DIGITS)
    if type(wide) in kinds and type(narrow) in kinds:
        return kinds.index(type(narrow)) <= kinds.index(type(wide))
    if isinstance(wide, DecimalType):
        if isinstance(narrow, DecimalType):
            whole = wide.precision - wide.scale >= narrow.precision - narrow.scale
            return whole and wide.scale >= narrow.scale
        return _DIGITS.get(type(narrow), 39) <= wide.precision - wide.scale
    return isinstance(wide, DoubleType) and isinstance(narrow, FloatType)


def written_as(value: Column, given: DataType, field: StructField) -> Column:
    """Return a value as the table has it."""
    same = given.simpleString() == field.dataType.simpleString()
    return value if same else value.cast(field.dataType)


def filling(
    spark: SparkSession, into: Into, given: Sequence[str], table: StructType
) -> DataFrame | None:
    """Return one row with the values of the table columns that the query does not write.

    The values of PARTITION, else the columns' defaults, else NULL; evaluated once.
    """
    values = {name.lower(): value for name, value in into.static.items()}
    rest = [field for field in table if field.name not in given]
    if not rest:
        return None
    columns = []
    for field in rest:
        text = values.get(field.name.lower()) or field.metadata.get(_DEFAULT) or "NULL"
        value = F.expr(text).cast(field.dataType)
        padded = re.fullmatch(r"char\((\d+)\)", field.metadata.get(_VARCHAR, ""))
        if padded is not None:
            value = F.rpad(value, int(padded[1]), " ")
        columns.append(value.alias(field.name))
    return spark.range(1).select(F.struct(*columns).alias(FILLED))


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
        The name that it is tracked under.
    source
        The table's name, or the path.
    mode
        ``error`` (there must be nothing yet), ``append`` or ``overwrite``.
    format
        The format of a path's files; None: a table.
    into
        The columns of an existing table that get values.
    keeps_schema
        Overwriting leaves the columns of the table as they are. Columns that are given no values
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
    """The format of a new table; None: the session's default, or the existing format."""
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

    @classmethod
    def of(cls, write: Write) -> Target:
        """Return the table that a statement fills."""
        modes = {Action.APPEND: "append", Action.OVERWRITE: "overwrite"}
        return cls(
            ".".join(write.target),
            write.table,
            modes.get(write.action, "error"),
            into=write.into,
            keeps_schema=write.action is not Action.CREATE,
            provider=write.provider,
            partitions=write.partitioned,
        )

    @property
    def replaced(self) -> tuple[str, ...]:
        """The columns whose values select the overwritten rows; (): all rows, or none."""
        return tuple(self.into.static) if self.mode == "overwrite" else ()

    @property
    def adds(self) -> bool:
        """True if the write keeps rows of the table, all or some."""
        return self.mode == "append" or bool(self.replaced)

    @property
    def is_path(self) -> bool:
        """True if the target is a path of files, not a table."""
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

    def check_new(self, spark: SparkSession) -> None:
        """Refuse a table that Spark would make of a format whose provenance is not kept."""
        if self.is_path or self.provider is not None:
            return
        catalog, _, schema = self.source.replace("`", "").rpartition(".")[0].partition(".")
        if schema and catalog.lower() != "spark_catalog":
            raise TrackingError(
                f"{self.name!r} is a table of the catalog {catalog}, whose format is not known "
                "before it is made.\nWrite a table of the session's own catalog."
            )
        check_provider(self.name, spark.conf.get("spark.sql.sources.default"))

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
    if provider is not None and provider.lower() in FORMAT_NAMES:
        raise TrackingError(
            f"{name!r} is a table of {FORMAT_NAMES[provider.lower()]}, and provenance is not kept "
            "beside these.\nWrite the rows without provenance, q.df.write, or make the table of "
            f"{' or '.join(KEPT)}."
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
