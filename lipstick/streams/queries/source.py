"""The source of a streaming data frame: which files it reads, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType, TimestampType

from lipstick.dataframes.jvm import elements
from lipstick.errors import SourceError

FORMATS = ("csv", "json", "orc", "parquet", "text")
Described: TypeAlias = tuple[str, dict[str, str], list[str]]
"""Format and options of a source, and the columns of ``dropDuplicates`` over it."""

_DELAY = "spark.watermarkDelayMs"
_ADVICE = (
    "Track a stream of files, with withWatermark and dropDuplicates if it has them, and nothing "
    "else done to it: spark.readStream.schema(...).parquet(path).withWatermark(...). Write events "
    "from elsewhere to files first: events.writeStream.format('parquet').start(path)."
)


@dataclass(frozen=True, slots=True)
class StreamSource:
    """A stream of files.

    Parameters
    ----------
    path
        The folder or pattern that is watched.
    format, options, schema
        Of the reader.
    time
        The column that a watermark is of; None: there is no watermark.
    delay
        How far the watermark is behind the latest time, in milliseconds.
    distinct
        The columns of ``dropDuplicates``; empty: duplicates are kept.
    """

    path: str
    format: str
    options: Mapping[str, str]
    schema: StructType
    time: str | None
    delay: int = 0
    distinct: tuple[str, ...] = ()

    def read(self, spark: SparkSession, files: list[str]) -> DataFrame:
        """Return the rows of some of its files, as a data frame that is no stream."""
        reader = spark.read.format(self.format).schema(_unmarked(self.schema))
        options = {"basePath": self.path, **self.options} if _is_folder(self.path) else self.options
        options = {name: value for name, value in options.items() if name != "path"}
        if not files:
            return spark.createDataFrame([], _unmarked(self.schema))
        return reader.options(**options).load(files)


def stream_source(name: str, frame: DataFrame) -> StreamSource:
    """Return where a streaming data frame comes from.

    Raises
    ------
    SourceError
        When that is no stream of files, or something other than a watermark stands over it.
    """
    described = _classic(frame) if hasattr(frame, "_jdf") else _connect(frame)
    if described is None:
        raise SourceError(f"The stream {name!r} is more than a source of files.\n{_ADVICE}")
    format, options, distinct = described
    if format not in FORMATS or "path" not in options:
        raise SourceError(f"The stream {name!r} reads {format}, not files.\n{_ADVICE}")
    delays = {field.name: field.metadata.get(_DELAY) for field in frame.schema}
    marked = {column: delay for column, delay in delays.items() if delay is not None}
    time, delay = next(iter(marked.items()), (None, 0))
    if time is not None and not isinstance(frame.schema[time].dataType, TimestampType):
        raise SourceError(
            f"The watermark of {name!r} is of {time!r}, a {frame.schema[time].dataType.typeName()}."
            "\nConvert it to a TIMESTAMP in the schema that the stream is read with."
        )
    return StreamSource(
        options["path"], format, options, frame.schema, time, int(delay), tuple(distinct)
    )


def _classic(frame: DataFrame) -> Described | None:
    plan: Any = frame._jdf.queryExecution().analyzed()
    distinct: list[str] = []
    if plan.getClass().getSimpleName() == "Deduplicate":
        distinct = [str(key.name()) for key in elements(plan.keys())]
        plan = plan.children().apply(0)
    if plan.getClass().getSimpleName() == "EventTimeWatermark":
        plan = plan.children().apply(0)
    if plan.getClass().getSimpleName() == "StreamingRelationV2":
        return str(plan.sourceName()), {}, distinct
    if plan.getClass().getSimpleName() != "StreamingRelation":
        return None
    source = plan.dataSource()
    pairs = source.options().toSeq()
    options = {
        str(pairs.apply(number)._1()): str(pairs.apply(number)._2())
        for number in range(pairs.size())
    }
    return str(source.className()).lower(), options, distinct


def _connect(frame: DataFrame) -> Described | None:
    from lipstick.dataframes.messages import relation_of

    relation: Any = relation_of(frame.sparkSession, frame)
    distinct: list[str] = []
    if "deduplicate" in relation and not relation["deduplicate"].get("within_watermark"):
        distinct = list(relation["deduplicate"].get("column_names", frame.columns))
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
    return str(source.get("format", "")).lower(), options, distinct


def _is_folder(path: str) -> bool:
    return not any(character in path for character in "*?[{")


def _unmarked(schema: StructType) -> StructType:
    """Return a schema without what Spark knows of its columns in a stream."""
    bare = StructType.fromJson(schema.jsonValue())
    for field in bare.fields:
        field.metadata = {k: v for k, v in (field.metadata or {}).items() if k != _DELAY}
    return bare
