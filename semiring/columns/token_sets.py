"""Annotations for the which-provenance semiring, as sets of token numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from semiring.arrays.segments import list_layout, lists_of
from semiring.base import Array
from semiring.columns.numbered import NumberedColumns
from semiring.encodings.texts import token_sets
from semiring.encodings.token_sets import TokenSets
from semiring.semirings.which import Lineage, Which
from semiring.token import Token


class TokenSetColumns(NumberedColumns[TokenSets]):
    """The operations of which-provenance on sets of token numbers."""

    def repeat(self, counts: Array) -> TokenSets:
        return TokenSets.empty(self._vocabulary, counts > 0)

    def of_tokens(self, numbers: Array) -> TokenSets:
        return TokenSets.of_tokens(self._vocabulary, numbers)

    def of_values(self, values: list[Any]) -> TokenSets:
        return TokenSets.of_sets(self._vocabulary, values, self._numbered.numbers)

    def product(self, factors: Sequence[TokenSets], length: int) -> TokenSets:
        if not factors:
            return self.ones(length)
        return factors[0].times(*factors[1:])

    def monus(self, a: TokenSets, b: TokenSets) -> TokenSets:
        return a.minus(b)

    def delta(self, values: TokenSets) -> TokenSets:
        return values

    def to_arrow(self, values: TokenSets) -> pa.Array:
        return token_sets(values, self._semiring.render(None))

    @staticmethod
    def named(semiring: Which, value: Lineage) -> Iterable[Token]:
        return value or ()

    @staticmethod
    def carrier_of(token: pa.DataType) -> pa.DataType:
        return pa.struct([("tokens", pa.list_(token))])  # NULL for ⊥

    @staticmethod
    def tokens_of(column: pa.Array) -> pa.Array:
        return column.flatten()[0].flatten()

    def sent(self, values: TokenSets) -> pa.Array:
        tokens = self._transport.write(self._vocabulary, values.tokens)
        lists = lists_of(values.offsets, tokens, ~values.present)
        return pa.StructArray.from_arrays([lists], ["tokens"])

    def read(self, column: pa.Array, tokens: Array) -> TokenSets:
        [lists] = column.flatten()
        offsets, _ = list_layout(lists)
        present = lists.is_valid().to_numpy(zero_copy_only=False)
        return TokenSets(self._vocabulary, tokens, offsets, present)
