"""Arithmetic with Spark's result types: exact on integers and decimals, IEEE on floats."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from rewriter.interpret.vector import (
    UninterpretableError,
    Vector,
    as_decimal,
    either,
    fits,
    is_number,
    unify,
)
from semiring.arrays.exact import add as add_integers
from semiring.arrays.exact import integer_array, magnitude, multiply, shrink, subtract
from semiring.base import Array

MAX_DIGITS = 38
_LEAST_SCALE = 6
_DIVISION_SCALE = 39
"""Spark divides decimals to this many fractional digits, then rounds to the result's scale."""


def bounded(precision: int, scale: int) -> pa.DataType:
    """The decimal type of an arithmetic result, digits of the fraction given up beyond 38."""
    if precision > MAX_DIGITS:
        whole = precision - scale
        scale = max(MAX_DIGITS - whole, min(scale, _LEAST_SCALE))
        precision = MAX_DIGITS
    return pa.decimal128(precision, scale)


def rescale(values: Array, digits: int) -> Array:
    """Unscaled values with `digits` more fractional digits; fewer are rounded half up."""
    if digits == 0:
        return values
    if digits > 0:
        return multiply(values, integer_array([10**digits]))
    return divide_half_up(values, integer_array([10**-digits]))


def divide_half_up(numerators: Array, divisors: Array) -> Array:
    """Integer quotients rounded half away from zero; divisors must not be 0."""
    signs = np.where(np.less(numerators, 0) != np.less(divisors, 0), -1, 1)
    top, bottom = np.abs(numerators), np.abs(divisors)
    if magnitude(top) > 2**61 or magnitude(bottom) > 2**61:
        top, bottom = top.astype(object), bottom.astype(object)
    quotients = (2 * top + bottom) // (2 * bottom)
    return shrink(quotients * signs)


def to_floats(vector: Vector) -> Array:
    """The values of numbers as float64, each rounded once."""
    if vector.floating:
        return np.asarray(vector.values, dtype=np.float64)
    if vector.scale == 0 and vector.values.dtype != np.dtype(object):
        return np.asarray(vector.values, dtype=np.float64)
    if vector.scale <= 22 and magnitude(vector.values) <= 2**53:
        return np.asarray(vector.values / 10.0**vector.scale, dtype=np.float64)
    divisor = 10**vector.scale
    return np.array([int(item) / divisor for item in vector.values], dtype=np.float64)


def plus(a: Vector, b: Vector) -> Vector:
    """``a + b``."""
    return _additive(a, b, add_integers, np.add)


def minus(a: Vector, b: Vector) -> Vector:
    """``a - b``."""
    return _additive(a, b, subtract, np.subtract)


def _additive(
    a: Vector, b: Vector, exact: Callable[[Array, Array], Array], floating: np.ufunc
) -> Vector:
    _numbers(a, b)
    if a.floating or b.floating:
        return _floats(a, b, floating)
    if _integers(a, b):
        return result_of(unify(a.type, b.type), exact(a.values, b.values), a, b)
    first, two = as_decimal(a.type), as_decimal(b.type)
    scale = max(first.scale, two.scale)
    whole = max(first.precision - first.scale, two.precision - two.scale)
    kind = bounded(whole + scale + 1, scale)
    values = exact(rescale(a.values, scale - a.scale), rescale(b.values, scale - b.scale))
    return result_of(kind, rescale(values, kind.scale - scale), a, b)


def times(a: Vector, b: Vector) -> Vector:
    """``a * b``."""
    _numbers(a, b)
    if a.floating or b.floating:
        return _floats(a, b, np.multiply)
    values = multiply(a.values, b.values)
    if _integers(a, b):
        return result_of(unify(a.type, b.type), values, a, b)
    first, two = as_decimal(a.type), as_decimal(b.type)
    scale = first.scale + two.scale
    kind = bounded(first.precision + two.precision + 1, scale)
    return result_of(kind, rescale(values, kind.scale - scale), a, b)


def divide(a: Vector, b: Vector) -> Vector:
    """``a / b``; integers are divided as doubles, by zero fails."""
    _numbers(a, b)
    zero = np.equal(b.values, 0).astype(np.bool_)
    if a.floating or b.floating or _integers(a, b):
        with np.errstate(all="ignore"):
            quotients = to_floats(a) / np.where(zero, 1.0, to_floats(b))
        return _failing(Vector(pa.float64(), quotients, either(a.null, b.null)), a, b, zero)
    first, two = as_decimal(a.type), as_decimal(b.type)
    scale = max(_LEAST_SCALE, first.scale + two.precision + 1)
    kind = bounded(first.precision - first.scale + two.scale + scale, scale)
    top = rescale(a.values.astype(object), _DIVISION_SCALE + two.scale - first.scale)
    bottom = np.where(zero, 1, b.values)
    quotients = divide_half_up(top, bottom)
    quotients = rescale(quotients, kind.scale - _DIVISION_SCALE)
    return _failing(result_of(kind, quotients, a, b), a, b, zero)


def remainder(a: Vector, b: Vector) -> Vector:
    """``a % b`` of integers, with the sign of ``a``; by zero fails."""
    _, rest, zero = _divided(a, b)
    return _failing(result_of(unify(a.type, b.type), rest, a, b), a, b, zero)


def whole_quotient(a: Vector, b: Vector) -> Vector:
    """``a DIV b`` of integers, a bigint without the fraction; by zero fails."""
    quotients, _, zero = _divided(a, b)
    return _failing(result_of(pa.int64(), quotients, a, b), a, b, zero)


def _divided(a: Vector, b: Vector) -> tuple[Array, Array, Array]:
    """Quotients of integers without the fraction, what remains, and where the divisor is 0."""
    _numbers(a, b)
    if not all(pa.types.is_signed_integer(vector.type) for vector in (a, b)):
        raise UninterpretableError(f"a division of {a.type} by {b.type} without a fraction")
    zero = np.equal(b.values, 0).astype(np.bool_)
    left, right = a.values, np.where(zero, 1, b.values)
    if max(magnitude(left), magnitude(right)) >= 2**63:
        left, right = left.astype(object), right.astype(object)
    signs = np.where(np.less(left, 0) != np.less(right, 0), -1, 1)
    quotients = shrink(np.abs(left) // np.abs(right) * signs)
    return quotients, shrink(left - quotients * right), zero


def negative(a: Vector) -> Vector:
    """``-a``."""
    _numbers(a)
    if a.floating:
        return Vector(a.type, -a.values, a.null, a.failed)
    return result_of(a.type, subtract(np.zeros(1, dtype=np.int64), a.values), a)


def absolute(a: Vector) -> Vector:
    """``abs(a)``."""
    _numbers(a)
    if a.floating:
        return Vector(a.type, np.abs(a.values), a.null, a.failed)
    values = a.values.astype(object) if magnitude(a.values) >= 2**63 else a.values
    return result_of(a.type, np.abs(values), a)


def _numbers(*vectors: Vector) -> None:
    for vector in vectors:
        if not is_number(vector.type) and not pa.types.is_null(vector.type):
            raise UninterpretableError(f"arithmetic on values of type {vector.type}")
        if pa.types.is_null(vector.type):
            raise UninterpretableError("arithmetic on an untyped NULL")


def _integers(a: Vector, b: Vector) -> bool:
    return not pa.types.is_decimal(a.type) and not pa.types.is_decimal(b.type)


def _floats(a: Vector, b: Vector, operation: np.ufunc) -> Vector:
    kind = unify(a.type, b.type)
    left, right = to_floats(a), to_floats(b)
    if pa.types.is_float32(kind):
        left, right = left.astype(np.float32), right.astype(np.float32)
    with np.errstate(all="ignore"):
        values = operation(left, right)
    return Vector(kind, values, either(a.null, b.null), either(a.failed, b.failed))


def result_of(kind: pa.DataType, values: Array, *operands: Vector) -> Vector:
    """Exact values of a type: NULL where an operand is, failed where one is or they do not fit."""
    null = either(*(operand.null for operand in operands))
    failed = either(*(operand.failed for operand in operands), fits(values, kind))
    return Vector(kind, values, null, failed)


def _failing(result: Vector, a: Vector, b: Vector, zero: Array) -> Vector:
    failed = either(result.failed, a.failed, b.failed, zero if zero.any() else None)
    return Vector(result.type, result.values, result.null, failed)


def dtype_of(kind: pa.DataType) -> np.dtype[np.generic]:
    """The dtype in which values of a type are computed."""
    if pa.types.is_boolean(kind):
        return np.dtype(np.bool_)
    if pa.types.is_float32(kind):
        return np.dtype(np.float32)
    return np.dtype(np.float64) if pa.types.is_floating(kind) else np.dtype(np.int64)
