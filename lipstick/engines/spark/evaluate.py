"""Evaluating annotations in a semiring on the cluster, through ``mapInArrow``.

Per block, inner ones first: a pass over the members values their tokens, multiplies, and adds up
what a batch holds of each tuple; a second pass adds up the batches: see
:mod:`lipstick.engines.spark.worker_passes`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from lipstick.dataframes.arrow import frame_of_arrow, with_nullable_fields
from lipstick.engines.spark.worker_passes import Factor, WorkerPasses
from lipstick.engines.spark.workers import check_workers
from lipstick.stages.reading import own_sql
from lipstick.tracking.naming import ROW_BITS, ROWS
from rewriter.analysis.conditional import has_difference, limits_inside, shown_joins
from rewriter.blocks import Block, Kind, topological
from rewriter.emit import PRESENT, SIDE, VALUE
from rewriter.emit.statements import answer_sql, contributions_sql, rows_sql
from semiring.base import Semiring
from semiring.columns import Travel
from semiring.columns.objects import unpickled
from semiring.encodings.valuation import Valuation
from semiring.polynomial import Polynomial
from semiring.token import Token


def check_difference(root: Block, semiring: Semiring[Any]) -> None:
    """Refuse to evaluate outer joins, NOT EXISTS and EXCEPT in a semiring without monus.

    Raises
    ------
    CapabilityError
        With the reason why the semiring has none.
    """
    if has_difference(root) and not semiring.has_monus:
        semiring.monus(semiring.one, semiring.one)


class Evaluation:
    """One evaluation of a capture's annotations."""

    def __init__(
        self,
        spark: SparkSession,
        root: Block,
        members_view: Callable[[Block], str],
        rows_views: Mapping[str, str],
        semiring: Semiring[Any],
        valuations: Mapping[str, Valuation[Any]],
    ) -> None:
        check_workers(spark)
        self._spark = spark
        self._root = root
        self._members_view = members_view
        self._rows_views = rows_views
        self._semiring = semiring
        self._valuations = dict(valuations)
        self._id = uuid.uuid4().hex[:8]
        self._travel = Travel(semiring, self._valuations, self._key_types())
        self._passes = WorkerPasses(self._valuations, self._travel)
        self._type = _spark_type(self._travel.carrier)
        self._potential = not limits_inside(root)
        self._shown = shown_joins(root)

    def run(self) -> DataFrame:
        """The root's outputs in the answer's order, then ``_value``."""
        shown = self._semiring.arrow_type
        if self._travel.carrier == shown:
            return self._answer(None)
        shown = shown if shown in _TYPES else pa.string()
        if self._root.kind is not Kind.UNION:
            return self._answer(shown)
        answer = self._answer(None)
        schema = StructType([*answer.schema.fields[:-1], StructField(VALUE, _TYPES[shown])])
        return answer.mapInArrow(self._passes.shown(shown), schema)

    def first(self, limit: int | None) -> list[tuple[tuple[Any, ...], Any]]:
        """The first rows of the answer, with their annotations as values of the carrier."""
        answer = self._answer(None)
        rows = answer.collect() if limit is None else answer.limit(limit).collect()
        return [(tuple(row)[:-1], self._value(row[VALUE])) for row in rows]

    def _value(self, value: Any) -> Any:
        return unpickled(bytes(value)) if isinstance(self._type, BinaryType) else value

    def _answer(self, shown: pa.DataType | None) -> DataFrame:
        """The answer with its annotations, as they travel or as they are shown."""
        values: dict[str, DataFrame] = {}
        for block in topological(self._root):
            last = shown if block is self._root else None
            values[block.name] = self._block(block, values, last)
            values[block.name].createOrReplaceTempView(self._values_view(block))
        rows = root_rows(self._spark, self._root, self._rows_views, self._members_view)
        if self._root.copies:
            # One annotation is that of all copies of a row.
            rows = rows.dropDuplicates(list(self._root.identity))
        root_values = values[self._root.name]
        return _ordered(self._spark, self._root, _joined(self._root, rows, root_values, "inner"))

    def _values_view(self, block: Block) -> str:
        return f"_lipstick_values_{self._id}_{block.name}"

    def _block(
        self, block: Block, values: Mapping[str, DataFrame], shown: pa.DataType | None
    ) -> DataFrame:
        if block.kind is Kind.UNION:
            return self._union(block, values)
        if block.kind is Kind.GROUP and not block.keys:
            ones = self._passes.ones(shown)
            return self._spark.range(1).mapInArrow(ones, self._schema([], shown))
        sql, terms = contributions_sql(
            block,
            self._members_view,
            self._values_view,
            self._rows_views,
            potential=self._potential,
            shown=self._shown if block is self._root else frozenset(),
        )
        frame = own_sql(self._spark, sql)
        keys = [frame.schema[name] for name in block.identity]
        sides = [] if block.difference is None else [frame.schema[SIDE]]
        grouped = block.kind is Kind.GROUP
        factors = [Factor(r.columns[0], r.optional, r.negated, r.either) for r in terms.references]
        names = [key.name for key in (*keys, *sides)]
        kind = None if grouped else shown
        members = self._passes.members(names, terms.tokens, factors, kind, grouped=grouped)
        partial = frame.mapInArrow(members, self._schema([*keys, *sides], kind))
        if not grouped:
            return partial
        columns = [F.col(f"`{name}`") for name in block.identity]
        if block.difference is not None:
            both = [F.when(F.col(SIDE) == side, F.col(VALUE)) for side in (0, 1)]
            lists = partial.groupBy(*columns).agg(
                *(F.collect_list(side).alias(f"_{number}") for number, side in enumerate(both))
            )
            difference = self._passes.differences(shown, common=block.difference.common)
            return lists.mapInArrow(difference, self._schema(keys, shown))
        lists = partial.groupBy(*columns).agg(F.collect_list(VALUE).alias(VALUE))
        return lists.mapInArrow(self._passes.totals(shown), self._schema(keys, shown))

    def _schema(self, keys: Sequence[StructField], shown: pa.DataType | None) -> StructType:
        kind = self._type if shown is None else _TYPES[shown]
        return with_nullable_fields(StructType([*keys, StructField(VALUE, kind)]))

    def _union(self, block: Block, values: Mapping[str, DataFrame]) -> DataFrame:
        parts = []
        for number, branch in enumerate(block.branches):
            columns = [F.col(f"`{name}`").alias(f"_{number}_{name}") for name in branch.identity]
            parts.append(
                values[branch.name].select(F.lit(number).alias("_branch"), *columns, VALUE)
            )
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.unionByName(part, allowMissingColumns=True)
        return whole.select(*(f"`{name}`" for name in block.identity), VALUE)

    def _key_types(self) -> Mapping[str, Sequence[pa.DataType]] | None:
        """The types of the key columns of every relation; None where some cannot travel."""
        keys: dict[str, tuple[pa.DataType, ...]] = {}
        for block in topological(self._root):
            if not block.tokens:
                continue
            schema = self._spark.table(self._members_view(block)).schema
            for token in block.tokens:
                kinds = tuple(_arrow_type(schema[name].dataType) for name in token.columns)
                if None in kinds:
                    return None
                keys[token.relation] = kinds
        return keys


def root_rows(
    spark: SparkSession,
    root: Block,
    rows_views: Mapping[str, str],
    members_view: Callable[[Block], str],
) -> DataFrame:
    """The rows of the block that yields the answer, as captured."""
    if root.name in rows_views:
        return spark.table(rows_views[root.name])
    return own_sql(spark, rows_sql(root, members_view))


def in_world(
    spark: SparkSession,
    root: Block,
    rows: DataFrame,
    left: DataFrame | None,
    semiring: Semiring[Any],
) -> DataFrame:
    """Return the answer with 1 for rows that are in another answer, and 0 for others.

    Parameters
    ----------
    rows
        The rows of the block that yields the answer, as captured.
    left
        The other answer, with the columns that identify rows; None: it is the same.
    semiring
        A counting or an idempotent semiring: rows may come several times.
    """
    if root.copies:
        rows = rows.dropDuplicates(list(root.identity))
    zero, unit = semiring.to_arrow(semiring.pack([semiring.zero, semiring.one])).to_pylist()
    kind = _TYPES.get(semiring.arrow_type, StringType())
    keys = [F.col(f"`{name}`") for name in root.identity]
    if left is None and not root.copies:
        return _ordered(spark, root, rows.withColumn(VALUE, F.lit(unit).cast(kind)))
    left = rows.where(F.col(PRESENT)) if left is None else left
    count: Column = F.count(F.lit(1))
    if semiring.idempotent or not root.copies:
        # Rows with one identity are equal, each annotated on its own.
        count = F.when(count > 0, F.lit(unit)).otherwise(F.lit(zero))
    counts = left.groupBy(*keys).agg(count.cast(kind).alias(VALUE))
    joined = _joined(root, rows, counts, "left")
    there = F.coalesce(F.col(VALUE), F.lit(zero).cast(kind))
    return _ordered(spark, root, joined.withColumn(VALUE, there))


def valued_frame(spark: SparkSession, table: pa.Table, answer: StructType) -> DataFrame:
    """An answer with its annotations, computed in memory, as a data frame.

    ``answer`` is the schema of the answer's columns.
    """
    shown = _spark_type(table.schema.field(table.num_columns - 1).type)
    schema = StructType([*answer.fields, StructField(VALUE, shown)])
    return frame_of_arrow(spark, table, schema)


def _joined(root: Block, rows: DataFrame, values: DataFrame, how: str) -> DataFrame:
    """Return rows with the annotations that values has for their identity."""
    keys = [f"`{name}`" for name in root.identity]
    keyed = values.toDF(*(f"_k{number}" for number in range(len(keys))), VALUE)
    match: Column = F.lit(True)
    for number, key in enumerate(keys):
        match = match & F.col(key).eqNullSafe(F.col(f"_k{number}"))
    return rows.join(keyed, match, how)


def _ordered(spark: SparkSession, root: Block, rows: DataFrame) -> DataFrame:
    """The answer in its order, with the annotations of its rows."""
    view = f"_lipstick_valued_{uuid.uuid4().hex[:8]}"
    rows.createOrReplaceTempView(view)
    return own_sql(spark, answer_sql(root, view, (VALUE,)))


def named_token(naming: str) -> Callable[[Token], Polynomial]:
    """The valuation of a relation's tokens by themselves, as people see them."""
    packed, bits = naming == ROWS, ROW_BITS

    def value(token: Token) -> Polynomial:
        # Workers have not the module with shown_key.
        if not packed:
            return Polynomial.token(token)
        (number,) = token.key
        key = (number >> bits, number & ((1 << bits) - 1))
        return Polynomial.token(Token(token.relation, key))

    return value


_TYPES: Mapping[pa.DataType, DataType] = {
    pa.bool_(): BooleanType(),
    pa.int8(): ByteType(),
    pa.int16(): ShortType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float32(): FloatType(),
    pa.float64(): DoubleType(),
    pa.string(): StringType(),
    pa.binary(): BinaryType(),
    pa.date32(): DateType(),
}


def _spark_type(kind: pa.DataType) -> DataType:
    """The type of Spark that an Arrow type is."""
    if pa.types.is_list(kind):
        return ArrayType(_spark_type(kind.value_type))
    if pa.types.is_struct(kind):
        return StructType([StructField(field.name, _spark_type(field.type)) for field in kind])
    if pa.types.is_decimal(kind):
        return DecimalType(kind.precision, kind.scale)
    return _TYPES[kind]


def _arrow_type(kind: DataType) -> pa.DataType | None:
    """The Arrow type that keys of a type of Spark travel in; None for types that do not."""
    if isinstance(kind, DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    return next((arrow for arrow, spark in _TYPES.items() if spark == kind), None)
