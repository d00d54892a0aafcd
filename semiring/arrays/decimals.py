"""Arrow decimal128 arrays as integer arrays of unscaled values, and back, through the buffers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from semiring.arrays.exact import integer_array, magnitude, reduce_segments, shrink
from semiring.base import Array
from semiring.errors import AnnotationError, ExactnessError

_MASK64 = 2**64 - 1
_MASK32 = np.uint64(0xFFFFFFFF)


def limbs(array: pa.Array) -> tuple[Array, Array]:
    """Return the unscaled values of a decimal128 array as (low, high) uint64 and int64 limbs.

    NULLs read as 0. Raises AnnotationError if the array is not decimal128.
    """
    if not pa.types.is_decimal128(array.type):
        raise AnnotationError(f"expected a decimal128 array, not {array.type}")
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        empty = np.zeros(len(array), dtype=np.uint64)
        return empty, empty.astype(np.int64)
    words = np.frombuffer(buffer, dtype="<u8", count=2 * (array.offset + len(array)))
    words = words[2 * array.offset :].reshape(-1, 2)
    low, high = words[:, 0], words[:, 1].view(np.int64)
    if array.null_count:
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        low, high = np.where(valid, low, np.uint64(0)), np.where(valid, high, 0)
    return low, high


def decimal_to_integers(array: pa.Array) -> Array:
    """Return the unscaled values of a decimal128 array as an integer array; NULLs as 0.

    int64 if every value fits (always for precision ≤ 18), else Python integers.
    """
    low, high = limbs(array)
    signed = low.view(np.int64) if low.flags.c_contiguous else low.astype(np.int64)
    if array.type.precision <= 18 or bool((high == signed >> 63).all()):
        return np.ascontiguousarray(signed)
    return integer_array(
        [(h << 64) | lo for h, lo in zip(high.tolist(), low.tolist(), strict=True)]
    )


def integers_to_decimal(
    values: Array, precision: int, scale: int, null: Array | None = None
) -> pa.Array:
    """Return unscaled integers as a decimal128 array; NULL where the mask `null` is true.

    Raises
    ------
    ExactnessError
        If a value that is not NULL has more than `precision` digits.
    """
    if null is not None and null.any():
        values = shrink(np.where(null, 0, values))
    bound = 10**precision
    if magnitude(values) >= bound:
        raise ExactnessError(
            f"{magnitude(values)} has more than {precision} digits and does not fit"
            f" decimal({precision},{scale})"
        )
    words = np.empty((len(values), 2), dtype="<u8")
    if values.dtype == np.dtype(object):
        items = values.tolist()
        words[:, 0] = np.array([item & _MASK64 for item in items], dtype=np.uint64)
        words[:, 1] = np.array([(item >> 64) & _MASK64 for item in items], dtype=np.uint64)
    else:
        words[:, 0] = values.view(np.uint64)
        words[:, 1] = (values >> 63).view(np.uint64)
    validity = None
    if null is not None and null.any():
        validity = pa.py_buffer(np.packbits(~null, bitorder="little"))
    buffers = [validity, pa.py_buffer(np.ascontiguousarray(words))]
    return pa.Array.from_buffers(pa.decimal128(precision, scale), len(values), buffers)


def sum_decimal_segments(array: pa.Array, included: Array, offsets: Array) -> Array:
    """Return exact sums of unscaled decimal128 values over CSR segments, as an integer array.

    Parameters
    ----------
    included
        Boolean array: the members that count.

    Values beyond int64 are summed in four 32-bit limbs, so no Python object is made per member.
    """
    low, high = limbs(array)
    low, high = np.where(included, low, np.uint64(0)), np.where(included, high, 0)
    parts = [
        (low & _MASK32).astype(np.int64),
        (low >> np.uint64(32)).astype(np.int64),
        high & np.int64(0xFFFFFFFF),
        high >> 32,
    ]
    sums = [reduce_segments(np.add, part, offsets, 0).astype(object) for part in parts]
    total: Array = sums[0] + sums[1] * 2**32 + sums[2] * 2**64 + sums[3] * 2**96
    return shrink(total)
