"""Rows before and after, matched by Spark: the answer of a query, or rows that a query wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from operator import and_

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lipstick.capture.manifest import Manifest
from lipstick.dataframes.arrow import frame_of_arrow, with_nullable_fields
from lipstick.questions.what_if import CHANGE, Route, WhatIf
from lipstick.tables.derivation import TUPLE, Part
from lipstick.tables.derived_rows import table_columns
from lipstick.tracking.naming import ROW_BITS
from lipstick.tracking.tracker import ROW_COLUMN, comparable
from rewriter.blocks import Block, Kind


def keyed(rows: DataFrame, side: str, values: list[Column], keys: list[Column]) -> DataFrame:
    """Return a struct of values for each row, ``old`` or ``new``, then its keys, to be paired."""
    return rows.select(
        F.struct(*values).alias(side),
        *(key.alias(f"k{number}") for number, key in enumerate(keys or [F.lit(0)])),
    )


def with_ordinal(keys: list[Column]) -> list[Column]:
    """Return keys that no two rows share: these, and an ordinal among the rows that share them."""
    ordinal = F.row_number().over(Window.partitionBy(*keys).orderBy(F.lit(1)))
    return [*keys, ordinal]


def paired(old: DataFrame, new: DataFrame) -> DataFrame:
    """Return ``old`` and ``new`` where the keys are the same, NULL where a side has no such row.

    The keys of the new rows follow.
    """
    keys = old.columns[1:]
    match = reduce(and_, (old[key].eqNullSafe(new[key]) for key in keys))
    joined = old.join(new, match, "full_outer")
    return joined.select(old["old"], new["new"], *(new[key] for key in keys))


def with_change(pairs: DataFrame, unchanged: Column) -> DataFrame:
    """Return ``_change``, ``old`` and ``new`` of paired rows."""
    change = (
        F.when(F.col("new").isNull(), "deleted")
        .when(F.col("old").isNull(), "added")
        .when(unchanged, "unchanged")
        .otherwise("changed")
    )
    return pairs.select(
        change.alias(CHANGE), *(_with_nulls(pairs, side) for side in ("old", "new"))
    )


def _with_nulls(pairs: DataFrame, side: str) -> Column:
    """Return the structs of a side, whose fields may be NULL."""
    kind = pairs.schema[side].dataType
    assert isinstance(kind, StructType)
    (loose,) = with_nullable_fields(StructType().add(side, kind)).fields
    return F.col(side) if loose.dataType == kind else F.col(side).cast(loose.dataType).alias(side)


# -- answers -----------------------------------------------------------------------------------


def compared_answers(
    manifest: Manifest, new: DataFrame, old: DataFrame, method: Route
) -> WhatIf[DataFrame]:
    """Return the hypothetical answer of a query.

    Parameters
    ----------
    new, old
        The rows of the query's root, with their identity.
    """
    root = manifest.root
    columns = {output.name: F.col(f"`{output.name}`") for output in root.outputs}
    values = [
        column.alias(name) for column, name in zip(columns.values(), manifest.names, strict=True)
    ]

    def side(rows: DataFrame, name: str) -> DataFrame:
        keys = [F.col(f"`{column}`") for column in root.identity]
        if not (root.unique_identity if keys else root.aggregates):
            types = {field.name: field.dataType for field in rows.schema.fields}
            keys = with_ordinal([comparable(c, types[own]) for own, c in columns.items()])
        return keyed(rows, name, values, keys)

    def changes() -> DataFrame:
        pairs = paired(side(old, "old"), side(new, "new"))
        kind = pairs.schema["old"].dataType
        before, after = (comparable(F.col(name), kind) for name in ("old", "new"))
        return with_change(pairs, before.eqNullSafe(after))

    return WhatIf(method, lambda: new.select(*values), changes)


def as_frames(
    spark: SparkSession, manifest: Manifest, answer: WhatIf[pa.Table]
) -> WhatIf[DataFrame]:
    """Return a hypothetical answer that was computed in memory as data frames."""
    schema = StructType.fromJson(json.loads(manifest.schema))
    changes = StructType().add(CHANGE, "string", False).add("old", schema).add("new", schema)
    return WhatIf(
        answer.method,
        lambda: frame_of_arrow(spark, answer.df, schema),
        lambda: frame_of_arrow(spark, answer.changes, changes),
    )


# -- rows that were written --------------------------------------------------------------------


class RowComparison:
    """Rows that were written and rows that would have been, matched tuple by tuple.

    Tuples are matched by their identity, and where it is not of one row alone, by their values
    and an ordinal among equals.

    Parameters
    ----------
    old
        The rows of a part, with the tokens and tuples.
    new
        The hypothetical answer: outputs and identity of the root of the part's query, and beside
        them what other columns of the table are filled with.
    token
        The columns of the tokens.
    number
        The place of the part among the relation's: fresh tokens of parts are not the same.
    """

    def __init__(
        self,
        old: DataFrame,
        new: DataFrame,
        root: Block,
        part: Part,
        token: tuple[str, ...],
        number: int,
    ) -> None:
        self._columns = [name for name in old.columns if name not in (ROW_COLUMN, TUPLE)]
        self._token = token
        self._fresh = number << ROW_BITS
        self._placed = token == (ROW_COLUMN,)
        table = StructType([old.schema[name] for name in self._columns])
        outputs = table_columns(root, new.schema, part.columns, table)
        self._types = {name: old.schema[name].dataType for name in outputs}
        before = [F.col(f"{TUPLE}.i{number}") for number in range(len(root.identity))]
        after = [F.col(f"`{name}`") for name in root.identity]
        self._alone = identifies_rows(root)
        left = self._side(old, "old", before, {name: F.col(f"`{name}`") for name in outputs})
        # Read by what follows more than once.
        self._joined = paired(left, self._side(new, "new", after, outputs)).persist()
        self._keys = self._joined.columns[2:]
        self._same = reduce(and_, (self._equal(name) for name in self._columns))

    def _side(
        self, rows: DataFrame, name: str, identity: list[Column], outputs: dict[str, Column]
    ) -> DataFrame:
        keys = identity
        if not self._alone:
            values = (comparable(value, self._types[n]) for n, value in outputs.items())
            keys = with_ordinal([*identity, *values])
        kept = [outputs[column].alias(column) for column in self._columns]
        if name == "old" and self._placed:
            kept.append(F.col(ROW_COLUMN))
        return keyed(rows, name, kept, keys)

    def _equal(self, name: str) -> Column:
        sides = (F.col(f"{side}.`{name}`") for side in ("old", "new"))
        old, new = (comparable(value, self._types[name]) for value in sides)
        return old.eqNullSafe(new)

    @property
    def only_deletes(self) -> bool:
        """True if every hypothetical row was written, with the same values."""
        other = F.col("new").isNotNull() & (F.col("old").isNull() | ~self._same)
        return not self._joined.where(other).limit(1).count()

    @property
    def deleted(self) -> DataFrame:
        """The tokens of the rows that would not be there."""
        gone = self._joined.where(F.col("new").isNull())
        return gone.select(*(F.col(f"old.`{name}`").alias(name) for name in self._token))

    @property
    def rows(self) -> DataFrame:
        """The hypothetical rows with tokens: known ones of rows that stay, fresh ones of others."""
        there = self._joined.where(F.col("new").isNotNull())
        values = [F.col(f"new.`{name}`").alias(name) for name in self._columns]
        if not self._placed:
            return there.select(*values)
        stayed = there.where(F.col("old").isNotNull())
        came = there.where(F.col("old").isNull())
        number = F.row_number().over(Window.orderBy(*self._keys))
        return stayed.select(*values, F.col(f"old.`{ROW_COLUMN}`").alias(ROW_COLUMN)).unionAll(
            came.select(*values, (-(number + F.lit(self._fresh))).alias(ROW_COLUMN))
        )


def identifies_rows(root: Block) -> bool:
    """Return True if the identity of a tuple of the answer belongs to one row alone."""
    if root.copies:
        return False
    return root.unique_identity if root.identity else root.kind is Kind.GROUP


def with_names(frame: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return a frame with other names for its columns, among which one may stand twice.

    Spark's rule ``RemoveRedundantAliases`` makes a plan invalid where two columns of one name come,
    in a branch of a union, to be one column of that name. So of a repeated name only the first is
    an alias of a column; the others are the only item of an array.
    """
    if len(set(names)) == len(names):
        return frame.toDF(*names)
    columns = []
    for index, (column_name, name) in enumerate(zip(frame.columns, names, strict=True)):
        column = F.col(f"`{column_name}`")
        if name in names[:index]:
            metadata = frame.schema.fields[index].metadata
            column = F.array_repeat(column, 1)[0].alias(name, metadata=metadata)
        else:
            column = column.alias(name)
        columns.append(column)
    return frame.select(*columns)
