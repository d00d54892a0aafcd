"""The passes of workers over batches of captured members, which evaluate their annotations.

All of it travels to them by value: they need numpy and pyarrow, not this project.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle

import semiring as semiring_package
from rewriter.emit import VALUE
from semiring.arrays.segments import list_layout
from semiring.base import Array
from semiring.columns import Columns, Travel, ValuedScan
from semiring.encodings.valuation import Valuation
from semiring.encodings.vocabulary import TokenScan

for _module in (semiring_package, sys.modules[__name__]):
    cloudpickle.register_pickle_by_value(_module)  # type: ignore[no-untyped-call]

Batches: TypeAlias = Iterator[pa.RecordBatch]
Pass: TypeAlias = Callable[[Batches], Batches]
"""A function for ``mapInArrow``."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A column of annotations of other tuples, which members are multiplied by.

    Parameters
    ----------
    column
        Its name.
    optional
        Whether it may be NULL, for a factor 1.
    negated
        Whether the factor is 1 ⊖ δ of it.
    either
        Whether the factor is it + (1 ⊖ δ of it).
    """

    column: str
    optional: bool
    negated: bool
    either: bool


@dataclass(frozen=True, slots=True)
class WorkerPasses:
    """The passes of one evaluation.

    Each makes annotations as they travel, or shows them, in a type that is `shown`.

    Parameters
    ----------
    valuations
        By relation.
    travel
        How annotations get from pass to pass.
    """

    valuations: Mapping[str, Valuation[Any]]
    travel: Travel

    def ones(self, shown: pa.DataType | None) -> Pass:
        """The pass that annotates every row with 1, and leaves its columns out."""

        def run(batches: Batches) -> Batches:
            for batch in batches:
                columns = self.travel.columns({}, {})
                yield _batch([], [], _end(columns, columns.ones(batch.num_rows), shown))

        return run

    def members(
        self,
        identity: Sequence[str],
        tokens: Sequence[tuple[str, Sequence[str]]],
        factors: Sequence[Factor],
        shown: pa.DataType | None,
        *,
        grouped: bool,
    ) -> Pass:
        """The pass that annotates members.

        Parameters
        ----------
        identity
            Columns that name the tuple of a member, and are kept.
        tokens
            The relation and key columns of each of a member's tokens.
        factors
            What it is multiplied by beside its tokens.
        grouped
            Whether members of one tuple are added up, as far as a batch has them.
        """
        valued = [token for token in tokens if not self.valuations[token[0]].constant_one]

        def run(batches: Batches) -> Batches:
            for batch in batches:
                size = batch.num_rows
                sources: dict[Hashable, ValuedScan] = {
                    number: ValuedScan(
                        self.valuations[relation],
                        partial(
                            TokenScan.of, relation, [batch.column(name) for name in names], size
                        ),
                    )
                    for number, (relation, names) in enumerate(valued)
                }
                given = [batch.column(factor.column) for factor in factors]
                there = [column.is_valid() for column in given]
                received = [column.filter(mask) for column, mask in zip(given, there, strict=True)]
                columns = self.travel.columns(sources, dict(enumerate(received)))
                factor_values = [columns.tokens(number) for number in sources]
                for number, (factor, mask) in enumerate(zip(factors, there, strict=True)):
                    values = columns.received(number)
                    if factor.optional:
                        present = mask.to_numpy(zero_copy_only=False)
                        if factor.either:
                            values = columns.or_absent(values, int(present.sum()))
                        values = columns.factors(values, present, negated=factor.negated)
                    factor_values.append(values)
                values = columns.product(factor_values, size)
                keys = batch.select(list(identity))
                if grouped and size and not any(pa.types.is_nested(key.type) for key in keys):
                    keys, order, offsets = _groups(keys)
                    values = columns.fold(columns.take(values, order), offsets)
                yield _batch(identity, keys.columns, _end(columns, values, shown))

        return run

    def totals(self, shown: pa.DataType | None) -> Pass:
        """The pass that adds up the lists of annotations in the last column, and takes δ."""

        def run(batches: Batches) -> Batches:
            for batch in batches:
                offsets, members = list_layout(batch.column(batch.num_columns - 1))
                columns = self.travel.columns({}, {VALUE: members})
                values = columns.delta(columns.fold(columns.received(VALUE), offsets))
                values_shown = _end(columns, values, shown)
                yield _batch(batch.schema.names[:-1], batch.columns[:-1], values_shown)

        return run

    def differences(self, shown: pa.DataType | None, *, common: bool) -> Pass:
        """The pass that takes the total of the last column's lists from that of those before.

        Parameters
        ----------
        common
            What is left is taken away once more, which leaves what both have.
        """

        def run(batches: Batches) -> Batches:
            for batch in batches:
                *keys, left, right = batch.columns
                lists = {"left": list_layout(left), "right": list_layout(right)}
                columns = self.travel.columns(
                    {}, {side: members for side, (_, members) in lists.items()}
                )
                whole, less = (
                    columns.fold(columns.received(side), offsets)
                    for side, (offsets, _) in lists.items()
                )
                values = columns.monus(whole, less)
                if common:
                    values = columns.monus(whole, values)
                yield _batch(batch.schema.names[:-2], keys, _end(columns, values, shown))

        return run

    def shown(self, shown: pa.DataType) -> Pass:
        """The pass that shows the annotations in the last column."""

        def run(batches: Batches) -> Batches:
            for batch in batches:
                columns = self.travel.columns({}, {VALUE: batch.column(batch.num_columns - 1)})
                values_shown = _end(columns, columns.received(VALUE), shown)
                yield _batch(batch.schema.names[:-1], batch.columns[:-1], values_shown)

        return run


def _end(columns: Columns[Any], values: Any, shown: pa.DataType | None) -> pa.Array:
    return columns.sent(values) if shown is None else columns.to_arrow(values).cast(shown)


def _groups(keys: pa.RecordBatch) -> tuple[pa.RecordBatch, Array, Array]:
    """Equal rows as one: the rows, and in CSR form which each of them stands for."""
    rows = pa.array(np.arange(keys.num_rows))
    names = keys.schema.names
    lists = (
        pa.Table.from_batches([keys])
        .append_column("_row", rows)
        .group_by(names, use_threads=False)
        .aggregate([("_row", "list")])
        .combine_chunks()
    )
    offsets, order = list_layout(lists.column("_row_list").combine_chunks())
    return lists.select(names).to_batches()[0], order.to_numpy(), offsets


def _batch(names: Sequence[str], columns: Sequence[pa.Array], values: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([*columns, values], names=[*names, VALUE])
