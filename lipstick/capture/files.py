"""Parquet files of a capture, and the types whose values Arrow and Parquet represent alike."""

from __future__ import annotations

from inspect import signature
from itertools import chain, count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    MapType,
    NullType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from lipstick.dataframes.arrow import with_nullable_fields
from lipstick.stages.settings import temporary_settings
from lipstick.tracking.tracker import fixed_length

_CODEC, _LEVEL = "zstd", 1
_WRITE_OPTIONS = {
    "compression": _CODEC,
    "parquet.compression.codec.zstd.level": str(_LEVEL),
    "parquet.writer.version": "v2",
}
"""Delta encodings bring integer tokens in file order to about one byte each."""

_WHOLE_VARIANTS = {"spark.sql.variant.writeShredding.enabled": "false"}
"""Variants as two values of bytes, which can be read without Spark."""

_COMPUTED = "computed"
"""In the metadata of a stored column with NULLs of no type: the type that it was computed with."""

_PLAIN = (
    BinaryType,
    BooleanType,
    DateType,
    NumericType,
    TimestampNTZType,
    TimestampType,
)

_UTC: dict[str, Any] = (
    {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
)
"""Versions of PySpark that do not ask for the zone have instants in UTC."""


class Files:
    """Writes rows into directories of Parquet files, which Spark's tasks do."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def write(self, frame: DataFrame, path: Path) -> None:
        """Write rows into a directory that does not exist yet."""
        variants = "variant" in frame.schema.simpleString()
        with temporary_settings(self._spark, _WHOLE_VARIANTS if variants else {}):
            frame.write.options(**_WRITE_OPTIONS).parquet(str(path))

    def read(self, path: Path, schema: StructType) -> DataFrame:
        """Read rows that were written, without a job to learn their schema."""
        return _computed(self._spark.read.schema(schema).parquet(str(path)))


def write_table(table: pa.Table, path: Path) -> None:
    """Write rows that are here into a directory that does not exist yet, as Spark's tasks would."""
    numbers = {field.name for field in table.schema if pa.types.is_integer(field.type)}
    path.mkdir(parents=True)
    pq.write_table(
        table,
        path / "part-00000.parquet",
        compression=_CODEC,
        compression_level=_LEVEL,
        use_dictionary=[name for name in table.schema.names if name not in numbers],
        column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
    )


def storable(frame: DataFrame) -> DataFrame:
    """Give columns a type that Parquet has.

    It has no values that are NULL and nothing else, and no structs with two fields of one name: the
    second is then called ``name~2``.
    """
    given, stored = frame.schema, stored_schema(frame.schema)
    if given == stored:
        return frame
    return frame.select(
        *(
            F.col(f"`{old.name}`")
            if old == new
            else F.col(f"`{old.name}`").cast(new.dataType).alias(new.name, metadata=new.metadata)
            for old, new in zip(given, stored, strict=True)
        )
    )


def _computed(frame: DataFrame) -> DataFrame:
    """Return stored rows with NULLs of no type where :func:`storable` gave them one.

    Such NULLs take the type of the values that they are united or compared with.
    """
    columns = {
        field.name: _untyped(
            F.col(f"`{field.name}`"), StructType.fromJson(field.metadata[_COMPUTED])[0].dataType
        )
        for field in frame.schema
        if _COMPUTED in field.metadata
    }
    return frame.withColumns(columns) if columns else frame


def _untyped(column: Column, kind: DataType) -> Column:
    """Return a stored column with NULLs of no type where a type has them."""
    if not _has_untyped(kind):
        return column
    match kind:
        case NullType():
            return F.lit(None)
        case ArrayType():
            return F.transform(column, lambda item: _untyped(item, kind.elementType))
        case MapType(keyType=NullType()):  # an empty one: no key is NULL
            return F.when(column.isNotNull(), F.create_map())
        case MapType():
            return F.transform_values(column, lambda _, value: _untyped(value, kind.valueType))
        case StructType():
            fields = [
                _untyped(column[name], field.dataType).alias(name)
                for name, field in zip(stored_schema(kind).names, kind, strict=True)
            ]
            return F.when(column.isNotNull(), F.struct(*fields))
    return column


def _has_untyped(kind: DataType) -> bool:
    """Return True if a type has NULLs of no type, at any depth."""
    return '"void"' in kind.json()


def stored_schema(rows: DataType) -> StructType:
    """The schema that :func:`storable` gives a frame with the columns of a struct or schema.

    Fields of structs may be NULL, as they are in a struct that is NULL.
    """
    assert isinstance(rows, StructType)
    fields = []
    for field in rows:
        kind, metadata = field.dataType, dict(field.metadata)
        if _has_untyped(kind):
            metadata[_COMPUTED] = StructType().add(field.name, kind).jsonValue()
        fields.append(StructField(field.name, _stored(kind), field.nullable, metadata))
    return StructType(fields)


def _stored(kind: DataType) -> DataType:
    if isinstance(kind, NullType):
        return BooleanType()
    if isinstance(kind, ArrayType):
        return ArrayType(_stored(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        return MapType(_stored(kind.keyType), _stored(kind.valueType), kind.valueContainsNull)
    if not isinstance(kind, StructType):
        return kind
    taken: set[str] = set()
    fields = []
    for field in kind:
        numbered = (f"{field.name}~{number}" for number in count(2))
        name = next(n for n in chain([field.name], numbered) if n.lower() not in taken)
        taken.add(name.lower())
        fields.append(StructField(name, _stored(field.dataType), True, field.metadata))
    return StructType(fields)


def in_arrow(kind: DataType) -> bool:
    """Return True if Arrow and Parquet represent a type alike and compare its values alike.

    False for CHAR, which Spark pads in comparisons, and Arrow does not know.
    """
    if isinstance(kind, StructType):
        names = {name.lower() for name in kind.names}
        padded = any(fixed_length(field) is not None for field in kind)
        return len(names) == len(kind) and not padded and all(in_arrow(f.dataType) for f in kind)
    if isinstance(kind, MapType):
        return in_arrow(kind.keyType) and in_arrow(kind.valueType)
    if isinstance(kind, ArrayType):
        return in_arrow(kind.elementType)
    if isinstance(kind, StringType):
        return kind.simpleString() == "string"  # neither a collation nor a length
    return isinstance(kind, _PLAIN)


def spark_schema(rows: pa.Table) -> StructType:
    """The schema of rows that were computed in this process, as Spark has it."""
    schema = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
    assert isinstance(schema, StructType)
    return schema


def arrow_of(schema: StructType) -> pa.Schema:
    """A schema as Arrow has it, instants in UTC; fields of structs may be NULL."""
    arrow_schema: pa.Schema = to_arrow_schema(with_nullable_fields(schema), **_UTC)
    return arrow_schema
