"""Deletions as users write them, predicates and key lists, resolved to sets of tokens."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    IntegralType,
    StringType,
    StructType,
)

from lipstick.capture.files import arrow_of, in_arrow
from lipstick.capture.lookup import source_rows
from lipstick.capture.manifest import RelationRecord
from lipstick.dataframes.arrow import frame_of_arrow
from lipstick.errors import TrackingError, first_line
from lipstick.questions.keys import (
    Cascade,
    key_advice,
    key_values,
    record_of,
    table_of_keys,
    tokens_of,
)

_ALIKE = (BinaryType, BooleanType, DateType, DecimalType, IntegralType, StringType)
"""Types of keys whose values Python, Arrow and Spark have alike: an instant has a zone."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """Tokens to delete, per relation: a table of the relation's token columns."""

    tokens: Mapping[str, pa.Table]

    def views(self, spark: SparkSession) -> dict[str, tuple[str, tuple[str, ...]]]:
        """Register the tokens as temporary views; return view and columns per relation.

        Relations without deleted tuples have none.
        """
        views = {}
        for name, table in self.tokens.items():
            if not table.num_rows:
                continue
            view = f"_lipstick_deleted_{uuid.uuid4().hex[:8]}"
            frame = frame_of_arrow(spark, table)
            frame.createOrReplaceTempView(view)
            views[name] = (view, tuple(table.column_names))
        return views


def resolve_deletion(
    spark: SparkSession,
    relations: Mapping[str, RelationRecord],
    delete: Mapping[str, Any],
    cascade: Cascade | None = None,
    types: Callable[[str], pa.Schema | None] = lambda _: None,
) -> Deletion:
    """Turn predicates and lists of keys into tokens, following cascades if there are any.

    Parameters
    ----------
    delete
        Per relation a predicate over its columns (text or Column), a list of keys (tuples where
        the key is composite), or a data frame or Arrow table with the key columns.
    cascade
        Per child relation ``(columns, parent)``: rows of the child whose columns hold the key of
        a deleted parent row are deleted too.
    types
        Gives the token columns of a relation whose rows this session cannot read: keys name its
        tuples all the same.

    Raises
    ------
    TrackingError
        For relations that the query does not read or that have no tokens, predicates that Spark
        refuses, and keys that are not of the key's type.
    """
    tokens: dict[str, DataFrame | pa.Table] = {}
    for name, what in delete.items():
        record = record_of(relations, name)
        tokens[record.name] = _tokens(spark, record, what, types)
    for child, (columns, parent) in _in_order(cascade or {}).items():
        record, above = record_of(relations, child), record_of(relations, parent)
        if above.name not in tokens:
            continue
        names = [columns] if isinstance(columns, str) else list(columns)
        parents = _frame(spark, tokens[above.name])
        gone = parents.toDF(*(f"_p{i}" for i in range(len(above.token))))
        rows = source_rows(spark, record)
        match = [rows[f"`{column}`"] == gone[f"_p{number}"] for number, column in enumerate(names)]
        lost = rows.join(gone, match, "left_semi").select(*_columns(record.token))
        known = tokens.get(record.name)
        tokens[record.name] = lost if known is None else _frame(spark, known).union(lost).distinct()
    return Deletion({name: _table(gone) for name, gone in tokens.items()})


def _frame(spark: SparkSession, tokens: DataFrame | pa.Table) -> DataFrame:
    return frame_of_arrow(spark, tokens) if isinstance(tokens, pa.Table) else tokens


def _table(tokens: DataFrame | pa.Table) -> pa.Table:
    return tokens if isinstance(tokens, pa.Table) else tokens.toArrow()


def _in_order(cascade: Cascade) -> Cascade:
    """Return the cascades with every parent's own deletion before its children's."""
    waiting = dict(cascade)
    ordered: dict[str, tuple[str | Sequence[str], str]] = {}
    while waiting:
        ready = [c for c, (_, parent) in waiting.items() if parent not in waiting]
        if not ready:
            raise TrackingError(
                f"The cascades of {', '.join(sorted(waiting))} form a cycle; break it."
            )
        for child in ready:
            ordered[child] = waiting.pop(child)
    return ordered


def check_readable(spark: SparkSession, record: RelationRecord) -> None:
    """Raise :class:`TrackingError` unless the rows of a relation can be read in this session."""
    if not spark.catalog.tableExists(record.view):
        raise TrackingError(
            f"{record.name!r} ({record.description}) is not tracked in this session as it was when "
            f"it was captured.\nTrack it, track({record.name!r}, ...): the same rows by the same "
            f"key ({', '.join(record.token) or 'none'})."
        )


def without(spark: SparkSession, view: str, gone: str, columns: Sequence[str]) -> str:
    """Return a view of the rows of a view whose tokens are not in another view."""
    rows, tokens = spark.table(view), spark.table(gone)
    match = [rows[f"`{column}`"].eqNullSafe(tokens[f"`{column}`"]) for column in columns]
    reduced = f"{gone}_reduced"
    rows.join(tokens, match, "left_anti").createOrReplaceTempView(reduced)
    return reduced


def _tokens(
    spark: SparkSession,
    record: RelationRecord,
    what: Any,
    types: Callable[[str], pa.Schema | None],
) -> DataFrame | pa.Table:
    if isinstance(what, pa.Table | list | tuple) and not spark.catalog.tableExists(record.view):
        schema = types(record.name)
        if schema is not None:
            return tokens_of(record, what, schema)
    check_readable(spark, record)
    rows = source_rows(spark, record)
    if isinstance(what, pa.Table):
        what = frame_of_arrow(spark, what)
    if isinstance(what, DataFrame):
        missing = [column for column in record.token if column not in what.columns]
        if missing:
            raise TrackingError(
                f"The rows to delete from {record.name!r} have no column {missing[0]!r}; "
                f"its token is ({', '.join(record.token)})."
            )
        return what.select(*_columns(record.token)).distinct()
    if isinstance(what, Sequence) and not isinstance(what, str):
        schema = StructType([rows.schema[column] for column in record.token])
        return rows_of_keys(spark, record.name, schema, what)
    return where(rows, record.name, what).select(*_columns(record.token))


def rows_of_keys(
    spark: SparkSession, name: str, schema: StructType, keys: Sequence[Any]
) -> DataFrame | pa.Table:
    """Return the keys of rows of a relation as rows with the key's columns.

    Raises
    ------
    TrackingError
        For keys that are not of the key's type.
    """
    try:
        if all(isinstance(field.dataType, _ALIKE) for field in schema) and in_arrow(schema):
            return table_of_keys(name, keys, arrow_of(schema))
        return spark.createDataFrame([key_values(name, schema.names, key) for key in keys], schema)
    except (PySparkException, pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise TrackingError(f"Keys of {name!r}: {error}") from error


def where(rows: DataFrame, name: str, predicate: str | Column) -> DataFrame:
    """Return the rows of a relation for which a predicate is true.

    Raises
    ------
    TrackingError
        When Spark refuses the predicate.
    """
    try:
        frame = rows.where(predicate)
        frame.schema  # noqa: B018 - Connect analyses here
    except PySparkException as error:
        raise TrackingError(
            f"The predicate {predicate!r} cannot be applied to {name!r}: {first_line(error)}"
            + key_advice(predicate)
        ) from error
    return frame


def _columns(names: Sequence[str]) -> list[Any]:
    return [F.col(f"`{name}`") for name in names]


def check_unasked(undo: Sequence[str], replace: Mapping[str, str] | None) -> None:
    """Refuse to undo or replace statements where none are known."""
    if undo or replace:
        raise TrackingError(
            "The query reads no table whose statements are known.\n"
            "Give its versions and statements: ls.reenact(...)."
        )
