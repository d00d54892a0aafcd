"""Tracked relations: their views and the columns that name their tuples.

A token is made of columns, as they are: a declared key, the id that a table's format gives a row,
the position of a row in a file (file number and row number in one integer), or the row's values
with an ordinal among equals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Protocol

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    MapType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)
from pyspark.sql.window import Window

from lipstick import display
from lipstick.capture.manifest import RelationRecord
from lipstick.errors import SourceChangedError, SourceError, TrackingError
from lipstick.tracking.formats.versions import VersionedTable
from lipstick.tracking.naming import ROW_BITS
from lipstick.tracking.source import Source, fingerprint
from lipstick.tracking.states import FileState
from lipstick.tracking.views import column_of
from rewriter import SESSION, WINDOW
from rewriter.blocks import TokenSource

ROW_COLUMN = "_lipstick_row"
ORDINAL_COLUMN = "_lipstick_ordinal"
ROW_ID_COLUMN = "_lipstick_row_id"
_SPELT = "_lipstick_spelt_"
"""Before a column's name: its values as texts."""
_NAMING = (BinaryType, BooleanType, DateType, NumericType, TimestampNTZType, TimestampType)
"""Types of keys, beside texts without a collation."""
_JSON = {
    "ignoreNullFields": "false",
    "timeZone": "UTC",
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
"""Options by which different values have different texts."""
_SHOWN = 5


class Naming(Enum):
    """The kinds of tokens that identify the tuples of a relation."""

    KEY = "key"
    ROWS = "rows"
    ROW_IDS = "row ids"
    VALUES = "values"
    NONE = "none"


_OF_WINDOWS = {"spark.timeWindow": WINDOW, "spark.sessionWindow": SESSION}
"""The metadata keys of columns of time windows, which tables written from them have, too."""
_OF_LENGTH = "__CHAR_VARCHAR_TYPE_STRING"
"""The metadata key with the CHAR or VARCHAR type of a string column."""


def fixed_length(column: StructField) -> str | None:
    """Return the type of a text of a fixed length, CHAR(n); None if a column is none."""
    kind = str(column.metadata.get(_OF_LENGTH, ""))
    return kind if kind.startswith("char(") else None


def mark_of(column: StructField) -> str | None:
    """Return what Spark knows of a column beyond its type, as the rewriter calls it."""
    windows = (mark for key, mark in _OF_WINDOWS.items() if column.metadata.get(key))
    return next(windows, None) or fixed_length(column)


@dataclass(frozen=True, slots=True)
class NamedRows:
    """Rows with the columns that make their tokens; fields are as of :class:`Tracked`."""

    frame: DataFrame
    naming: Naming
    token: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    verified: bool = True


class TrackedStream(Protocol):
    """The stream of a relation whose rows keep coming, as the system that follows it knows it."""

    @property
    def description(self) -> str:
        """A description of its source, for messages."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """A tracked relation."""

    name: str
    source: Source
    view: str
    naming: Naming
    token: tuple[str, ...]
    """Columns of ``view`` that make the token; empty without provenance."""
    schema: StructType
    verified: bool
    files: tuple[str, ...] = ()
    """For row tokens: file number to URI."""
    unique: tuple[tuple[str, ...], ...] = ()
    """Sets of columns that are known to have no values twice."""
    derived: Path | None = None
    """The version of its derivation, where it was written by an annotated query."""
    stream: TrackedStream | None = None
    """The stream that it is; None if its rows stand still."""
    copied: tuple[FileState, ...] | None = None
    """The files of the copy that ``view`` reads; None: it reads the source."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The relation's own columns."""
        return tuple(self.schema.names)

    @property
    def called_as_its_table(self) -> bool:
        """True if Spark finds the table by the relation's name; else the name is a view of ours."""
        return (self.source.table or "").replace("`", "").lower() == self.name.lower()

    @property
    def marks(self) -> Mapping[str, str]:
        """The marks of columns: metadata that Spark acts by beyond types, by column."""
        marks = {field.name: mark_of(field) for field in self.schema}
        return {name: mark for name, mark in marks.items() if mark is not None}

    @property
    def token_source(self) -> TokenSource:
        """The relation as the rewriter sees it: its view and token columns."""
        return TokenSource(self.view, self.token, self.unique)

    @property
    def record(self) -> RelationRecord:
        """The record of the relation in the manifest of a capture."""
        return RelationRecord(
            name=self.name,
            view=self.view,
            naming=self.naming.value,
            token=self.token,
            columns=self.columns,
            verified=self.verified,
            description=self.source.description,
            files=self.files,
            fingerprint=self.source.fingerprint if self.copied is None else self.copied,
            derived=None if self.derived is None else str(self.derived.absolute()),
            versions=self.source.versions,
        )

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return the relation with its token columns."""
        return spark.table(self.view)

    def __repr__(self) -> str:
        return display.tracked_text(self)

    def _repr_html_(self) -> str:
        return display.tracked_html(self)


def check_name(name: str) -> None:
    """Refuse a name that no query can have: in backticks any printable text has a place.

    Raises
    ------
    TrackingError
        For an empty name or part of one, backticks, and characters that cannot be printed.
    """
    if not all(name.split(".")) or "`" in name or not name.isprintable():
        raise TrackingError(
            f"{name!r} cannot name a relation.\nA name has printable characters, no backticks, and "
            "something before and after each dot. Where it is not a plain word, queries have it in "
            "backticks."
        )


def name_rows(
    name: str, source: Source, key: str | Sequence[str] | None, provenance: bool
) -> NamedRows:
    """Return the rows of a source with their token columns, which are not verified here.

    Raises
    ------
    TrackingError
        For unknown key columns or keys of a type without order.
    SourceError
        When nothing names the rows of the source stably.
    """
    frame = source.frame
    if not provenance:
        if key is not None:
            raise TrackingError(
                f"track({name!r}, provenance=False) takes no key: its tuples get no tokens."
            )
        return NamedRows(frame, Naming.NONE)
    if key is None:
        if source.version is not None:
            return _format_tokens(source.version, frame)
        if source.format != "parquet":
            raise SourceError(
                f"Nothing names the rows of {name!r} ({source.description}) stably.\n"
                "Declare a key (key=['id']), name rows by their values (key='*'), or copy them "
                "once to Parquet (materialize=True). provenance=False leaves them without tokens."
            )
        # As _metadata writes them, which is not as inputFiles() does where a path has spaces.
        return _places(frame, "_metadata.file_path", "_metadata.row_index")
    if key == "*":
        return _value_tokens(name, frame)
    columns = [key] if isinstance(key, str) else list(key)
    if not columns:
        raise TrackingError(f"track({name!r}, key=[]): a key has at least one column.")
    resolved = tuple(_resolve(name, frame, column) for column in columns)
    for column in resolved:
        kind = frame.schema[column].dataType
        if not names_rows(kind):
            raise TrackingError(
                f"Column {column!r} of {name!r} is of type {kind.simpleString()}: keys are of "
                "numbers, truth values, dates, timestamps, binaries and texts without a "
                "collation.\nChoose a key of other columns, or name rows by their values "
                "(key='*')."
            )
    return NamedRows(frame, Naming.KEY, resolved, verified=False)


def _places(frame: DataFrame, file: str, index: str) -> NamedRows:
    paths = frame.select(F.col(file).alias("path")).distinct()
    files = tuple(sorted(row["path"] for row in paths.collect()))
    row = row_place(file, files, index=index)
    return NamedRows(frame.select("*", row.alias(ROW_COLUMN)), Naming.ROWS, (ROW_COLUMN,), files)


def _format_tokens(table: VersionedTable, frame: DataFrame) -> NamedRows:
    """Return the ids of rows as tokens where the version has them, else their places in files."""
    named = _with_column(frame, table.row_id, ROW_ID_COLUMN)
    if named is not None:
        return NamedRows(named, Naming.ROW_IDS, (ROW_ID_COLUMN,), verified=False)
    if _with_column(frame, table.place[1], ROW_COLUMN) is not None:
        return _places(frame, *table.place)
    raise SourceError(
        f"Nothing names the rows of {table.table} stably: this version has no row ids, and Spark "
        "does not show their places in files.\nDeclare a key (key=['id']), name rows by their "
        "values (key='*'), enable row tracking (delta.enableRowTracking) and track the version "
        "after that, or copy the rows once (materialize=True)."
    )


def _with_column(frame: DataFrame, column: str, name: str) -> DataFrame | None:
    """Return a frame with a metadata column under a name; None: Spark knows none such here."""
    try:
        found = frame.select("*", F.col(column).alias(name))
        found.schema  # noqa: B018 - Connect resolves the column here
    except PySparkException:
        return None
    return found


def row_place(
    file: str, files: Sequence[str], first: int = 0, index: str = "_metadata.row_index"
) -> Column:
    """Return the place of a row in files: the number of its file and its own in one integer.

    Parameters
    ----------
    file
        The column with the file of a row.
    files
        The files in order; the first has the number ``first``.
    index
        The column with the number of a row in its file.
    """
    number = F.lit(first)
    if len(files) > 1:
        numbers = enumerate(files, start=first)
        known = F.create_map(*(F.lit(v) for pair in numbers for v in reversed(pair)))
        number = known[F.col(file)]
    return F.shiftleft(number.cast("bigint"), ROW_BITS).bitwiseOR(F.col(index))


def _value_tokens(name: str, frame: DataFrame) -> NamedRows:
    """Return the values of rows as tokens: as texts where their types are in no key."""
    if not frame.columns:
        raise TrackingError(f"{name!r} has no columns, whose values could name its rows (key='*').")
    token = []
    for field in frame.schema.fields:
        token.append(field.name)
        if not names_rows(field.dataType):
            token[-1] = f"{_SPELT}{field.name}"
            frame = frame.withColumn(token[-1], _spelt(column_of(field.name), field.dataType))
    columns = list(map(column_of, token))
    window = Window.partitionBy(*columns).orderBy(*columns)
    numbered = frame.select("*", F.row_number().over(window).alias(ORDINAL_COLUMN))
    return NamedRows(numbered, Naming.VALUES, (*token, ORDINAL_COLUMN))


def _resolve(name: str, frame: DataFrame, column: str) -> str:
    exact = [c for c in frame.columns if c == column]
    close = exact or [c for c in frame.columns if c.lower() == column.lower()]
    if len(close) != 1:
        problem = "has no column" if not close else "has several columns"
        raise TrackingError(
            f"{name!r} {problem} {column!r} to use as a key.\n"
            f"Its columns are: {', '.join(frame.columns)}."
        )
    return close[0]


def names_rows(type_: DataType) -> bool:
    """Return True if values of a type can be parts of keys: Spark and Arrow have them alike."""
    if isinstance(type_, StringType):
        return type_.simpleString() == "string"
    return isinstance(type_, _NAMING)


def _spelt(value: Column, type_: DataType) -> Column:
    """Return a value as a text that no other value of its type has."""
    return value.cast("string") if isinstance(type_, StringType) else _as_json(value)


def _as_json(value: Column) -> Column:
    return F.to_json(F.struct(value.alias("value")), _JSON)


def unordered(type_: DataType) -> bool:
    """Return True if values of a type have no order, so that they cannot identify rows."""
    if isinstance(type_, MapType) or type_.typeName() in ("variant", "interval"):
        return True
    if isinstance(type_, ArrayType):
        return unordered(type_.elementType)
    if isinstance(type_, StructType):
        return any(unordered(field.dataType) for field in type_.fields)
    return False


def comparable(value: Column, type_: DataType) -> Column:
    """Return a value, as JSON where values of its type cannot be compared."""
    if not unordered(type_):
        return value
    return _as_json(value)


def check_columns(spark: SparkSession, relations: Iterable[Tracked]) -> None:
    """Refuse tables by whose names Spark finds other columns than in the tracked versions.

    Texts are understood by the columns that Spark finds.

    Raises
    ------
    SourceChangedError
    """
    for tracked in relations:
        source, table = tracked.source, tracked.source.full_table
        if source.version is None or table is None or not tracked.called_as_its_table:
            continue
        now = [(column.name, column.dataType) for column in spark.table(table).schema]
        if now != [(column.name, column.dataType) for column in tracked.schema]:
            raise SourceChangedError(
                f"The columns of {table} are others now than in what is tracked "
                f"({source.description}).\nuntrack({tracked.name!r}), then track the table as it "
                "is now; or track this version under a name of its own, "
                f"track('earlier', {table!r}, at={source.versions[0].version})."
            )


def verify_tokens(name: str, rows: NamedRows) -> NamedRows:
    """Return rows once keys, or the row ids of a format, are never NULL and unique.

    Raises
    ------
    TrackingError
        With some values of a key that is not.
    SourceError
        When a format has not given every row an id of its own.
    """
    if rows.naming is Naming.KEY:
        verify_key(name, rows.frame, rows.token)
    elif rows.naming is Naming.ROW_IDS:
        verify_row_ids(name, rows.frame)
    return replace(rows, verified=True)


def verify_row_ids(name: str, frame: DataFrame) -> None:
    """Raise :class:`SourceError` if the ids that a format gives rows are missing or not unique."""
    ids = F.col(ROW_ID_COLUMN)
    counts = frame.agg(F.count(F.lit(1)), F.count(ids), F.count_distinct(ids)).head()
    assert counts is not None
    rows, known, distinct = counts
    if rows != known or known != distinct:
        raise SourceError(
            f"The format's row ids do not name the rows of {name!r}: of {rows:,} rows {known:,} "
            f"have one, and {distinct:,} are different.\nDeclare a key (key=['id']), or name "
            "rows by their values (key='*')."
        )


def stand_in(spark: SparkSession, name: str, rows: DataFrame, called: str) -> Tracked:
    """Return a relation by which plans that read some rows are written, under a name."""
    source = Source(rows, called, None, fingerprint(spark, rows), called)
    return Tracked(name, source, name, Naming.NONE, (), rows.schema, verified=True)


def verify_key(name: str, frame: DataFrame, key: Sequence[str]) -> None:
    """Raise :class:`TrackingError` if the key has NULLs or is not unique, naming some values."""
    columns = [column_of(column) for column in key]
    missing = columns[0].isNull()
    for column in columns[1:]:
        missing = missing | column.isNull()
    groups = frame.groupBy(*columns).agg(F.count(F.lit(1)).alias("_n"))
    wrong = groups.where((F.col("_n") > 1) | missing).limit(_SHOWN).collect()
    if not wrong:
        return
    null = [row for row in wrong if any(row[i] is None for i in range(len(key)))]
    shown = "; ".join(
        ", ".join(f"{c}={row[i]!r}" for i, c in enumerate(key)) + f" ({row['_n']} rows)"
        for row in (null or wrong)
    )
    problem = "has NULLs" if null else "is not unique"
    raise TrackingError(
        f"The key ({', '.join(key)}) of {name!r} {problem}: {shown}.\n"
        "Choose a key that is unique and never NULL, or key='*' to name rows by their values."
    )
