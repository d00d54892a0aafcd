"""Evaluating annotations in a semiring on the cluster, through ``mapInArrow``.

Per block, inner ones first: a pass over the members values their tokens, multiplies, and adds up
what a batch holds of each tuple; a second pass adds up the batches. See :mod:`lipstick.passes`.
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

from lipstick.errors import CapabilityError
from lipstick.passes import Factor, Passes
from lipstick.tracking import ROW_BITS
from rewriter.blocks import Block, Kind, topological
from rewriter.emit import SIDE, VALUE
from rewriter.statements import (
    answer_sql,
    compares_aggregates,
    contributions_sql,
    has_difference,
    limits_inside,
    rows_sql,
)
from semiring.base import Semiring
from semiring.columns import Travel
from semiring.columns.objects import unpickled
from semiring.polynomial import Polynomial
from semiring.semirings import Boolean, Counting
from semiring.token import Token
from semiring.valuation import Valuation


def check_comparisons(root: Block, semiring: Semiring[Any], valued: bool) -> None:
    """Refuse to evaluate comparisons of aggregates that have no value in the semiring.

    Raises
    ------
    CapabilityError
        Unless the query has none, or every token is 1 in Counting or Boolean.
    """
    if not compares_aggregates(root):
        return
    if type(semiring) in (Counting, Boolean) and not valued:
        return
    raise CapabilityError(
        f"The query compares aggregated values, and a comparison has no value in {semiring.name} "
        "under this valuation.\nUse what_if() for deletions, or polynomials() for the expression."
    )


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
        self._spark = spark
        self._root = root
        self._members_view = members_view
        self._rows_views = rows_views
        self._semiring = semiring
        self._valuations = dict(valuations)
        self._id = uuid.uuid4().hex[:8]
        self._travel = Travel(semiring, self._valuations, self._key_types())
        self._passes = Passes(self._valuations, self._travel)
        self._type = _spark_type(self._travel.carrier)
        self._potential = not (compares_aggregates(root) or limits_inside(root))

    def run(self) -> DataFrame:
        """Return the root's outputs in the answer's order, then ``_value``."""
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
        """Return the first rows of the answer, with their annotations as values of the carrier."""
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
        if self._root.name in self._rows_views:
            rows = self._spark.table(self._rows_views[self._root.name])
        else:
            rows = self._spark.sql(rows_sql(self._root, self._members_view))
        if self._root.copies:
            # One annotation is that of all copies of a row.
            rows = rows.dropDuplicates(list(self._root.identity))
        keys = [f"`{name}`" for name in self._root.identity]
        mine = values[self._root.name].toDF(*(f"_k{i}" for i in range(len(keys))), VALUE)
        match: Column = F.lit(True)
        for number, key in enumerate(keys):
            match = match & F.col(key).eqNullSafe(F.col(f"_k{number}"))
        view = f"_lipstick_valued_{self._id}"
        rows.join(mine, match).createOrReplaceTempView(view)
        return self._spark.sql(answer_sql(self._root, view, (VALUE,)))

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
        sql, found = contributions_sql(
            block,
            self._members_view,
            self._values_view,
            self._rows_views,
            potential=self._potential,
        )
        frame = self._spark.sql(sql)
        keys = [frame.schema[name] for name in block.identity]
        sides = [] if block.difference is None else [frame.schema[SIDE]]
        grouped = block.kind is Kind.GROUP
        factors = [Factor(r.columns[0], r.optional, r.negated) for r in found.references]
        names = [key.name for key in (*keys, *sides)]
        kind = None if grouped else shown
        members = self._passes.members(names, found.tokens, factors, kind, grouped=grouped)
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
        return StructType([*keys, StructField(VALUE, kind)])

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


def named_token(naming: str) -> Callable[[Token], Polynomial]:
    """Return the valuation of a relation's tokens by themselves, as people see them."""
    bits = ROW_BITS

    def value(token: Token) -> Polynomial:
        if naming != "rows":
            return Polynomial.token(token)
        (packed,) = token.key
        key = (packed >> bits, packed & ((1 << bits) - 1))
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
