"""Exact integer arithmetic on numpy arrays: int64 where it provably fits, Python integers beyond.

An *integer array* here is an ndarray of dtype int64, or of dtype object with Python ints when some
element does not fit int64. Sums are taken in limbs, so that no Python object is made per member.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from semiring.base import Array

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
_LOW = 0xFFFFFFFF


def shrink(values: Array) -> Array:
    """Return an integer array in its smallest form: int64 if every element fits."""
    if values.dtype != np.dtype(object):
        return values.astype(np.int64, copy=False)
    if values.size == 0 or (values.min() >= INT64_MIN and values.max() <= INT64_MAX):
        return values.astype(np.int64)
    return values


def integer_array(values: list[int]) -> Array:
    """Return Python integers as an integer array."""
    if not values or (min(values) >= INT64_MIN and max(values) <= INT64_MAX):
        return np.array(values, dtype=np.int64)
    packed: Array = np.empty(len(values), dtype=object)
    packed[:] = values
    return packed


def digits(values: Array) -> pa.Array:
    """Return an integer array as texts."""
    if values.dtype == np.dtype(object):
        return pa.array(map(str, values), pa.string())
    return pa.array(values).cast(pa.string())


def from_digits(texts: pa.Array) -> Array:
    """Return the integer array of some decimal texts, none of them NULL."""
    try:
        integers: Array = texts.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return integer_array([int(text) for text in texts.to_pylist()])
    return integers


def magnitude(values: Array) -> int:
    """Return the largest absolute value; 0 for an empty array."""
    if values.size == 0:
        return 0
    return max(abs(int(values.max())), abs(int(values.min())))


def _as_objects(values: Array) -> Array:
    return values if values.dtype == np.dtype(object) else values.astype(object)


def _both_int64(a: Array, b: Array) -> bool:
    return a.dtype != np.dtype(object) and b.dtype != np.dtype(object)


def add(a: Array, b: Array) -> Array:
    """Return the elementwise sum of integer arrays."""
    if _both_int64(a, b) and magnitude(a) + magnitude(b) <= INT64_MAX:
        total: Array = a + b
        return total
    return shrink(_as_objects(a) + _as_objects(b))


def subtract(a: Array, b: Array) -> Array:
    """Return the elementwise difference of integer arrays."""
    if _both_int64(a, b) and magnitude(a) + magnitude(b) <= INT64_MAX:
        difference: Array = a - b
        return difference
    return shrink(_as_objects(a) - _as_objects(b))


def multiply(a: Array, b: Array) -> Array:
    """Return the elementwise product of integer arrays."""
    if _both_int64(a, b) and magnitude(a) * magnitude(b) <= INT64_MAX:
        product: Array = a * b
        return product
    return shrink(_as_objects(a) * _as_objects(b))


def reduce_segments(ufunc: np.ufunc, values: Array, offsets: Array, empty: Any) -> Array:
    """Reduce every CSR segment by ``ufunc``; empty segments give `empty`.

    Plain ``reduceat`` gives an empty segment the value of its successor and fails at the end. Here
    only the starts of non-empty segments are reduced: each ends where the next begins. Floats
    overflow to infinity, as Spark's do, without a warning.
    """
    starts, stops = offsets[:-1], offsets[1:]
    filled = stops > starts
    used = values[int(offsets[0]) : int(offsets[-1])] if len(offsets) else values[:0]
    base = offsets[0] if len(offsets) else 0
    if filled.all():
        if len(starts) == 0:
            return values[:0].copy()
        return _reduceat(ufunc, used, starts - base)
    result: Array = np.empty((len(starts), *values.shape[1:]), dtype=values.dtype)
    result[:] = empty
    if filled.any():
        result[filled] = _reduceat(ufunc, used, (starts - base)[filled])
    return result


def _reduceat(ufunc: np.ufunc, values: Array, starts: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        reduced: Array = ufunc.reduceat(values, starts)
    return reduced


def sum_segments(values: Array, offsets: Array) -> Array:
    """Return exact sums of the CSR segments of an integer array; 0 for empty segments.

    Cost: one pass where no segment can overflow, else three.
    """
    if values.dtype == np.dtype(object):
        return shrink(reduce_segments(np.add, values, offsets, 0))
    longest = int(np.diff(offsets).max()) if len(offsets) > 1 else 0
    if magnitude(values) * longest <= INT64_MAX:
        return reduce_segments(np.add, values, offsets, 0)
    high = reduce_segments(np.add, values >> 32, offsets, 0)
    low = reduce_segments(np.add, values & _LOW, offsets, 0)
    carried = high + (low >> 32)
    if carried.size == 0 or (carried.min() >= -(2**31) and carried.max() < 2**31):
        total: Array = (carried << 32) | (low & _LOW)
        return total
    return shrink(high.astype(object) * 2**32 + low.astype(object))
