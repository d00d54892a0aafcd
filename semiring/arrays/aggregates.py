"""Aggregates by group, vectorised: SUM, COUNT, AVG, MIN and MAX with members excluded or repeated.

Groups are CSR segments: int64 `offsets`, one more than there are groups. Integers and decimals are
exact. NULL is Spark's: of no non-NULL member, COUNT is 0 and every other aggregate NULL.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from semiring.arrays.decimals import decimal_to_integers, integers_to_decimal, sum_decimal_segments
from semiring.arrays.exact import (
    INT64_MAX,
    INT64_MIN,
    multiply,
    reduce_segments,
    shrink,
    subtract,
    sum_segments,
)
from semiring.arrays.ranks import ranked
from semiring.arrays.segments import owners_of
from semiring.base import Array
from semiring.errors import AnnotationError, ExactnessError


def counts_excluding(excluded: Array, offsets: Array) -> Array:
    """Return the number of members of every group that are not excluded, as int64.

    Parameters
    ----------
    excluded
        Boolean array over the members: deleted, or NULL in the aggregated column.
    """
    return reduce_segments(np.add, (~excluded).astype(np.int64), offsets, 0)


def extremes_excluding(
    values: Array, excluded: Array, offsets: Array, largest: bool
) -> tuple[Array, Array]:
    """Return MIN or MAX by group without excluded members, and the groups that have any member.

    Parameters
    ----------
    values
        int64, float64 (NaN is the largest value, as in Spark) or bool.
    """
    present = counts_excluding(excluded, offsets) > 0
    if values.dtype.kind == "f":
        # fmin passes over NaN, maximum keeps it: both as if NaN were the largest.
        neutral: Any = -np.inf if largest else np.nan
        ufunc: np.ufunc = np.maximum if largest else np.fmin
    else:
        values = values.astype(np.int64, copy=False)
        neutral = INT64_MIN if largest else INT64_MAX
        ufunc = np.maximum if largest else np.minimum
    kept = np.where(excluded, neutral, values)
    return reduce_segments(ufunc, kept, offsets, neutral), present


def subtract_members(totals: Array, groups: Array, values: Array) -> Array:
    """Return exact totals by group, less the values of deleted members.

    Parameters
    ----------
    totals
        Integer array, one per group.
    groups, values
        The group's position and the value of every deleted member; integer arrays. Several times
        faster if the groups are sorted.
    """
    if len(groups) > 1 and not bool((groups[1:] >= groups[:-1]).all()):
        order = np.argsort(groups, kind="stable")
        groups, values = groups[order], values[order]
    starts = np.flatnonzero(groups[1:] != groups[:-1]) + 1
    offsets = np.concatenate([[0], starts, [len(groups)]]) if len(groups) else np.zeros(1, np.int64)
    hit = groups[offsets[:-1]]
    removed: Array = np.zeros(len(totals), dtype=np.int64)
    sums = sum_segments(values, offsets)
    if sums.dtype == np.dtype(object):
        removed = removed.astype(object)
    removed[hit] = sums
    return subtract(totals, removed)


def aggregate(
    name: str, multiplicities: Array, values: pa.Array | None, offsets: Array
) -> pa.Array:
    """Return an aggregate by group, each member counted as often as its multiplicity.

    Parameters
    ----------
    name
        SUM, COUNT, MIN, MAX or AVG.
    multiplicities
        Integer array over the members; for MIN and MAX only whether it is 0 matters.
    values
        The aggregated column; None for ``count(*)``.

    Returns
    -------
    pa.Array
        One value per group, of Spark's result type: bigint for COUNT and integer SUM, double for
        floating SUM and AVG of non-decimals, decimal(p+10, s) and decimal(p+4, s+4), bounded by
        38 digits, for SUM and AVG of decimal(p, s), the column's type for MIN and MAX, and for SUM
        of durations.

    Raises
    ------
    ExactnessError
        A result that does not fit its type.
    AnnotationError
        A column that cannot be aggregated in this way.
    """
    present = np.not_equal(multiplicities, 0).astype(np.bool_)
    if values is not None and values.null_count:
        present &= values.is_valid().to_numpy(zero_copy_only=False)
    counted = np.where(present, multiplicities, 0)
    if name == "COUNT":
        return _bigint(sum_segments(counted, offsets), None)
    if values is None:
        raise AnnotationError(f"{name} needs a column of values")
    if name in ("MIN", "MAX"):
        return _extreme(values, ~present, offsets, name == "MAX")
    counts = sum_segments(counted, offsets)
    kind = values.type
    if pa.types.is_duration(kind) and name == "SUM":
        return aggregate(name, multiplicities, values.view(pa.int64()), offsets).cast(kind)
    if pa.types.is_decimal(kind):
        totals = _decimal_totals(values, counted, present, offsets)
    elif pa.types.is_floating(kind):
        numbers = np.where(present, values.to_numpy(zero_copy_only=False), 0.0).astype(np.float64)
        totals = reduce_segments(np.add, numbers * counted.astype(np.float64), offsets, 0.0)
    elif pa.types.is_integer(kind):
        totals = sum_segments(multiply(_integers(values), counted), offsets)
    else:
        raise AnnotationError(f"{name} of a column of type {kind} is not supported outside Spark")
    return _of_totals(name, kind, totals, counts)


def aggregate_ranges(name: str, values: pa.Array, start: Array, stop: Array) -> pa.Array | None:
    """Return an aggregate over ranges of a column, as `aggregate` does over segments.

    None unless it is the difference of two exact sums.

    Cost: linear, however long the ranges are.
    """
    kind = values.type
    exact = pa.types.is_decimal(kind) or pa.types.is_integer(kind)
    if name not in ("COUNT", "SUM", "AVG") or not (exact or name == "COUNT"):
        return None
    counts = _of_ranges(values.is_valid().to_numpy(zero_copy_only=False), start, stop)
    if name == "COUNT":
        return _bigint(counts, None)
    numbers = decimal_to_integers(values) if pa.types.is_decimal(kind) else _integers(values)
    return _of_totals(name, kind, _of_ranges(numbers, start, stop), counts)


def _of_ranges(numbers: Array, start: Array, stop: Array) -> Array:
    """Return exact sums over ranges."""
    wide = numbers.dtype == np.dtype(object) or np.abs(numbers.astype(np.float64)).sum() >= 2**62
    before = np.zeros(len(numbers) + 1, dtype=object if wide else np.int64)
    np.cumsum(numbers.astype(before.dtype), out=before[1:])
    return shrink(before[stop] - before[start])


def _of_totals(name: str, kind: pa.DataType, totals: Array, counts: Array) -> pa.Array:
    """Return SUM or AVG of a typed column, from the sums and numbers of its values."""
    null = np.equal(counts, 0).astype(np.bool_)
    if pa.types.is_decimal(kind):
        if name == "SUM":
            return integers_to_decimal(totals, min(kind.precision + 10, 38), kind.scale, null)
        return _decimal_average(totals, counts, null, kind)
    if name == "SUM" and pa.types.is_integer(kind):
        return _bigint(totals, null)
    return _double(totals if name == "SUM" else _divide(totals, counts), null)


def _integers(values: pa.Array) -> Array:
    """Return a column of integers as int64, NULL as 0."""
    integers: Array = values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return integers


def distinct_members(
    multiplicities: Array, values: pa.Array, offsets: Array
) -> tuple[Array, pa.Array, Array]:
    """Return the members of ``agg(DISTINCT x)``: each value of a group once.

    A value has multiplicity 1 if any member with it is present, else 0.
    """
    numbers, dictionary = _numbered(values)
    width = max(len(dictionary), 1)
    groups = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    codes = groups * width + numbers
    distinct, inverse = np.unique(codes, return_inverse=True)
    alive = np.zeros(len(distinct), dtype=np.int64)
    alive[inverse[np.not_equal(multiplicities, 0).astype(np.bool_)]] = 1
    counts = np.bincount(distinct // width, minlength=len(offsets) - 1)
    return (
        alive,
        dictionary.take(pa.array(distinct % width)),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    )


def _numbered(values: pa.Array) -> tuple[Array, pa.Array]:
    """Return a number for each value, including NULL, and the values by number."""
    if not pa.types.is_nested(values.type):
        encoded = values.dictionary_encode(null_encoding="encode")
        return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary
    null = values.is_null().to_numpy(zero_copy_only=False)
    keys = np.stack([null.astype(np.int64), np.where(null, 0, ranked(values))])
    _, first, numbers = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    return numbers.reshape(-1), values.take(pa.array(first))


def _bigint(values: Array, null: Array | None) -> pa.Array:
    if values.dtype == np.dtype(object):
        kept = values if null is None else np.where(null, 0, values)
        raise ExactnessError(
            f"an aggregated value of magnitude {max(abs(item) for item in kept)} does not fit"
            " bigint"
        )
    return pa.array(values, pa.int64(), mask=null)


def _double(values: Array, null: Array) -> pa.Array:
    return pa.array(values.astype(np.float64), pa.float64(), mask=null)


def _divide(totals: Array, counts: Array) -> Array:
    divisor = np.where(np.equal(counts, 0), 1, counts)
    if totals.dtype == np.dtype(object) or divisor.dtype == np.dtype(object):
        pairs = zip(totals.tolist(), divisor.tolist(), strict=True)
        return np.array([total / count for total, count in pairs], dtype=np.float64)
    result: Array = totals / divisor
    return result


def _decimal_totals(values: pa.Array, counted: Array, present: Array, offsets: Array) -> Array:
    single = len(counted) == 0 or int(counted.max()) <= 1
    if single and values.type.precision > 18:
        return sum_decimal_segments(values, present, offsets)
    return sum_segments(multiply(decimal_to_integers(values), counted), offsets)


def _decimal_average(totals: Array, counts: Array, null: Array, kind: pa.DataType) -> pa.Array:
    precision, scale = min(kind.precision + 4, 38), min(kind.scale + 4, 38)
    factor = np.full(len(totals), 10 ** (scale - kind.scale), dtype=np.int64)
    numerator = multiply(totals, factor)
    divisor = np.where(null, 1, counts)
    sign = np.where(np.less(numerator, 0), -1, 1)
    # Half up, away from zero: floor((2n + d) / 2d) of the absolute value.
    twice = multiply(np.abs(numerator), np.full(len(totals), 2, dtype=np.int64))
    rounded = (twice.astype(object) + divisor) // (2 * divisor.astype(object))
    return integers_to_decimal(rounded * sign, precision, scale, null)


def _extreme(values: pa.Array, excluded: Array, offsets: Array, largest: bool) -> pa.Array:
    kind = values.type
    if pa.types.is_floating(kind):
        numbers = values.to_numpy(zero_copy_only=False)
        extremes, present = extremes_excluding(numbers, excluded, offsets, largest)
        return pa.array(extremes.astype(numbers.dtype), kind, mask=~present)
    width = _integer_view(kind)
    if width is not None:
        integers = values.view(width).fill_null(0).to_numpy(zero_copy_only=False)
        extremes, present = extremes_excluding(integers, excluded, offsets, largest)
        return pa.array(np.where(present, extremes, 0), width, mask=~present).view(kind)
    # Any ordered type: the first member of the rank found.
    ranks, owners = ranked(values), owners_of(offsets)
    extremes, present = extremes_excluding(ranks, excluded, offsets, largest)
    places = np.flatnonzero(~excluded & (ranks == extremes[owners]))
    first = places[np.flatnonzero(np.diff(owners[places], prepend=-1))]
    chosen = np.zeros(len(present), dtype=np.int64)
    chosen[owners[first]] = first
    return values.take(pa.array(chosen, mask=~present))


def _integer_view(kind: pa.DataType) -> pa.DataType | None:
    """Return the signed integer type whose order is that of the stored values, or None."""
    if pa.types.is_signed_integer(kind):
        return kind
    if pa.types.is_date32(kind):
        return pa.int32()
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return pa.int64()
    return None
