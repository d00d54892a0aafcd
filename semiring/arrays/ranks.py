"""The order of values as in Spark: NaN largest, texts by bytes, nested values part by part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.arrays.arrow import decoded
from semiring.arrays.decimals import decimal_to_integers
from semiring.arrays.segments import list_layout, owners_of
from semiring.base import Array


def ranked(column: pa.Array) -> Array:
    """Return int64 numbers ordered as the values; arbitrary for NULLs."""
    column = decoded(column)
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
    if pa.types.is_struct(kind):
        return _dense([key for field in column.flatten() for key in _with_nulls(field)], column)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _dense(_lists(column), column)
    encoded = column.dictionary_encode()
    by_value = pc.sort_indices(encoded.dictionary).to_numpy(zero_copy_only=False)
    rank = np.empty(len(by_value) + 1, dtype=np.int64)
    rank[by_value] = np.arange(len(by_value))
    rank[-1] = 0
    codes = encoded.indices.fill_null(len(by_value)).to_numpy(zero_copy_only=False)
    rank_of: Array = rank[codes]
    return rank_of


def _floats(column: pa.Array) -> Array:
    values = column.fill_null(0.0).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
    bits = np.where(np.isnan(values), np.nan, values).view(np.int64)
    # Negative floats order backwards by their bits.
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)


def _with_nulls(column: pa.Array) -> tuple[Array, Array]:
    """Return the sort keys of a part of nested values, with NULL as the least."""
    there = column.is_valid().to_numpy(zero_copy_only=False)
    return there, np.where(there, ranked(column), 0)


def _lists(column: pa.Array) -> Sequence[Array]:
    """Return the sort keys of arrays: element by element, the end of an array first."""
    offsets, members = list_layout(column)
    there, ranks = _with_nulls(members)
    owners, width = owners_of(offsets), int(np.diff(offsets).max(initial=0))
    places = np.arange(len(members)) - offsets[owners]
    keys = np.full((2 * width, len(column)), -1, dtype=np.int64)
    keys[2 * places, owners], keys[2 * places + 1, owners] = there, ranks
    return [*keys]


def _dense(keys: Sequence[Array], column: pa.Array) -> Array:
    """Return the ranks of rows by several keys, the first most significant."""
    if not keys:
        return np.zeros(len(column), dtype=np.int64)
    return dense_ranks(keys)


def dense_ranks(keys: Sequence[Array]) -> Array:
    """Return consecutive ranks of rows by one or more keys, the first most significant."""
    order = np.lexsort(keys[::-1])
    differs = np.zeros(len(order), dtype=np.int64)
    for key in keys:
        differs[1:] |= key[order][1:] != key[order][:-1]
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.cumsum(differs)
    return ranks
