"""Aggregates without a tensor, computed from the values of all members that a group has left.

Groups are CSR segments. Values are compared as Spark sorts them: NULLs first, NaN largest.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.engines.memory.keys import distinct
from lipstick.engines.memory.order import Key, order
from rewriter.interpret import Anew, UninterpretableError
from semiring.arrays.aggregates import aggregate
from semiring.arrays.decimals import decimal_to_integers
from semiring.arrays.exact import magnitude
from semiring.arrays.ranks import ranked
from semiring.arrays.segments import bounds, lists_of, owners_of
from semiring.base import Array

_EXACT_INTEGER, _EXACT_POWER = 2**53, 22
"""Up to these, integers and powers of ten are doubles: the quotient of two is rounded once."""
_SPREADS = {"stddev_samp", "stddev_pop", "var_samp", "var_pop"}
_BITS = {"bit_and": np.bitwise_and, "bit_or": np.bitwise_or, "bit_xor": np.bitwise_xor}


def computed_anew(call: Anew, columns: list[pa.Array], offsets: Array) -> pa.Array:
    """An aggregate over segments of its arguments' values.

    Raises
    ------
    UninterpretableError
        For a type whose aggregate only Spark knows.
    """
    values = columns[0]
    if call.name in ("collect_list", "collect_set"):
        return _collected(call, columns, offsets)
    owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    if call.name in ("max_by", "min_by"):
        return values.take(_extremes(call, columns[1:], owners, len(offsets) - 1))
    if call.name == "mode":
        return values.take(_modes(call, values, owners, len(offsets) - 1))
    if call.name == "percentile":
        return _percentiles(call, values, owners, len(offsets) - 1)
    if call.name in _SPREADS:
        return _spreads(call, values, owners, len(offsets) - 1)
    if call.name in _BITS:
        return _bits(call, values, owners, len(offsets) - 1)
    ones = np.ones(len(values), dtype=np.int64)
    if call.name == "count_if":
        held = pc.if_else(values.fill_null(False), pa.scalar(1), pa.scalar(None, pa.int64()))
        return aggregate("COUNT", ones, held, offsets)
    return aggregate("MAX" if call.name == "bool_or" else "MIN", ones, values, offsets)


def _collected(call: Anew, columns: list[pa.Array], offsets: Array) -> pa.Array:
    """The values of every group that are not NULL, as an array; of a set each once."""
    values, *keys = columns
    owners = owners_of(offsets)
    rows = np.arange(len(values), dtype=np.int64)
    if keys:
        pairs = zip(keys, call.order, strict=True)
        sorted_by = [Key(pa.array(owners)), *(Key(key, *flags) for key, flags in pairs)]
        rows = order(sorted_by, len(values))
    rows = rows[values.is_valid().to_numpy(zero_copy_only=False)[rows]]
    if call.name == "collect_set":
        rows = rows[_first_alike(values.take(pa.array(rows)), owners[rows])]
    sizes = np.bincount(owners[rows], minlength=len(offsets) - 1)
    return lists_of(bounds(sizes), values.take(pa.array(rows)))


def _first_alike(values: pa.Array, owners: Array) -> Array:
    """The places, ascending, of the first of equal values of each owner."""
    if pa.types.is_nested(values.type) or pa.types.is_floating(values.type):
        raise UninterpretableError(f"which values of {values.type} are equal")
    _, first = np.unique(np.stack([owners, ranked(values)]), axis=1, return_index=True)
    return np.sort(first)


def _bits(call: Anew, values: pa.Array, owners: Array, groups: int) -> pa.Array:
    """The bits of every group's values that are not NULL, taken together; NULL: none."""
    if not pa.types.is_signed_integer(values.type):
        raise UninterpretableError(f"bits of {values.type}")
    rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    known = values.take(pa.array(rows)).to_numpy(zero_copy_only=False)
    there, starts = np.unique(owners[rows], return_index=True)
    bits = np.zeros(groups, dtype=known.dtype)
    mask = np.ones(groups, dtype=np.bool_)
    mask[there] = False
    if len(rows):
        bits[there] = _BITS[call.name].reduceat(known, starts)
    return pa.array(bits, values.type, mask=mask)


def _extremes(call: Anew, compared: list[pa.Array], owners: Array, groups: int) -> pa.Array:
    """The row of every group whose compared values are the greatest or least; NULL: none."""
    rows = np.arange(len(owners), dtype=np.int64)
    if not call.of_all:
        rows = rows[compared[0].is_valid().to_numpy(zero_copy_only=False)]
    largest = call.name == "max_by"
    keys = [Key(column.take(pa.array(rows)), largest, not largest) for column in compared]
    return _first_of_each(rows, [Key(pa.array(owners[rows])), *keys], owners, groups)


def _modes(call: Anew, values: pa.Array, owners: Array, groups: int) -> pa.Array:
    """A row of every group with its most frequent value, of several the first in their order."""
    if pa.types.is_floating(values.type):
        raise UninterpretableError("the mode of floating point numbers")
    rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    known = values.take(pa.array(rows))
    codes, first = distinct([pa.array(owners[rows]), known], len(rows))
    counts = np.bincount(codes, minlength=len(first))
    keys = [
        Key(pa.array(owners[rows[first]])),
        Key(pa.array(counts), descending=True),
        Key(known.take(pa.array(first)), call.descending),
    ]
    return _first_of_each(rows[first], keys, owners, groups)


def _first_of_each(rows: Array, keys: list[Key], owners: Array, groups: int) -> pa.Array:
    """The first of some rows of every group, in an order by group, then by other keys."""
    ordered = rows[order(keys, len(rows))]
    hit, at = np.unique(owners[ordered], return_index=True)
    firsts = np.full(groups, -1, dtype=np.int64)
    firsts[hit] = ordered[at]
    return pa.array(firsts, mask=firsts < 0)


def _percentiles(call: Anew, values: pa.Array, owners: Array, groups: int) -> pa.Array:
    """The percentile of every group, between two values in proportion."""
    rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    known = values.take(pa.array(rows))
    keys = [Key(pa.array(owners[rows])), Key(known, call.descending)]
    numbers = _doubles(known)[order(keys, len(rows))]
    sizes = np.bincount(owners[rows], minlength=groups)
    starts = np.cumsum(sizes) - sizes
    there = sizes > 0
    position = (sizes[there] - 1) * call.share
    lower, higher = np.floor(position), np.ceil(position)
    low = numbers[starts[there] + lower.astype(np.int64)]
    high = numbers[starts[there] + higher.astype(np.int64)]
    with np.errstate(invalid="ignore"):
        between = (higher - position) * low + (position - lower) * high
    percentiles = np.zeros(groups)
    percentiles[there] = np.where((lower == higher) | (low == high), low, between)
    return pa.array(percentiles, mask=~there)


def _spreads(call: Anew, values: pa.Array, owners: Array, groups: int) -> pa.Array:
    """Variances and standard deviations: NULL of no value, and of a sample of one.

    By deviations from the mean, whose last bits depend on the order that Spark adds up in.
    """
    rows = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
    known_owners, numbers = owners[rows], _doubles(values.take(pa.array(rows)))
    sizes = np.bincount(known_owners, minlength=groups)
    with np.errstate(invalid="ignore"):
        means = np.bincount(known_owners, numbers, groups) / np.maximum(sizes, 1)
        squares = np.bincount(known_owners, (numbers - means[known_owners]) ** 2, groups)
    degrees = sizes - (1 if call.name.endswith("samp") else 0)
    spreads = squares / np.maximum(degrees, 1)
    if call.name.startswith("stddev"):
        spreads = np.sqrt(spreads)
    return pa.array(spreads, mask=degrees < 1)


def _doubles(values: pa.Array) -> Array:
    """Numbers as the doubles next to them.

    Raises
    ------
    UninterpretableError
        For other types, and for decimals that no one division of doubles gives.
    """
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        numbers: Array = values.to_numpy(zero_copy_only=False).astype(np.float64)
        return numbers
    if not pa.types.is_decimal128(values.type):
        raise UninterpretableError(f"a quotient of {values.type}")
    unscaled, scale = decimal_to_integers(values), values.type.scale
    if magnitude(unscaled) > _EXACT_INTEGER or not 0 <= scale <= _EXACT_POWER:
        raise UninterpretableError(f"a quotient of large {values.type}")
    quotients: Array = unscaled.astype(np.float64) / 10.0**scale
    return quotients
