"""The source of a streaming data frame: its description, and how it is read again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType, TimestampType

from lipstick.dataframes.jvm import Plan, analysed, elements
from lipstick.errors import SourceError
from lipstick.systems.streaming.checkpoint import FileRead
from lipstick.systems.streaming.prepared import (
    RAW,
    TRANSPARENT,
    WATERMARK,
    Prepared,
    check_prepared,
)
from lipstick.systems.streaming.sources import Batched, Replayed, replayed_source
from lipstick.systems.streaming.sources.options import option
from lipstick.systems.streaming.starts import settings_of
from lipstick.tracking.states import local_path

_PYTHON = "PythonDataSourceV2"
_WITHIN = "DeduplicateWithinWatermark"
_PER_ROW = (*TRANSPARENT, "Filter", "Project", WATERMARK)
LEAVES = ("StreamingRelation", "StreamingRelationV2")
"""Spark's operators that read a source."""


@dataclass(frozen=True, slots=True)
class Described:
    """The source of a streaming data frame.

    Parameters
    ----------
    format, options
        Of the reader.
    python
        It is a data source written in Python, of a classic session.
    distinct, within
        The columns of ``dropDuplicates`` over it, and whether within the watermark.
    prepared
        The uppermost of the projections and filters between, and Spark's operator that reads the
        source; None: there are none.
    """

    format: str
    options: Mapping[str, str]
    python: bool = False
    distinct: tuple[str, ...] = ()
    within: bool = False
    prepared: tuple[Plan, Plan] | None = None


def described(frame: DataFrame) -> Described | None:
    """Return the source of a streaming data frame, or None if the frame transforms it further."""
    return _classic(frame) if hasattr(frame, "_jdf") else _connect(frame)


def described_leaf(leaf: Plan) -> Described:
    """Return the source of an operator of a plan that is one of :data:`LEAVES`."""
    if leaf.getClass().getSimpleName() == "StreamingRelationV2":
        options = leaf.extraOptions().asCaseSensitiveMap()
        source = leaf.source()
        python = source.isDefined() and source.get().getClass().getSimpleName() == _PYTHON
        name = str(leaf.sourceName())
        reader_options = {str(name): str(options.get(name)) for name in options.keySet()}
        return Described(name if python else name.lower(), reader_options, python)
    source = leaf.dataSource()
    pairs = elements(source.options().toSeq())
    return Described(
        str(source.className()).lower(), {str(pair._1()): str(pair._2()) for pair in pairs}
    )


def _classic(frame: DataFrame) -> Described | None:
    plan = analysed(frame)
    distinct: tuple[str, ...] = ()
    within = plan.getClass().getSimpleName() == _WITHIN
    if within or plan.getClass().getSimpleName() == "Deduplicate":
        distinct = tuple(str(key.name()) for key in elements(plan.keys()))
        plan = plan.children().apply(0)
    rows = plan
    watermarks = 0
    while (kind := plan.getClass().getSimpleName()) in _PER_ROW:
        watermarks += kind == WATERMARK
        plan = plan.children().apply(0)
    if kind not in LEAVES or watermarks > 1:
        return None
    leaf = replace(described_leaf(plan), distinct=distinct, within=within)
    if watermarks and rows.getClass().getSimpleName() == WATERMARK:
        rows = rows.children().apply(0)
    if rows.getClass().getSimpleName() in LEAVES:
        return leaf
    return replace(leaf, prepared=(rows, plan))


def _connect(frame: DataFrame) -> Described | None:
    from lipstick.dataframes.messages import relation_of

    relation: Any = relation_of(frame.sparkSession, frame)
    distinct: tuple[str, ...] = ()
    within = False
    if "deduplicate" in relation:
        within = bool(relation["deduplicate"].get("within_watermark"))
        distinct = tuple(relation["deduplicate"].get("column_names", frame.columns))
        relation = relation["deduplicate"]["input"]
    if "with_watermark" in relation:
        relation = relation["with_watermark"]["input"]
    read = relation.get("read", {})
    source = read.get("data_source")
    if not read.get("is_streaming") or source is None:
        return None
    options = dict(source.get("options", {}))
    if source.get("paths"):
        (options["path"],) = source["paths"]
    return Described(str(source.get("format", "")).lower(), options, False, distinct, within)


FORMATS = ("csv", "json", "orc", "parquet", "text")
_DELAY = "spark.watermarkDelayMs"
_ADVICE = (
    "Track a source that can be read again (files, Kafka, rate, one written in Python) with what "
    "is computed and filtered of its rows, withWatermark and dropDuplicates: "
    "spark.readStream.schema(...).json(path).withColumn('t', to_timestamp('s'))"
    ".withWatermark('t', ...). Do the rest in the query. Over Spark Connect track the source and "
    "its watermark alone. Write events from elsewhere to files first: "
    "events.writeStream.format('parquet').start(path)."
)


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A stream of files, or of another source whose rows are read again.

    Parameters
    ----------
    path
        The folder or pattern that is watched; of other sources their name.
    format, options, schema
        Of the reader.
    time
        The column of the watermark; None: there is no watermark.
    delay
        The delay of the watermark behind the latest time, in milliseconds.
    distinct
        The columns of ``dropDuplicates``; empty: duplicates are kept.
    within
        They are the columns of ``dropDuplicatesWithinWatermark``.
    replayed
        The reader of the source's past rows; None for files.
    prepared
        The computation on each of its rows; None: they are the rows of the stream.
    """

    path: str
    format: str
    options: Mapping[str, str]
    schema: StructType
    time: str | None
    delay: int = 0
    distinct: tuple[str, ...] = ()
    within: bool = False
    replayed: Replayed | None = None
    prepared: Prepared | None = None

    @property
    def raw(self) -> StructType:
        """The schema of the source, without Spark's streaming metadata of columns."""
        return _unmarked(self.schema if self.prepared is None else self.prepared.schema)

    @property
    def raw_prefix(self) -> str:
        """The prefix of the names of the source's columns in recorded rows."""
        return "" if self.prepared is None else RAW

    def of_raw(self, rows: DataFrame) -> DataFrame:
        """Return the rows of the stream from rows of the source, with the latter's other
        columns.
        """
        return rows if self.prepared is None else self.prepared.of(rows)

    @property
    def description(self) -> str:
        """The name of the stream in messages."""
        return f"{self.format} stream {self.path}" if self.replayed is None else self.path

    def read_again(self, spark: SparkSession, read: Batched) -> DataFrame:
        """Return the rows that micro-batches read from a source that is not files."""
        assert self.replayed is not None
        return self.replayed.rows(spark, self.options, self.raw, read)

    @property
    def archive(self) -> Path | None:
        """The folder to which Spark moves files after reading them, or None."""
        if option(self.options, "cleanSource", "off").lower() != "archive":
            return None
        folder = option(self.options, "sourceArchiveDir", "")
        return local_path(folder) if folder else None

    def present(self, file: FileRead) -> FileRead:
        """Return the current location of a file: in the archive, if it was moved."""
        archive, path = self.archive, local_path(file.uri)
        if archive is None or path is None or path.exists():
            return file
        moved = archive.absolute() / path.relative_to(path.anchor)
        return replace(file, uri=_uri(moved)) if moved.exists() else file

    def empty(self, spark: SparkSession) -> DataFrame:
        """Return an empty frame with the columns of the source."""
        return spark.createDataFrame([], self.raw)

    def read(self, spark: SparkSession, files: list[str]) -> list[DataFrame]:
        """Return the rows of some files, in one frame per location: the folder and the archive."""
        archive = "" if self.archive is None else str(self.archive.absolute())
        moved = [file for file in files if archive and f"{archive}/" in file]
        here = [file for file in files if file not in set(moved)]
        parts = [(here, self.path), (moved, f"{archive}{re.sub('^file:/+', '/', self.path)}")]
        return [self._read(spark, part, base) for part, base in parts if part]

    def _read(self, spark: SparkSession, files: list[str], base: str) -> DataFrame:
        reader = spark.read.format(self.format).schema(self.raw)
        options = {"basePath": base, **self.options} if _is_folder(base) else self.options
        options = {name: value for name, value in options.items() if name != "path"}
        return reader.options(**options).load(files)


def stream_source(name: str, frame: DataFrame) -> StreamSource:
    """Return the source of a streaming data frame.

    Raises
    ------
    SourceError
        When that is not a source that can be read again, or something other than a watermark and
        dropped duplicates stands over it.
    """
    leaf = described(frame)
    if leaf is None:
        raise SourceError(f"The stream {name!r} does more than compute its rows.\n{_ADVICE}")
    path, replayed = leaf.options.get("path", ""), None
    if leaf.format not in FORMATS or not path:
        path = f"stream of {leaf.format}"
        replayed = replayed_source(frame.sparkSession, leaf.format, python=leaf.python)
        if replayed is None:
            raise SourceError(
                f"The stream {name!r} reads {leaf.format}, whose rows cannot be read again.\n"
                f"{_ADVICE}"
            )
    delays = {field.name: field.metadata.get(_DELAY) for field in frame.schema}
    marked = {column: delay for column, delay in delays.items() if delay is not None}
    time, delay = next(iter(marked.items()), (None, 0))
    if time is not None and not isinstance(frame.schema[time].dataType, TimestampType):
        raise SourceError(
            f"The watermark of {name!r} is of {time!r}, a {frame.schema[time].dataType.typeName()}."
            "\nConvert it before: withColumn(name, to_timestamp(name)).withWatermark(name, ...)."
        )
    return StreamSource(
        path,
        leaf.format,
        leaf.options,
        frame.schema,
        time,
        int(delay),
        leaf.distinct,
        leaf.within,
        replayed,
        _prepared(name, frame.sparkSession, leaf),
    )


def _prepared(name: str, spark: SparkSession, leaf: Described) -> Prepared | None:
    """Return the operators between a stream and its source's rows, or None if there are none."""
    if leaf.prepared is None:
        return None
    plan, source = leaf.prepared
    schema = StructType.fromJson(json.loads(str(source.schema().json())))
    text = check_prepared(name, spark, plan, schema)
    return Prepared(plan, schema, text, settings_of(spark))


def _uri(path: Path) -> str:
    """Return the URI of a file in Spark's form, which escapes fewer characters than others."""
    text = "".join(c if ord(c) > 127 else quote(c, safe="/!$&'()*+,;=:@~-._") for c in str(path))
    return f"file://{text}"


def _is_folder(path: str) -> bool:
    return not any(character in path for character in "*?[{")


def _unmarked(schema: StructType) -> StructType:
    """Return a schema without Spark's streaming metadata of columns."""
    bare = StructType.fromJson(schema.jsonValue())
    for field in bare.fields:
        field.metadata = {k: v for k, v in (field.metadata or {}).items() if k != _DELAY}
    return bare
