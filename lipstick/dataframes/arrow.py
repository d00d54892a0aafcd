"""Data frames of Arrow tables, and their rows as such.

A struct that is NULL has NULL in all of its fields. Arrow and PySpark refuse that of fields that
are never NULL, so that here the fields of structs may always be NULL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType


def frame_of_arrow(
    spark: SparkSession, table: pa.Table, schema: StructType | None = None
) -> DataFrame:
    """Return the data frame of a table, with its own types or the types of a schema.

    Spark Connect infers no columns of a table without rows.
    """
    if schema is None and not table.num_rows:
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = from_arrow_schema(table.schema)
    return spark.createDataFrame(table, None if schema is None else with_nullable_fields(schema))


def arrow_rows(frame: DataFrame, *, texts: bool = False) -> pa.Table:
    """Return the rows of a data frame.

    ``toArrow`` of PySpark fails at a struct that is NULL, if its fields are never NULL.

    Parameters
    ----------
    texts
        Return texts for types that ``toArrow`` does not read, or not if a value is NULL.
    """
    from pyspark.sql import functions as F

    wanted = with_nullable_fields(frame.schema, texts=texts)
    if frame.schema == wanted:
        return frame.toArrow()
    numbered = [f"c{number}" for number in range(len(wanted))]
    columns = [
        F.col(name) if field.dataType == kind.dataType else F.col(name).cast(kind.dataType)
        for name, field, kind in zip(numbered, frame.schema, wanted, strict=True)
    ]
    return frame.toDF(*numbered).select(*columns).toArrow().rename_columns(wanted.names)


def with_nullable_columns(table: pa.Table) -> pa.Table:
    """Return a table whose columns may have NULLs."""
    return table.cast(pa.schema([field.with_nullable(True) for field in table.schema]))


def with_nullable_fields(schema: StructType, *, texts: bool = False) -> StructType:
    """Return a schema with structs whose fields may be NULL; its own fields are as they were.

    ``texts``: see :func:`arrow_rows`.
    """
    from pyspark.sql import types

    def nullable(kind: DataType) -> DataType:
        match kind:
            case types.StructType():
                return types.StructType(
                    [
                        types.StructField(f.name, nullable(f.dataType), True, f.metadata)
                        for f in kind
                    ]
                )
            case types.ArrayType():
                untyped = isinstance(kind.elementType, types.NullType)
                return types.ArrayType(nullable(kind.elementType), kind.containsNull or untyped)
            case types.MapType():
                return types.MapType(kind.keyType, nullable(kind.valueType), kind.valueContainsNull)
            case types.VariantType() | types.YearMonthIntervalType() if texts:
                return types.StringType()
        return kind

    return types.StructType(
        [types.StructField(f.name, nullable(f.dataType), f.nullable, f.metadata) for f in schema]
    )
