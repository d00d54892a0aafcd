"""Comparison of whole Arrow columns as Spark compares them; see `comparison.compare_values`."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.arrays.decimals import decimal_to_integers
from semiring.base import Array
from semiring.comparison import FLIPPED, check_operator, compare_values, is_nan

UFUNCS: Final = {
    "=": np.equal,
    "<=>": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
"""The comparisons of numbers that are neither NULL nor NaN, by their operators."""

_WIDE = Context(prec=200)


def compare_arrays(op: str, left: Any, right: Any, size: int) -> Array:
    """Compare Arrow arrays or plain constants elementwise as `compare_values`, to a Boolean array.

    Parameters
    ----------
    left, right
        Arrow arrays of `size` values, or one plain value for all rows.

    Raises
    ------
    AnnotationError
        If the operator is unknown or the types cannot be compared exactly.
    """
    check_operator(op)
    null_left, null_right = _nulls(left, size), _nulls(right, size)
    nan_left, nan_right = _nans(left, size), _nans(right, size)
    known = ~(null_left | null_right)
    ordinary = known & ~(nan_left | nan_right)
    result = np.zeros(size, dtype=np.bool_)
    if ordinary.any():
        result[ordinary] = _kernel(op, _taken(left, ordinary), _taken(right, ordinary))
    special = known & (nan_left | nan_right)
    if special.any():
        a, b = nan_left[special], nan_right[special]
        result[special] = {
            "=": a == b,
            "<=>": a == b,
            "<>": a != b,
            "<": a < b,
            "<=": a <= b,
            ">": a > b,
            ">=": a >= b,
        }[op]
    if op == "<=>":
        result |= null_left & null_right
    return result


def _is_array(operand: Any) -> bool:
    return isinstance(operand, (pa.Array, pa.ChunkedArray))


def _nulls(operand: Any, size: int) -> Array:
    if _is_array(operand):
        mask: Array = pc.is_null(operand).to_numpy(zero_copy_only=False)
        return mask
    return np.full(size, operand is None, dtype=np.bool_)


def _nans(operand: Any, size: int) -> Array:
    if _is_array(operand):
        if not pa.types.is_floating(operand.type):
            return np.zeros(size, dtype=np.bool_)
        mask = pc.fill_null(pc.is_nan(operand), False)
        nans: Array = mask.to_numpy(zero_copy_only=False)
        return nans
    return np.full(size, is_nan(operand), dtype=np.bool_)


def _taken(operand: Any, rows: Array) -> Any:
    return operand.filter(pa.array(rows)) if _is_array(operand) else operand


def _kernel(op: str, left: Any, right: Any) -> Array:
    if not _is_array(left) and not _is_array(right):
        return np.array(compare_values(op, left, right))
    if _is_array(left) and not _is_array(right) and _exact(left) and _exact(right):
        return _with_constant(op, left, right)
    if _is_array(right) and not _is_array(left) and _exact(left) and _exact(right):
        return _with_constant(FLIPPED[op], right, left)
    kernels = {
        "=": pc.equal,
        "<=>": pc.equal,
        "<>": pc.not_equal,
        "<": pc.less,
        "<=": pc.less_equal,
        ">": pc.greater,
        ">=": pc.greater_equal,
    }
    if not _mixed(left, right):
        try:
            compared = kernels[op](left, right)
            if isinstance(compared, pa.ChunkedArray):
                compared = compared.combine_chunks()
            result: Array = compared.to_numpy(zero_copy_only=False)
            return result
        except (pa.ArrowException, TypeError, OverflowError):
            pass
    # Arrow would go through double, or knows no common type; Python compares numbers exactly.
    length = len(left) if _is_array(left) else len(right)
    a, b = (side.to_pylist() if _is_array(side) else [side] * length for side in (left, right))
    return np.array([compare_values(op, x, y) for x, y in zip(a, b, strict=True)], dtype=np.bool_)


def _exact(operand: Any) -> bool:
    if _is_array(operand):
        return bool(pa.types.is_integer(operand.type) or pa.types.is_decimal128(operand.type))
    return isinstance(operand, (int, Decimal)) and not isinstance(operand, bool)


def _with_constant(op: str, column: Any, constant: Any) -> Array:
    """Return a column of integers or decimals and an exact constant, as integers of one scale."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_decimal128(column.type):
        values, scale = decimal_to_integers(column), column.type.scale
    else:
        values, scale = column.to_numpy(zero_copy_only=False), 0
    scaled = Decimal(constant).scaleb(scale, _WIDE)
    bound = int(scaled.to_integral_value(rounding="ROUND_FLOOR", context=_WIDE))
    if bound != scaled:
        # No integer equals the constant, and x < c iff x <= floor(c).
        if op in ("=", "<=>", "<>"):
            return np.full(len(values), op == "<>", dtype=np.bool_)
        op = "<=" if op in ("<", "<=") else ">"
    if not -(2**63) <= bound < 2**63:
        values = values.astype(object)
    result: Array = UFUNCS[op](values, bound).astype(np.bool_)
    return result


def _mixed(left: Any, right: Any) -> bool:
    """Return True if one side is floating and the other exact, or just one is a decimal."""
    floating, decimal = (
        [kind(side.type) if _is_array(side) else isinstance(side, python) for side in (left, right)]
        for kind, python in ((pa.types.is_floating, float), (pa.types.is_decimal, Decimal))
    )
    return bool(floating[0] != floating[1] or decimal[0] != decimal[1])
