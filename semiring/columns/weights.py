"""Annotations of sensitivity, as weights and slopes by token number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa

from semiring.arrays.segments import list_layout, lists_of
from semiring.base import Array
from semiring.columns.numbered import NumberedColumns
from semiring.encodings.texts import weights
from semiring.encodings.weights import Weights
from semiring.semirings.sensitivity import Sensitivity, Weight
from semiring.token import Token


class WeightColumns(NumberedColumns[Weights]):
    """The operations of sensitivity."""

    def repeat(self, counts: Array) -> Weights:
        return Weights.of_constants(self._vocabulary, counts)

    def of_tokens(self, numbers: Array) -> Weights:
        return Weights.of_tokens(self._vocabulary, numbers)

    def of_values(self, values: list[Any]) -> Weights:
        slopes = [weight.slopes for weight in values]
        constants = [weight.value for weight in values]
        return Weights.of_slopes(self._vocabulary, constants, slopes, self._numbered.numbers)

    def product(self, factors: Sequence[Weights], length: int) -> Weights:
        return reduce(Weights.times, factors) if factors else self.ones(length)

    def monus(self, a: Weights, b: Weights) -> Weights:
        self._semiring.monus(self._semiring.one, self._semiring.one)
        return a

    def delta(self, values: Weights) -> Weights:
        return self.repeat(values.present())

    def to_arrow(self, values: Weights) -> pa.Array:
        return weights(values)

    @staticmethod
    def named(semiring: Sensitivity, value: Weight) -> Iterable[Token]:
        return (token for token, _ in value.slopes)

    @staticmethod
    def carrier_of(token: pa.DataType) -> pa.DataType:
        slope = pa.struct([("token", token), ("slope", pa.float64())])
        return pa.struct([("value", pa.float64()), ("slopes", pa.list_(slope))])

    @staticmethod
    def tokens_of(column: pa.Array) -> pa.Array:
        _, slopes = column.flatten()
        return slopes.flatten().flatten()[0]

    def sent(self, values: Weights) -> pa.Array:
        tokens = self._transport.write(self._vocabulary, values.tokens)
        constants, slopes = (
            pa.array(floats, pa.float64()) for floats in (values.values, values.slopes)
        )
        pairs = pa.StructArray.from_arrays([tokens, slopes], ["token", "slope"])
        lists = lists_of(values.offsets, pairs)
        return pa.StructArray.from_arrays([constants, lists], ["value", "slopes"])

    def read(self, column: pa.Array, tokens: Array) -> Weights:
        values, lists = column.flatten()
        offsets, slopes = list_layout(lists)
        return Weights(
            self._vocabulary,
            values.to_numpy(zero_copy_only=False),
            tokens,
            slopes.flatten()[1].to_numpy(zero_copy_only=False),
            offsets,
        )
