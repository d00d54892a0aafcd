"""What to change: new values of columns, as tables of keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lipstick.capture.manifest import RelationRecord
from lipstick.deletion import record_of
from lipstick.errors import TrackingError


def resolve_update(
    relations: Mapping[str, RelationRecord],
    types: Mapping[str, pa.Schema],
    update: Mapping[str, Any],
    spark: SparkSession | None,
) -> dict[str, pa.Table]:
    """Turn tables and expressions into tables of tokens and new values.

    Parameters
    ----------
    types
        The token columns of each relation, as the capture stores them.

    Raises
    ------
    TrackingError
        For relations that the query does not read, columns they do not have, and expressions that
        Spark refuses or that there is no Spark for.
    """
    found = {}
    for name, what in update.items():
        record = record_of(relations, name)
        if isinstance(what, pa.Table):
            table = what
        elif isinstance(what, Mapping) and spark is not None:
            table = _evaluated(spark, record, what)
        else:
            raise TrackingError(
                f"New values of {record.name!r} are an Arrow table of its key and the columns that "
                "change, or, with Spark, expressions by column: lipstick.open(path, spark=spark)."
            )
        unknown = [column for column in table.column_names if column not in record.columns]
        missing = [column for column in record.token if column not in table.column_names]
        if unknown or missing:
            problem = (
                f"has no column {unknown[0]!r}" if unknown else f"needs its key {missing[0]!r}"
            )
            raise TrackingError(f"{record.name!r} {problem}; it has {', '.join(record.columns)}.")
        keys = table.select(list(record.token)).cast(types[record.name])
        for place, column in enumerate(record.token):
            at = table.schema.get_field_index(column)
            table = table.set_column(at, column, keys.column(place))
        found[record.name] = table
    return found


def _evaluated(spark: SparkSession, record: RelationRecord, what: Mapping[str, Any]) -> pa.Table:
    """The tuples that expressions change, with the new values cast as an UPDATE would."""
    rows = spark.table(record.view)
    by_name = {name.lower(): name for name in rows.columns}
    columns, changed = [], F.lit(False)
    try:
        for name, expression in what.items():
            known = by_name.get(name.lower())
            if known is None:
                raise TrackingError(
                    f"{record.name!r} has no column {name!r}; it has {', '.join(rows.columns)}."
                )
            value = F.expr(expression) if isinstance(expression, str) else expression
            value = value.cast(rows.schema[known].dataType)
            columns.append(value.alias(known))
            changed = changed | ~value.eqNullSafe(F.col(f"`{known}`"))
        keys = [F.col(f"`{name}`") for name in record.token]
        return rows.where(changed).select(*keys, *columns).toArrow()
    except PySparkException as error:
        raise TrackingError(
            f"The new values {dict(what)} cannot be computed over {record.name!r}: {error}"
        ) from error
