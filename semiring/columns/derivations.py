"""Annotations of the free semirings as sums of monomials of token numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from semiring.arrays.exact import digits, from_digits
from semiring.arrays.segments import bounds, list_layout, lists_of
from semiring.base import Array
from semiring.columns.numbered import NumberedColumns
from semiring.encodings.derivations import Derivations, multiplied
from semiring.encodings.divisibility import contained, divided, minimal
from semiring.encodings.quotients import Quotient
from semiring.encodings.vocabulary import ABSENT
from semiring.token import Token


class DerivationColumns(NumberedColumns[Derivations]):
    """The operations of a quotient of N[X].

    Columns are in normal form: the monomials of a row are distinct and sorted, and reduced by the
    laws of the semiring.
    """

    _semiring: Quotient[Any]

    def repeat(self, counts: Array) -> Derivations:
        return self._normal(Derivations.of_constants(self._vocabulary, counts))

    def of_tokens(self, numbers: Array) -> Derivations:
        return Derivations.of_tokens(self._vocabulary, numbers)

    def of_values(self, values: list[Any]) -> Derivations:
        sums = [self._semiring.terms(value) for value in values]
        formulas = Derivations.of_terms(self._vocabulary, sums, self._numbered.numbers)
        return self._normal(formulas)

    def product(self, factors: Sequence[Derivations], length: int) -> Derivations:
        singles = [factor for factor in factors if factor.single]
        rest = [factor for factor in factors if not factor.single]
        parts = [self._single(singles), *rest] if singles else rest
        return reduce(self._times, parts) if parts else self.ones(length)

    def fold(self, values: Derivations, offsets: Array) -> Derivations:
        return self._normal(values.summed(offsets))

    def monus(self, a: Derivations, b: Derivations) -> Derivations:
        if not self._semiring.has_monus:
            self._semiring.monus(self._semiring.zero, self._semiring.zero)
        return a.kept(~(divided if self._semiring.absorptive else contained)(a, b))

    def delta(self, values: Derivations) -> Derivations:
        return self._semiring.delta_column(values)

    def to_arrow(self, values: Derivations) -> pa.Array:
        return self._semiring.write(values)

    @staticmethod
    def named(semiring: Quotient[Any], value: Any) -> Iterable[Token]:
        return semiring.tokens_in(value)

    @staticmethod
    def carrier_of(token: pa.DataType) -> pa.DataType:
        # Exponents, and coefficients as decimal digits, are NULL where they are 1.
        fields = [
            ("tokens", pa.list_(token)),
            ("exponents", pa.list_(pa.int64())),
            ("coefficient", pa.string()),
        ]
        return pa.list_(pa.struct(fields))

    @staticmethod
    def tokens_of(column: pa.Array) -> pa.Array:
        return column.flatten().flatten()[0].flatten()

    def sent(self, values: Derivations) -> pa.Array:
        present = values.tokens != ABSENT
        offsets = bounds(present.sum(axis=1))
        tokens = self._written(values.tokens[present])
        rows = len(values.tokens)
        exponents, coefficients = pa.nulls(rows, pa.list_(pa.int64())), pa.nulls(rows, pa.string())
        if values.exponents is not None:
            exponents = lists_of(offsets, pa.array(values.exponents[present]))
        if values.coefficients is not None:
            coefficients = digits(values.coefficients)
        parts = [lists_of(offsets, tokens), exponents, coefficients]
        names = ["tokens", "exponents", "coefficient"]
        return lists_of(values.offsets, pa.StructArray.from_arrays(parts, names))

    def _written(self, numbers: Array) -> pa.Array:
        """Return tokens in the form for another pass."""
        return self._transport.write(self._vocabulary, numbers)

    def read(self, column: pa.Array, tokens: Array) -> Derivations:
        offsets, rows = list_layout(column)
        lists, powers, coefficients = rows.flatten()
        within, _ = list_layout(lists)
        widths = np.diff(within)
        present = np.arange(widths.max(initial=0)) < widths[:, None]
        matrix = np.full(present.shape, ABSENT, dtype=np.int32)
        matrix[present] = tokens
        exponents = None
        if powers.null_count < len(powers):
            exponents = present.astype(np.int64)
            raised = powers.is_valid().to_numpy(zero_copy_only=False)
            exponents[present & raised[:, None]] = powers.flatten().to_numpy()
        numbers = None
        if coefficients.null_count < len(coefficients):
            numbers = from_digits(coefficients.fill_null("1"))
        return Derivations(self._vocabulary, matrix, exponents, numbers, offsets)

    def _single(self, factors: Sequence[Derivations]) -> Derivations:
        product = multiplied(factors)
        return product.flat() if self._semiring.flat else product

    def _times(self, a: Derivations, b: Derivations) -> Derivations:
        return self._normal(a.times(b))

    def _normal(self, values: Derivations) -> Derivations:
        """Return the monomials in the normal form of the semiring's elements."""
        if self._semiring.flat:
            values = values.flat()
        values = values.distinct()
        if self._semiring.idempotent:
            values = values.once()
        return minimal(values) if self._semiring.absorptive else values
