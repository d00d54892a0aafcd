"""Annotations of the formula semiring: sums of monomials, with texts for δ and ⊖ as factors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.arrays.segments import mask_of
from semiring.base import Array
from semiring.columns.derivations import DerivationColumns
from semiring.columns.token_sources import ValuedScan
from semiring.columns.transport import Transport
from semiring.encodings.derivations import Derivations, coefficients_of, multiplied
from semiring.encodings.texts import sums
from semiring.encodings.vocabulary import ABSENT, Vocabulary, glue
from semiring.semirings.formula import Formula
from semiring.support.render import PRINTED_TERMS

_TEXT = pa.large_string()
_DELTA = "δ("


class Factors(Vocabulary):
    """Tokens by number, followed by formulas that act as one factor: δ of one, ⊖ of two.

    A formula is identified by its whole text, and shown as a shorter one, with at most
    `PRINTED_TERMS` terms of every sum.

    Parameters
    ----------
    tokens
        The tokens by number.
    """

    def __init__(self, tokens: Vocabulary) -> None:
        super().__init__(tokens.parts)
        self._tokens = tokens
        self.whole = pa.array([], _TEXT)
        self._shown = pa.array([], _TEXT)

    @property
    def first(self) -> int:
        """The number of the first formula."""
        return len(self._tokens)

    def __len__(self) -> int:
        return self.first + len(self.whole)

    def numbered(self, whole: pa.Array, shown: pa.Array) -> Array:
        """Return the numbers of formulas, adding new ones."""
        encoded = pa.concat_arrays([self.whole, whole]).dictionary_encode()
        codes = encoded.indices.to_numpy()
        _, places = np.unique(codes, return_index=True)
        self._shown = pa.concat_arrays([self._shown, shown]).take(pa.array(places))
        known, self.whole = len(self.whole), encoded.dictionary
        numbers: Array = (codes[known:] + self.first).astype(np.int32)
        return numbers

    def formulas(self, numbers: Array) -> tuple[pa.Array, pa.Array]:
        """Return the texts of formulas, whole and shown; NULL for tokens."""
        places = pa.array(numbers - self.first, mask=numbers < self.first)
        return self.whole.take(places), self._shown.take(places)

    def in_order(self, *, whole: bool) -> tuple[Array, Vocabulary]:
        """Return each number's position in the order of formulas' texts, and the texts."""
        order = pc.sort_indices(self.whole)
        places = np.arange(len(self), dtype=np.int32)
        places[self.first + order.to_numpy()] = self.first + np.arange(len(order))
        formulas = (self.whole if whole else self._shown).take(order)
        return places, _Texts(pa.concat_arrays([self._tokens.texts, formulas]))


class _Texts(Vocabulary):
    """Texts by number."""

    def __init__(self, texts: pa.Array) -> None:
        super().__init__(())
        self._texts = texts


class FormulaColumns(DerivationColumns):
    """The operations of the formula semiring."""

    _semiring: Any
    _vocabulary: Factors

    def __init__(
        self,
        semiring: Formula,
        sources: Mapping[Hashable, ValuedScan],
        travelled: Mapping[Hashable, pa.Array] | None = None,
        shared: Transport | None = None,
    ) -> None:
        super().__init__(semiring, sources, travelled, shared)
        self._vocabulary = Factors(self._numbered.vocabulary)

    def delta(self, values: Derivations) -> Derivations:
        """δ(n) = 1 for n ≥ 1, δ(0) = 0 and δ(δ(x)) = δ(x)."""
        constant = _constant(values)
        places = np.flatnonzero(constant)
        ones = self.repeat(np.minimum(np.diff(values.offsets)[places], 1))
        deltas = self.put(values, len(values), places, ones)
        rest = np.flatnonzero(~constant & ~self._is_delta(values))
        texts = (glue("", _DELTA, text, ")") for text in self._texts(values.take(rest)))
        return self.put(deltas, len(values), rest, self._formulas(*texts))

    def monus(self, a: Derivations, b: Derivations) -> Derivations:
        """x ⊖ 0 = x, 0 ⊖ x = 0, x ⊖ x = 0, and m ⊖ n = 0 for m ≤ n."""
        places = np.flatnonzero((np.diff(a.offsets) > 0) & (np.diff(b.offsets) > 0))
        left, right = a.take(places), b.take(places)
        pairs = [*zip(self._texts(left), self._texts(right), strict=True)]
        gone = np.array(pc.equal(*pairs[0]), dtype=np.bool_)
        numbers = np.flatnonzero(_constant(left) & _constant(right))
        m, n = (coefficients_of(side)[side.offsets[numbers]] for side in (left, right))
        gone[numbers] |= (m <= n).astype(np.bool_)
        differences = self.put(a, len(a), places, self.zeros(len(places)))
        texts = (
            glue("", "(", _operand(left_text, left), " ⊖ ", _operand(its, right), ")")
            for left_text, its in pairs
        )
        left_over = self._formulas(*(text.filter(pa.array(~gone)) for text in texts))
        return self.put(differences, len(a), places[~gone], left_over)

    def to_arrow(self, values: Derivations) -> pa.Array:
        return self._texts(values)[1].cast(pa.string())

    @staticmethod
    def carrier_of(token: pa.DataType) -> pa.DataType:
        # Of a factor that is a token the texts are NULL.
        factor = pa.struct([("token", token), ("whole", pa.string()), ("shown", pa.string())])
        return DerivationColumns.carrier_of(factor)

    @staticmethod
    def tokens_of(column: pa.Array) -> pa.Array:
        return DerivationColumns.tokens_of(column).flatten()[0]

    def _written(self, numbers: Array) -> pa.Array:
        texts = (text.cast(pa.string()) for text in self._vocabulary.formulas(numbers))
        parts = [super()._written(numbers), *texts]
        return pa.StructArray.from_arrays(parts, ["token", "whole", "shown"])

    def read(self, column: pa.Array, tokens: Array) -> Derivations:
        _, *texts = DerivationColumns.tokens_of(column).flatten()
        there = texts[0].is_valid()
        numbers = tokens.astype(np.int32)
        numbers[np.flatnonzero(there)] = self._vocabulary.numbered(
            *(text.filter(there).cast(_TEXT) for text in texts)
        )
        # Formulas are numbered differently here, and the order of factors differs, too.
        return self._normal(multiplied((super().read(column, numbers),)))

    def _formulas(self, whole: pa.Array, shown: pa.Array) -> Derivations:
        return self.of_tokens(self._vocabulary.numbered(whole, shown))

    def _texts(self, values: Derivations) -> tuple[pa.Array, pa.Array]:
        """Return the texts of formulas, whole and shown."""
        both = []
        for whole, limit in ((True, None), (False, PRINTED_TERMS)):
            places, texts = self._vocabulary.in_order(whole=whole)
            tokens = np.append(places, np.int32(ABSENT))[values.tokens]
            ordered = multiplied((replace(values, vocabulary=texts, tokens=tokens),)).distinct()
            both.append(sums(ordered, limit))
        return both[0], both[1]

    def _is_delta(self, values: Derivations) -> Array:
        """Return a Boolean array of the formulas that are δ of a formula."""
        deltas: Array = (np.diff(values.offsets) == 1) & (values.tokens.shape[1] > 0)
        rows = values.rows(values.offsets[:-1][deltas])
        numbers = rows.tokens[:, 0] if deltas.any() else np.empty(0, dtype=np.int32)
        whole, _ = self._vocabulary.formulas(numbers)
        delta = pc.fill_null(pc.starts_with(whole, _DELTA), False)
        alone = (rows.degrees == 1) & (coefficients_of(rows) == 1)
        deltas[deltas] = np.array(delta, dtype=np.bool_) & alone.astype(np.bool_)
        return deltas


def _constant(values: Derivations) -> Array:
    """Return a Boolean array of the elements without factors."""
    variable = np.flatnonzero(values.degrees)
    constant: Array = ~mask_of(values.owners[variable], len(values))
    return constant


def _operand(texts: pa.Array, values: Derivations) -> pa.Array:
    """Return the texts of operands of ⊖, with sums in brackets."""
    several = pa.array(np.diff(values.offsets) > 1)
    return pc.if_else(several, glue("", "(", texts, ")"), texts)
