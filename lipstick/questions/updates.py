"""Updates as users write them, resolved to tables of keys and new values, by scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DecimalType,
    FractionalType,
    IntegralType,
    LongType,
    NullType,
    StringType,
    StructField,
    StructType,
)

from lipstick.capture.files import arrow_of
from lipstick.capture.lookup import source_rows
from lipstick.capture.manifest import RelationRecord
from lipstick.dataframes.arrow import arrow_rows, frame_of_arrow
from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.lossless import Declared, lossless, misfit
from lipstick.engines.memory.scenarios import Updated, Updates
from lipstick.errors import CaptureError, TrackingError, first_line
from lipstick.questions.keys import record_of
from lipstick.questions.scenarios import (
    Each,
    Given,
    groups,
    numbered,
    tables_by_scenario,
    tabulated,
)
from lipstick.tracking.tracker import Naming, comparable
from lipstick.tracking.unknown_keys import check_keys

if TYPE_CHECKING:
    from lipstick.engines.protocol import AskedCapture

_LOST = "_lost_"
_EXACT = {"exact": ("double", "decimal(38,18)"), "date": ("timestamp_ntz",)}
"""Types that show what a text loses on its way to another type."""
_WITH_SPARK = "lipstick.open(path, spark=spark)."


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
    tables = {}
    for name, what in update.items():
        record = record_of(relations, name)
        if isinstance(what, pa.Table):
            table = what
        elif isinstance(what, Mapping) and spark is not None:
            table = _evaluated(spark, record, what)
        else:
            raise TrackingError(
                f"New values of {record.name!r} are an Arrow table of its key and the columns that "
                f"change, or, with Spark, expressions by column: {_WITH_SPARK}"
            )
        tables[record.name] = _checked(record, table, types)
    return tables


def checked_update(
    update: Mapping[str, Any], capture: AskedCapture, *, strict: bool
) -> dict[str, pa.Table]:
    """Return what :func:`resolve_update` does, and report keys that name no row."""
    relations, types = capture.manifest.relations, capture._token_types()
    tables = resolve_update(relations, types, update, capture.engine.spark)
    for name, table in tables.items():
        check_keys(capture, name, table, strict=strict)
    return tables


def checked_updates(given: Given, capture: AskedCapture, *, strict: bool) -> Updates:
    """Turn scenarios of new values, in any form, into tables, and report keys that name no row.

    Raises
    ------
    TrackingError
        As :func:`resolve_update`; for tables without a column ``scenario``, and for
        :func:`lipstick.each` without ``update``.
    """
    relations, types = capture.manifest.relations, capture._token_types()
    if isinstance(given, Each):
        return _each(given, relations, types, capture.engine.spark)
    if tabulated(given):
        labels, tables = tables_by_scenario(given, relations, "change")
        parts = [
            Updated(name, _checked(relations[name], table, types), numbers)
            for name, (table, numbers) in tables.items()
        ]
    else:
        names, listed = numbered(given, "changes", "what_if_updated() takes it")
        labels, parts = pa.array(names), []
        for number, update in enumerate(listed):
            for name, table in resolve_update(
                relations, types, update, capture.engine.spark
            ).items():
                parts.append(Updated(name, table, np.full(table.num_rows, number, dtype=np.int64)))
    for part in parts:
        check_keys(capture, part.relation, part.table, strict=strict)
    return Updates(labels, tuple(parts))


def updated_rows(rows: DataFrame, record: RelationRecord, update: pa.Table) -> DataFrame:
    """Return the rows of a relation with new values.

    Parameters
    ----------
    update
        The table of a relation that :func:`resolve_update` returns.

    Raises
    ------
    CaptureError
        For a key that is given twice, and for a value that the type of its column cannot hold.
    """
    keys = [update.column(name).combine_chunks() for name in record.token]
    if len(distinct(keys, update.num_rows)[1]) < update.num_rows:
        raise CaptureError(f"The new values of {record.name!r} give a key twice.")
    changed = [name for name in update.column_names if name not in record.token]
    update = _fitting(rows, record, update, changed)
    new = frame_of_arrow(rows.sparkSession, update).select(
        *(F.col(f"`{name}`").alias(f"_new_{name}") for name in update.column_names),
        F.lit(True).alias("_is_new"),
    )
    match = [rows[f"`{name}`"].eqNullSafe(new[f"`_new_{name}`"]) for name in record.token]
    columns = [
        F.when(F.col("_is_new"), F.col(f"`_new_{field.name}`").cast(field.dataType))
        .otherwise(F.col(f"`{field.name}`"))
        .alias(field.name)
        if field.name in changed
        else F.col(f"`{field.name}`")
        for field in rows.schema
    ]
    return rows.join(new, match, "left").select(*columns)


def inserted_rows(rows: DataFrame, record: RelationRecord, table: pa.Table) -> DataFrame:
    """Return further rows of a relation.

    Parameters
    ----------
    table
        All columns of the relation. Rows that are named by files get names of their own.

    Raises
    ------
    TrackingError
        For missing and unknown columns, and for keys that are there twice.
    CaptureError
        For a value that the type of its column cannot hold.
    """
    if record.naming != Naming.KEY.value:
        numbered = all(isinstance(rows.schema[name].dataType, LongType) for name in record.token)
        if not numbered or len(record.token) != 1 or record.token[0] in record.columns:
            raise TrackingError(
                f"{record.name!r} has no key by which new rows are told apart.\nTrack it with one."
            )
        names = pa.array(np.arange(-table.num_rows, 0))
        table = table.append_column(record.token[0], names)
    wanted = [field.name for field in rows.schema]
    for problem, columns in (
        ("need its column", set(wanted) - set(table.column_names)),
        ("have a column that is not in it:", set(table.column_names) - set(wanted)),
    ):
        if columns:
            raise TrackingError(f"New rows of {record.name!r} {problem} {min(columns)!r}.")
    new = frame_of_arrow(rows.sparkSession, _fitting(rows, record, table.select(wanted), wanted))
    new = new.select(*(F.col(f"`{f.name}`").cast(f.dataType).alias(f.name) for f in rows.schema))
    keys = [F.col(f"`{name}`") for name in record.token]
    known = rows.select(*keys).unionAll(new.select(*keys)).groupBy(*keys).count()
    if (twice := known.where("count > 1").head()) is not None:
        shown = ", ".join(str(value) for value in twice[:-1])
        raise TrackingError(
            f"{record.name!r} would have several rows with the key ({shown}).\n"
            "Change the row that is there, or insert one with another key."
        )
    return new


def _fitting(
    rows: DataFrame, record: RelationRecord, table: pa.Table, names: Sequence[str]
) -> pa.Table:
    """Return a table with some columns in the types of a relation's columns."""
    for name in names:
        field = rows.schema[name]
        kind = arrow_of(StructType([field])).field(0).type
        values = table.column(name).combine_chunks()
        new = lossless(record.name, name, values, kind, Declared.of(field.metadata))
        table = table.set_column(table.schema.get_field_index(name), name, new)
    return table


def _each(
    given: Each,
    relations: Mapping[str, RelationRecord],
    types: Mapping[str, pa.Schema],
    spark: SparkSession | None,
) -> Updates:
    record = record_of(relations, given.relation)
    if given.update is None or spark is None:
        raise TrackingError(
            f"To change the tuples of {record.name!r} in turn takes expressions by column, "
            f"each(..., update=...), and Spark: {_WITH_SPARK}"
        )
    by = given.by or record.token
    table = _evaluated(spark, record, given.update, by)
    labels, numbers = groups(table, by)
    kept = [*record.token, *(name for name in table.column_names if name not in by)]
    table = table.select(list(dict.fromkeys(kept)))
    return Updates(labels, (Updated(record.name, _checked(record, table, types), numbers),))


def _checked(record: RelationRecord, table: pa.Table, types: Mapping[str, pa.Schema]) -> pa.Table:
    """A table of new values, with the key as the capture stores it."""
    known = {*record.columns, *record.token}
    unknown = [column for column in table.column_names if column not in known]
    missing = [column for column in record.token if column not in table.column_names]
    if unknown or missing:
        problem = f"has no column {unknown[0]!r}" if unknown else f"needs its key {missing[0]!r}"
        raise TrackingError(f"{record.name!r} {problem}; it has {', '.join(record.columns)}.")
    keys = table.select(list(record.token)).cast(types[record.name])
    for index, column in enumerate(record.token):
        at = table.schema.get_field_index(column)
        table = table.set_column(at, column, keys.column(index))
    return table


def _evaluated(
    spark: SparkSession,
    record: RelationRecord,
    what: Mapping[str, Any],
    by: Sequence[str] = (),
) -> pa.Table:
    """Return the tuples that expressions change, with the new values in the columns' types.

    Parameters
    ----------
    by
        Further columns of the relation to return.

    Raises
    ------
    CaptureError
        For a value that the type of its column cannot hold.
    """
    rows = source_rows(spark, record)
    by_name = {name.lower(): name for name in rows.columns}
    columns, lost, changed = [], [], F.lit(False)
    try:
        for name, expression in what.items():
            known = by_name.get(name.lower())
            if known is None:
                raise TrackingError(
                    f"{record.name!r} has no column {name!r}; it has {', '.join(rows.columns)}."
                )
            value = F.expr(expression) if isinstance(expression, str) else expression
            field = rows.schema[known]
            fitted, misfits = _fitted(value, rows.select(value).schema[0].dataType, field)
            columns.append(fitted.alias(known))
            lost.append(F.when(misfits, value.cast("string")).alias(f"{_LOST}{known}"))
            changed = changed | misfits | ~fitted.eqNullSafe(F.col(f"`{known}`"))
        keys = [F.col(f"`{name}`") for name in dict.fromkeys([*record.token, *by])]
        table = arrow_rows(rows.where(changed).select(*keys, *columns, *lost))
    except PySparkException as error:
        raise TrackingError(
            f"The new values {dict(what)} cannot be computed over {record.name!r}: "
            f"{first_line(error)}"
        ) from error
    for name in [name for name in table.column_names if name.startswith(_LOST)]:
        known = name.removeprefix(_LOST)
        for value in table.column(name).drop_null()[:1]:
            field = rows.schema[known]
            type_ = Declared.of(field.metadata).text or field.dataType.simpleString().upper()
            raise misfit(record.name, known, value, type_)
        table = table.drop_columns([name])
    return table


def _fitted(value: Column, source: DataType, field: StructField) -> tuple[Column, Column]:
    """Return a value in the type of a field, and whether it is then another value.

    See :func:`lipstick.engines.memory.lossless.lossless` for what may be rounded.
    """
    target, declared = field.dataType, Declared.of(field.metadata)
    new = value.try_cast(target)
    if isinstance(target, StringType):
        if declared.length is None:
            return new, F.lit(False)
        padded = F.rpad(new, declared.length, " ") if declared.pads else new
        return padded, F.coalesce(F.length(new) > declared.length, F.lit(False))
    if source in (target, NullType()):
        return new, F.lit(False)
    lost = value.isNotNull() & new.isNull()
    if isinstance(source, StringType):
        for exact in _EXACT.get(_kind(target), ()):
            other = value.try_cast(exact) != new.try_cast(exact)
            lost = lost | F.coalesce(other, F.lit(False))
    elif isinstance(target, FractionalType) and isinstance(source, FractionalType):
        infinite = [F.abs(side.try_cast("double")) == float("inf") for side in (new, value)]
        lost = lost | F.coalesce(infinite[0] & ~infinite[1], F.lit(False))
        if isinstance(target, DecimalType):
            lost = lost | ~new.try_cast(source).eqNullSafe(value)
    else:
        back = comparable(new.try_cast(source), source)
        lost = lost | ~back.eqNullSafe(comparable(value, source))
    return new, lost


def _kind(type_: DataType) -> str:
    if isinstance(type_, IntegralType | DecimalType):
        return "exact"
    return type_.typeName()
