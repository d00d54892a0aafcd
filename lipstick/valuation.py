"""Valuations as users give them, compiled for the evaluator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.capture.manifest import RelationRecord
from semiring.base import Semiring
from semiring.errors import ValuationError
from semiring.valuation import Valuation


def is_valued(valuation: Any) -> bool:
    """Whether a valuation was given at all."""
    return valuation is not None and valuation != {}


def compile_valuations(
    semiring: Semiring[Any],
    valuation: Any,
    default: Any,
    relations: Mapping[str, RelationRecord],
    spark: SparkSession | None,
) -> dict[str, Valuation[Any]]:
    """Return one compiled valuation per relation.

    Raises
    ------
    ValuationError
        For relations the query does not read, expressions without Spark, values outside K.
    """
    specs: dict[str, Any] = dict.fromkeys(relations)
    if isinstance(valuation, Mapping):
        by_name = {name.lower(): name for name in relations}
        for name, spec in valuation.items():
            if str(name).lower() not in by_name:
                raise ValuationError(
                    f"The query does not read {name!r}: give values per relation, of "
                    f"{', '.join(sorted(relations))}."
                )
            specs[by_name[name.lower()]] = spec
    elif valuation is not None:
        specs = dict.fromkeys(relations, valuation)
    compiled = {}
    for name, given in specs.items():
        spec = _table(spark, relations[name], given)
        if default is None:
            compiled[name] = Valuation.compile(semiring, name, spec)
        else:
            compiled[name] = Valuation.compile(semiring, name, spec, default)
    return compiled


def _table(spark: SparkSession | None, record: RelationRecord, spec: Any) -> Any:
    if isinstance(spec, DataFrame):
        return spec.toArrow()
    if not isinstance(spec, str | Column):
        return spec
    if spark is None:
        raise ValuationError(
            f"The values of {record.name!r} are an expression over its columns, which needs Spark: "
            "lipstick.open(path, spark=spark)."
        )
    value = F.expr(spec) if isinstance(spec, str) else spec
    try:
        frame = spark.table(record.view).select(
            *(F.col(f"`{column}`") for column in record.token), value.alias("_value")
        )
        return _plain(frame.toArrow())
    except PySparkException as error:
        raise ValuationError(
            f"The expression {spec!r} cannot be applied to {record.name!r}: {error}"
        ) from error


def _plain(table: pa.Table) -> pa.Table:
    """Return the table with a decimal value column as double, which carriers of reals expect."""
    last = table.num_columns - 1
    if pa.types.is_decimal(table.schema.field(last).type):
        return table.set_column(last, "_value", table.column(last).cast(pa.float64()))
    return table
