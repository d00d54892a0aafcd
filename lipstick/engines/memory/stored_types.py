"""Spark's types of columns in Parquet files, and the Arrow types that they are read as."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
_COLLATIONS = "__COLLATIONS"
_DAYS_TO_SECONDS = tuple(f"interval {unit}" for unit in ("day", "hour", "minute", "second"))


def stored_as(files: list[str]) -> tuple[tuple[str, ...], set[str], dict[str, Any]]:
    """The strings stored as dictionaries in every file, the instants, and Spark's types.

    Arrow cannot read delta-encoded strings as dictionaries, and reads Spark's 96-bit timestamps
    without saying that they are in UTC. The types are JSON values, of files that Spark wrote.
    """
    strings: set[str] = set()
    plain: set[str] = set()
    instants: set[str] = set()
    spark: dict[str, Any] = {}
    for file in files:
        with pq.ParquetFile(file) as parquet:
            strings |= {f.name for f in parquet.schema_arrow if pa.types.is_string(f.type)}
            spark |= _spark_types(parquet.schema_arrow.metadata or {})
            for column in parquet.schema:
                if column.physical_type == "INT96":
                    instants.add(column.path)
            for group in range(parquet.metadata.num_row_groups):
                chunks = parquet.metadata.row_group(group)
                for number in range(chunks.num_columns):
                    chunk = chunks.column(number)
                    if any("DELTA" in encoding for encoding in chunk.encodings):
                        plain.add(chunk.path_in_schema)
    return tuple(strings - plain), instants, spark


def _spark_types(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Return, by column, the schema fields that Spark stored in a file that it wrote."""
    fields = json.loads(metadata.get(_SPARK_SCHEMA, b'{"fields": []}'))["fields"]
    return {field["name"]: field for field in fields}


def has_collation(field: Mapping[str, Any]) -> bool:
    """Return True if Spark compares a column's texts, or texts in its values, by a collation."""
    return _COLLATIONS in json.dumps(field)


def has_texts(kind: pa.DataType) -> bool:
    """Return True if values of a type are texts, or have texts in them."""
    if pa.types.is_dictionary(kind):
        return has_texts(kind.value_type)
    if pa.types.is_nested(kind):
        return any(has_texts(kind.field(number).type) for number in range(kind.num_fields))
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def as_read(schema: pa.Schema, instants: set[str], spark: Mapping[str, Any]) -> pa.Schema:
    """The schema with instants in UTC, and with intervals of days to seconds.

    Parameters
    ----------
    instants
        The paths of their columns in Parquet.
    spark
        Spark's fields by name: it stores intervals as numbers.
    """
    return pa.schema(
        [
            field.with_type(
                _as_read(field.type, field.name, instants, spark.get(field.name, {}).get("type"))
            )
            for field in schema
        ]
    )


def _as_read(kind: pa.DataType, path: str, instants: set[str], spark_type: Any) -> pa.DataType:
    if path in instants:
        return pa.timestamp("us", "UTC")
    if isinstance(spark_type, str) and spark_type.startswith(_DAYS_TO_SECONDS):
        return pa.duration("us")
    known = spark_type if isinstance(spark_type, dict) else {}

    def within(field: pa.Field, step: str, type_: Any) -> pa.Field:
        return field.with_type(_as_read(field.type, f"{path}.{step}", instants, type_))

    if pa.types.is_struct(kind):
        types = {field["name"]: field["type"] for field in known.get("fields", ())}
        fields = [kind.field(number) for number in range(kind.num_fields)]
        return pa.struct([within(field, field.name, types.get(field.name)) for field in fields])
    if pa.types.is_list(kind):
        return pa.list_(within(kind.value_field, "list.element", known.get("elementType")))
    if pa.types.is_map(kind):
        key = within(kind.key_field, "key_value.key", known.get("keyType"))
        return pa.map_(key, within(kind.item_field, "key_value.value", known.get("valueType")))
    return kind
