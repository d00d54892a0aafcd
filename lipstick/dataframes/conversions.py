"""Conversions of the rows that functions see and return, as the worker of each PySpark does them.

A worker has one of PySpark 4.0 to 4.3. What stands here is pickled by value, as
:mod:`lipstick.dataframes.on_workers` is, and asks for what that version has.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from pyspark import cloudpickle

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]

Settings: TypeAlias = Mapping[str, str]
"""The settings of the session that PySpark's worker reads."""

SETTINGS = {
    "any iterable": (
        "spark.sql.execution.pythonUDF.mapInBatch.legacy.acceptAnyIterable.enabled",
        "true",
    ),
    "assign by name": (
        "spark.sql.legacy.execution.pandas.groupedMap.assignColumnsByName",
        "true",
    ),
    "decimals of integers": (
        "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled",
        "false",
    ),
    "extension integers": (
        "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype",
        "false",
    ),
    "large types": ("spark.sql.execution.arrow.useLargeVarTypes", "false"),
    "rows of a batch": ("spark.sql.execution.arrow.maxRecordsPerBatch", "10000"),
    "safe": ("spark.sql.execution.pandas.convertToArrowArraySafely", "false"),
    "time zone": ("spark.sql.session.timeZone", "UTC"),
}
"""The settings of the session that conversions depend on, with their defaults."""


def arrow_type(returned: StructType, settings: Settings) -> pa.StructType:
    """The type in which rows go back to Spark."""
    from pyspark.sql.pandas.types import to_arrow_type

    large = settings["large types"] == "true"
    if not _takes(to_arrow_type, "timezone"):
        # Times are in UTC.
        return to_arrow_type(returned, prefers_large_types=large)
    return to_arrow_type(returned, timezone="UTC", prefers_large_types=large)


def series_of(rows: pa.RecordBatch, settings: Settings) -> list[Any]:
    """The columns of some rows as pandas has them."""
    import pyarrow as pa

    table = pa.Table.from_batches([rows]).combine_chunks()
    try:
        from pyspark.sql.conversion import ArrowBatchTransformer
    except ImportError:
        serializer = _serializer(settings)
        if _takes(serializer.arrow_to_pandas, "idx"):
            return [
                serializer.arrow_to_pandas(column, at) for at, column in enumerate(table.columns)
            ]
        return [serializer.arrow_to_pandas(column) for column in table.columns]
    return ArrowBatchTransformer.to_pandas(
        table,
        timezone=settings["time zone"],
        prefer_int_ext_dtype=settings["extension integers"] == "true",
    )


def from_pandas(
    result: Any, returned: StructType, settings: Settings, *, more: bool = False
) -> pa.RecordBatch:
    """The rows of a frame, which may have ``more`` columns than are asked for."""
    import pyarrow as pa
    from pyspark.worker import verify_pandas_result

    by_name = settings["assign by name"] == "true"
    verify_pandas_result(result, returned, by_name or more, truncate_return_schema=more)
    struct = _struct_of(result, returned, settings)
    return pa.RecordBatch.from_arrays(struct.flatten(), returned.names)


def _struct_of(result: Any, returned: StructType, settings: Settings) -> pa.StructArray:
    try:
        from pyspark.sql.conversion import PandasToArrowConversion
    except ImportError:
        serializer, kind = _serializer(settings), arrow_type(returned, settings)
        # With the type of Spark where there is one to say: 4.1.
        typed = _takes(serializer._create_struct_array, "spark_type")
        return serializer._create_struct_array(result, kind, *([returned] if typed else []))
    from pyspark.sql.types import StructField, StructType

    batch = PandasToArrowConversion.convert(
        [result],
        StructType([StructField("_0", returned)]),
        timezone=settings["time zone"],
        safecheck=settings["safe"] == "true",
        arrow_cast=True,
        prefers_large_types=settings["large types"] == "true",
        assign_cols_by_name=settings["assign by name"] == "true",
        int_to_decimal_coercion_enabled=settings["decimals of integers"] == "true",
    )
    return batch.column(0)


def _serializer(settings: Settings) -> Any:
    """Return the serializer that converts to pandas and back in PySpark 4.0 and 4.1."""
    from pyspark.sql.pandas import serializers

    kind = vars(serializers)["ArrowStreamPandasUDFSerializer"]
    decimals = {"int_to_decimal_coercion_enabled": settings["decimals of integers"] == "true"}
    newer = _takes(kind, *decimals)
    return kind(
        timezone=settings["time zone"],
        safecheck=settings["safe"] == "true",
        assign_cols_by_name=settings["assign by name"] == "true",
        # 4.0 does not cast.
        arrow_cast=newer,
        **(decimals if newer else {}),
    )


def enforced(result: Any, returned: StructType, settings: Settings) -> Any:
    """A table or batch with the columns that are asked for, in their order."""
    import pyarrow as pa
    from pyspark import worker

    by_name = settings["assign by name"] == "true"
    kind = arrow_type(returned, settings)
    if not hasattr(worker, "verify_arrow_result"):
        from pyspark.sql.conversion import ArrowBatchTransformer

        return ArrowBatchTransformer.enforce_schema(
            result, pa.schema(list(kind)), arrow_cast=False, reorder_by_name=by_name
        )
    table = pa.Table.from_batches([result]) if isinstance(result, pa.RecordBatch) else result
    expected = [(field.name, field.type) for field in kind]
    worker.verify_arrow_result(table, by_name, dict(expected) if by_name else expected)
    return result.select(returned.names) if by_name else result


def verified(result: Any, expected: type) -> Any:
    """Return the result of a function, checked to be of a type."""
    try:
        from pyspark.worker import verify_return_type
    except ImportError:
        return _instance(result, expected, expected.__name__)
    return verify_return_type(result, expected)


def verified_parts(results: Any, expected: type) -> Iterator[Any]:
    """Return an iterator over the results of a function, each checked to be of a type."""
    try:
        from pyspark.worker import verify_return_type
    except ImportError:
        label = f"iterator of {expected.__name__}"
        return (_instance(result, expected, label) for result in iter(results))
    parts: Any = Iterator[expected]  # type: ignore[valid-type]
    verified_results: Iterator[Any] = verify_return_type(results, parts)
    return verified_results


def _instance(value: Any, expected: type, label: str) -> Any:
    from pyspark.errors import PySparkTypeError

    if not isinstance(value, expected):
        parameters = {"expected": label, "actual": type(value).__name__}
        raise PySparkTypeError(errorClass="UDF_RETURN_TYPE", messageParameters=parameters)
    return value


def _takes(function: Callable[..., Any], *names: str) -> bool:
    from inspect import signature

    return all(name in signature(function).parameters for name in names)


# -- functions of values -------------------------------------------------------------------


def of_values(function: Callable[..., pa.Array], types: Sequence[StructType]) -> Callable[..., Any]:
    """A function of lists of rows from one of Arrow arrays of such lists.

    PySpark 4.0 has functions of values only.

    Parameters
    ----------
    types
        Of the rows of each list.
    """

    def call(*lists: Sequence[Any]) -> Any:
        from pyspark.sql.conversion import LocalDataToArrowConversion
        from pyspark.sql.types import ArrayType, StructField, StructType

        fields = [StructField(f"_{number}", ArrayType(rows)) for number, rows in enumerate(types)]
        table = LocalDataToArrowConversion.convert([tuple(lists)], StructType(fields), False)
        arrays = [column.combine_chunks() for column in table.columns]
        (values,) = _values(function(*arrays))
        return values

    return call


def _values(array: pa.Array) -> list[Any]:
    """Return the values of an array, from which Spark's types make the same array again."""
    import pyarrow as pa

    kind = array.type
    values: list[Any]
    if pa.types.is_struct(kind):
        columns = [_values(column) for column in array.flatten()]
        values = list(zip(*columns, strict=True)) if columns else [()] * len(array)
    elif pa.types.is_map(kind):
        keys, items = _values(array.keys), _values(array.items)
        pairs = list(zip(keys, items, strict=True))
        values = [dict(pairs[start:stop]) for start, stop in _bounds(array)]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        items = _values(array.values)
        values = [items[start:stop] for start, stop in _bounds(array)]
    else:
        # Times have their zone: those of a local clock can be of two moments.
        values = array.to_pylist()
        return values
    there = array.is_valid().to_pylist()
    return [value if valid else None for value, valid in zip(values, there, strict=True)]


def _bounds(array: pa.Array) -> Iterator[tuple[int, int]]:
    from itertools import pairwise

    offsets = array.offsets.to_pylist()
    return pairwise(offsets)
