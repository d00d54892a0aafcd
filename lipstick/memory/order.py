"""ORDER BY as Spark does it: NULLs where asked, NaN largest, strings by their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.base import Array
from semiring.decimals import decimal_to_integers


@dataclass(frozen=True, slots=True)
class Key:
    """One sort key: its values, direction and place of NULLs."""

    values: pa.Array
    descending: bool = False
    nulls_first: bool = True


def order(keys: Sequence[Key], length: int) -> Array:
    """The stable order of `length` rows by some keys, the first one foremost, as int64."""
    columns: list[Array] = []
    for key in keys:
        ranks = ranked(key.values)
        if key.values.null_count:
            null = key.values.is_null().to_numpy(zero_copy_only=False)
            columns.append(~null if key.nulls_first else null)
            ranks = np.where(null, 0, ranks)
        columns.append(~ranks if key.descending else ranks)
    if not columns:
        return np.arange(length, dtype=np.int64)
    return np.lexsort(columns[::-1])


def ranked(column: pa.Array) -> Array:
    """int64 that order as the values do; arbitrary for NULLs."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_signed_integer(kind) or pa.types.is_date32(kind) or pa.types.is_timestamp(kind):
        width = pa.int64() if pa.types.is_timestamp(kind) else pa.int32()
        view = column if pa.types.is_signed_integer(kind) else column.view(width)
        integers: Array = view.fill_null(0).to_numpy(zero_copy_only=False)
        return integers.astype(np.int64)
    if pa.types.is_boolean(kind):
        truths: Array = column.fill_null(False).to_numpy(zero_copy_only=False)
        return truths.astype(np.int64)
    if pa.types.is_floating(kind):
        return _floats(column)
    if pa.types.is_decimal128(kind):
        values = decimal_to_integers(column)
        if values.dtype != np.dtype(object):
            return values
    encoded = column.dictionary_encode()
    by_value = pc.sort_indices(encoded.dictionary).to_numpy(zero_copy_only=False)
    rank = np.empty(len(by_value) + 1, dtype=np.int64)
    rank[by_value] = np.arange(len(by_value))
    rank[-1] = 0
    codes = encoded.indices.fill_null(len(by_value)).to_numpy(zero_copy_only=False)
    found: Array = rank[codes]
    return found


def _floats(column: pa.Array) -> Array:
    values = column.fill_null(0.0).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
    bits = np.where(np.isnan(values), np.nan, values).view(np.int64)
    # Negative floats order backwards by their bits.
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
