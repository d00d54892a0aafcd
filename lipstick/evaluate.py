"""Evaluating annotations in a semiring on the cluster, through ``mapInArrow``.

Per block, inner ones first: a pass over the members values their tokens, multiplies, and adds up
what a batch holds of each tuple; a second pass adds up the batches. The evaluator travels to the
workers by value: they need numpy and pyarrow, not this project.
"""

from __future__ import annotations

import io
import pickle
import sys
import uuid
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

import semiring as semiring_package
from lipstick.errors import CapabilityError
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
from semiring.evaluator import fold, product
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings import Boolean, Clearance, Counting, Weight
from semiring.semirings.formula import Name
from semiring.tensor import Tensor
from semiring.token import Token
from semiring.valuation import Valuation

for _module in (semiring_package, sys.modules[__name__]):
    cloudpickle.register_pickle_by_value(_module)  # type: ignore[no-untyped-call]

Tokens = tuple[tuple[str, tuple[str, ...]], ...]
Batches = Iterator[pa.RecordBatch]


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
        self._type = _transport(semiring)
        self._potential = not (compares_aggregates(root) or limits_inside(root))

    def run(self) -> DataFrame:
        """Return the root's outputs in the answer's order, then ``_value``."""
        return self._readable(self._answer())

    def first(self, limit: int | None) -> list[tuple[tuple[Any, ...], Any]]:
        """Return the first rows of the answer, with their annotations as values of the carrier."""
        answer = self._answer()
        rows = answer.collect() if limit is None else answer.limit(limit).collect()
        return [(tuple(row)[:-1], self._value(row[VALUE])) for row in rows]

    def _value(self, value: Any) -> Any:
        if not isinstance(self._type, BinaryType):
            return value
        return _Unpickler(io.BytesIO(bytes(value))).load()

    def _answer(self) -> DataFrame:
        values: dict[str, DataFrame] = {}
        for block in topological(self._root):
            values[block.name] = self._block(block, values)
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

    def _block(self, block: Block, values: Mapping[str, DataFrame]) -> DataFrame:
        if block.kind is Kind.UNION:
            return self._union(block, values)
        if block.kind is Kind.GROUP and not block.keys:
            return self._spark.range(1).select(self._constant().alias(VALUE))
        sql, found = contributions_sql(
            block,
            self._members_view,
            self._values_view,
            self._rows_views,
            potential=self._potential,
        )
        frame = self._spark.sql(sql)
        keys = [frame.schema[name] for name in block.identity]
        schema = StructType([*keys, StructField(VALUE, self._type)])
        grouped = block.kind is Kind.GROUP
        if block.difference is not None:
            keys.append(frame.schema[SIDE])
            schema = StructType([*keys, StructField(VALUE, self._type)])
        member = member_values(
            self._semiring,
            self._valuations,
            tuple(key.name for key in keys),
            found.tokens,
            tuple((r.columns[0], r.optional, r.negated) for r in found.references),
            grouped,
        )
        partial = frame.mapInArrow(member, schema)
        if not grouped:
            return partial
        columns = [F.col(f"`{name}`") for name in block.identity]
        if block.difference is not None:
            sides = [F.when(F.col(SIDE) == side, F.col(VALUE)) for side in (0, 1)]
            lists = partial.groupBy(*columns).agg(
                *(F.collect_list(side).alias(f"_{number}") for number, side in enumerate(sides))
            )
            kept = [field for field in schema.fields if field.name != SIDE]
            difference = difference_values(self._semiring, block.difference.common)
            return lists.mapInArrow(difference, StructType(kept))
        lists = partial.groupBy(*columns).agg(F.collect_list(VALUE).alias(VALUE))
        return lists.mapInArrow(total_values(self._semiring), schema)

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

    def _constant(self) -> Column:
        one = _pack(self._semiring, self._semiring.ones(1))[0].as_py()
        return F.lit(one).cast(self._type)

    def _readable(self, answer: DataFrame) -> DataFrame:
        if not isinstance(self._type, BinaryType):
            return answer
        shown = StructType(
            [f for f in answer.schema.fields if f.name != VALUE]
            + [StructField(VALUE, StringType())]
        )
        return answer.mapInArrow(render_values(self._semiring), shown)


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


def _transport(semiring: Semiring[Any]) -> Any:
    """Return the type in which annotations travel between passes; pickled if not numbers."""
    return _DIRECT.get(semiring.dtype.name, BinaryType())


_DIRECT: dict[str, Any] = {"float64": DoubleType(), "bool": BooleanType(), "int64": LongType()}
"""Types that hold the annotations of a numeric semiring as they are shown."""


_CLASSES: dict[str, type] = {
    kind.__qualname__: kind
    for kind in (
        Token,
        Name,
        Polynomial,
        Clearance,
        Weight,
        Tensor,
        Expression,
        *Expression.__subclasses__(),
    )
}
"""Classes of annotations, by the names that stand for them between workers."""


class _Pickler(pickle.Pickler):
    """Names our classes, which workers hold by value, instead of importing their modules."""

    def persistent_id(self, item: Any) -> str | None:
        """Return the name of one of our classes."""
        if isinstance(item, type) and _CLASSES.get(item.__qualname__) is item:
            return item.__qualname__
        return None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, name: Any) -> type:
        """Return the class of a name."""
        return _CLASSES[name]


def _pack(
    semiring: Semiring[Any], array: Any, direct: Container[str] = frozenset(_DIRECT)
) -> pa.Array:
    if semiring.dtype.name in direct:
        return pa.array(array)
    packed = []
    for value in semiring.unpack(array):
        buffer = io.BytesIO()
        _Pickler(buffer).dump(value)
        packed.append(buffer.getvalue())
    return pa.array(packed, pa.binary())


def _unpack(
    semiring: Semiring[Any], column: pa.Array, direct: Container[str] = frozenset(_DIRECT)
) -> Any:
    if semiring.dtype.name in direct:
        return column.to_numpy(zero_copy_only=False)
    return semiring.pack([_Unpickler(io.BytesIO(value)).load() for value in column.to_pylist()])


def _reference(semiring: Semiring[Any], column: pa.Array, optional: bool, negated: bool) -> Any:
    if not optional:
        return _unpack(semiring, column)
    there = column.is_valid().to_numpy(zero_copy_only=False)
    values = semiring.ones(len(column))
    if there.any():
        found = _unpack(semiring, column.filter(pa.array(there)))
        if negated:
            found = semiring.monus_array(semiring.ones(len(found)), semiring.delta_array(found))
        values[there] = found
    return values


def member_values(
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    identity: Sequence[str],
    tokens: Tokens,
    references: Sequence[tuple[str, bool, bool]],
    grouped: bool,
) -> Callable[[Batches], Batches]:
    """Return the pass that values members and adds up those of a tuple within a batch.

    ``references`` are columns of annotations, each with whether it may be NULL, for a factor 1,
    and whether the factor is 1 ⊖ δ of it.
    """
    pack, reference = _pack, _reference

    def run(batches: Batches) -> Batches:
        for batch in batches:
            factors = [
                valuations[relation].lookup([batch.column(name) for name in names])
                for relation, names in tokens
            ]
            factors += [
                reference(semiring, batch.column(name), optional, negated)
                for name, optional, negated in references
            ]
            values = product(semiring, factors, batch.num_rows)
            keys = batch.select(list(identity))
            if grouped and batch.num_rows:
                table = pa.Table.from_batches([keys])
                simple = not any(pa.types.is_nested(field.type) for field in table.schema)
                if simple:
                    rows = pa.array(np.arange(batch.num_rows))
                    lists = (
                        table.append_column("_row", rows)
                        .group_by(list(identity), use_threads=False)
                        .aggregate([("_row", "list")])
                        .combine_chunks()
                    )
                    order = lists.column("_row_list").combine_chunks()
                    offsets = order.offsets.to_numpy().astype(np.int64)
                    values = fold(semiring, values[order.values.to_numpy()], offsets)
                    keys = lists.select(list(identity)).to_batches()[0]
            columns = [*keys.columns, pack(semiring, values)]
            yield pa.RecordBatch.from_arrays(columns, names=[*identity, "_value"])

    return run


def total_values(semiring: Semiring[Any]) -> Callable[[Batches], Batches]:
    """Return the pass that adds up a list of annotations per tuple and takes δ."""
    pack, unpack = _pack, _unpack

    def run(batches: Batches) -> Batches:
        for batch in batches:
            lists = batch.column(batch.num_columns - 1)
            lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            values = fold(semiring, unpack(semiring, lists.flatten()), offsets)
            columns = [*batch.columns[:-1], pack(semiring, semiring.delta_array(values))]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    return run


def difference_values(semiring: Semiring[Any], common: bool) -> Callable[[Batches], Batches]:
    """Return the pass that takes the total of one list of annotations from that of another.

    ``common``: what is left is taken away once more, which leaves what both have.
    """
    pack, unpack = _pack, _unpack

    def total(lists: pa.Array) -> Any:
        lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return fold(semiring, unpack(semiring, lists.flatten()), offsets)

    def run(batches: Batches) -> Batches:
        for batch in batches:
            *keys, left, right = batch.columns
            totals = total(left)
            values = semiring.monus_array(totals, total(right))
            if common:
                values = semiring.monus_array(totals, values)
            names = [*batch.schema.names[:-2], "_value"]
            yield pa.RecordBatch.from_arrays([*keys, pack(semiring, values)], names=names)

    return run


def render_values(semiring: Semiring[Any]) -> Callable[[Batches], Batches]:
    """Return the pass that turns pickled annotations into text."""
    unpack = _unpack

    def run(batches: Batches) -> Batches:
        for batch in batches:
            values = unpack(semiring, batch.column(batch.num_columns - 1))
            shown = semiring.to_arrow(values)
            columns = [*batch.columns[:-1], shown]
            yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    return run
