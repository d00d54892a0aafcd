"""Columns of values as Spark has them: a type, numpy or Arrow values, NULLs and failures.

Exact numbers are integer arrays (decimals by their unscaled values), so that nothing exact ever
passes through a float.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from semiring.arrays.arrow import decoded
from semiring.arrays.decimals import decimal_to_integers, integers_to_decimal
from semiring.arrays.exact import INT64_MAX, INT64_MIN, integer_array, magnitude
from semiring.base import Array

_WIDE = Context(prec=200)

session_zone: ContextVar[str | None] = ContextVar("session_zone", default=None)
"""The time zone in which the query saw instants, as Spark calls it; None: it is not known."""


@contextmanager
def in_time_zone(name: str | None) -> Iterator[None]:
    """Let instants be seen in a time zone, as Spark calls it; None: it is not known."""
    token = session_zone.set(name)
    try:
        yield
    finally:
        session_zone.reset(token)


class UninterpretableError(Exception):
    """A scalar, or a value, that only Spark can compute; the message is the text of the scalar."""


class FailedError(Exception):
    """A scalar that fails as it would in Spark: an overflow or a division by zero."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A column of values, or one value for all rows (of length 1).

    Attributes
    ----------
    type
        The Arrow type; Spark's types map to it one to one.
    values
        An ndarray for exact numbers (int64, or Python integers), floats and Booleans; an Arrow
        array for everything else.
    null
        Boolean array of the NULL rows; None: there are none. What stands in ``values`` there is
        arbitrary.
    failed
        Boolean array of the rows where Spark would raise an error; None: there are none.
    """

    type: pa.DataType
    values: Any
    null: Array | None = None
    failed: Array | None = None

    def __post_init__(self) -> None:
        # NULL for all rows, of one value, beside the values of each.
        for name in ("null", "failed"):
            mask = getattr(self, name)
            if mask is not None and len(mask) == 1 != len(self.values):
                object.__setattr__(self, name, np.repeat(mask, len(self.values)))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def exact(self) -> bool:
        """True if the values are integers or decimals."""
        return is_exact(self.type)

    @property
    def floating(self) -> bool:
        """True if the values are floats."""
        return bool(pa.types.is_floating(self.type))

    @property
    def scale(self) -> int:
        """Fractional digits of an exact number."""
        return self.type.scale if pa.types.is_decimal(self.type) else 0

    @property
    def nulls(self) -> Array:
        """The NULL rows as an array, also where there are none."""
        return np.zeros(len(self), dtype=np.bool_) if self.null is None else self.null

    def broadcast(self, length: int) -> Vector:
        """This vector with `length` rows."""
        if len(self) == length:
            return self
        if isinstance(self.values, np.ndarray):
            values: Any = np.repeat(self.values, length)
        else:
            values = self.values.take(pa.array(np.zeros(length, dtype=np.int64)))
        null = None if self.null is None else np.repeat(self.null, length)
        failed = None if self.failed is None else np.repeat(self.failed, length)
        return Vector(self.type, values, null, failed)

    def to_arrow(self, length: int, where: Array | None = None) -> pa.Array:
        """The values as an Arrow array of `length` rows.

        Raises
        ------
        FailedError
            If a row failed, where ``where`` is true if given. The others that did are NULL.
        """
        whole = self.broadcast(length)
        if whole.failed is not None:
            failed = whole.failed & ~whole.nulls
            if (failed if where is None else failed & where).any():
                raise FailedError("a row has no value")
            whole = replace(whole, null=whole.nulls | failed)
        if not isinstance(whole.values, np.ndarray):
            if whole.null is None:
                return whole.values
            return pc.if_else(pa.array(~whole.null), whole.values, pa.scalar(None, whole.type))
        if pa.types.is_null(whole.type):
            return pa.nulls(length)
        if pa.types.is_decimal(whole.type):
            return integers_to_decimal(
                whole.values, whole.type.precision, whole.type.scale, whole.null
            )
        values = whole.values
        if values.dtype == np.dtype(object):
            values = np.where(whole.nulls, 0, values).astype(np.int64)
        if whole.null is not None:
            values = np.where(whole.null, np.zeros(1, dtype=values.dtype), values)
        return pa.array(values, mask=whole.null).cast(whole.type)


def is_exact(kind: pa.DataType) -> bool:
    """Return True if a type's values are integers or decimals."""
    return bool(pa.types.is_signed_integer(kind) or pa.types.is_decimal128(kind))


def is_number(kind: pa.DataType) -> bool:
    """Return True if a type's values are numbers."""
    return is_exact(kind) or bool(pa.types.is_floating(kind))


def from_arrow(array: pa.Array | pa.ChunkedArray) -> Vector:
    """An Arrow column as a vector."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    array = decoded(array)
    kind, null = array.type, None
    if array.null_count:
        null = array.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_decimal128(kind):
        return Vector(kind, decimal_to_integers(array), null)
    if pa.types.is_null(kind):
        return Vector(kind, np.zeros(len(array), dtype=np.bool_), null)
    if pa.types.is_boolean(kind) or is_number(kind):
        if null is not None:
            array = array.fill_null(False if pa.types.is_boolean(kind) else 0)
        values = array.to_numpy(zero_copy_only=False)
        if pa.types.is_signed_integer(kind):
            values = values.astype(np.int64, copy=False)
        return Vector(kind, values, null)
    return Vector(kind, array, None)


def constant(kind: pa.DataType, value: Any) -> Vector:
    """One value for all rows; None is NULL."""
    if value is None:
        return replace(from_arrow(pa.nulls(1, kind)), null=np.ones(1, dtype=np.bool_))
    if pa.types.is_decimal128(kind):
        return Vector(kind, integer_array([int(Decimal(value).scaleb(kind.scale, _WIDE))]))
    return from_arrow(pa.array([value], kind))


def boolean(values: Array, null: Array | None = None, failed: Array | None = None) -> Vector:
    """Truth values."""
    if null is not None and not null.any():
        null = None
    return Vector(pa.bool_(), values, null, failed)


def common_length(*vectors: Vector) -> int:
    """Return the number of rows of vectors together; a vector of length 1 stands for any number."""
    lengths = {len(vector) for vector in vectors}
    return next(iter(lengths - {1}), 1)


def either(*masks: Array | None) -> Array | None:
    """The union of masks, None being the empty one."""
    union: Array | None = None
    for mask in masks:
        if mask is not None:
            union = mask if union is None else union | mask
    return union


def fits(values: Array, kind: pa.DataType) -> Array | None:
    """The rows whose exact value the type cannot hold; None if there are none."""
    if pa.types.is_decimal(kind):
        bound = 10**kind.precision
        low, high = -bound + 1, bound - 1
    else:
        low, high = -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1
    if magnitude(values) <= high:
        return None
    if values.dtype != np.dtype(object) and (low < INT64_MIN or high > INT64_MAX):
        return None
    outside = (np.less(values, low) | np.greater(values, high)).astype(np.bool_)
    return outside if outside.any() else None


def unify(*types: pa.DataType) -> pa.DataType:
    """The type in which Spark combines values of these types (of CASE, COALESCE, IN).

    Raises
    ------
    UninterpretableError
        For types that need a conversion other than among numbers.
    """
    known = [kind for kind in types if not pa.types.is_null(kind)]
    if not known:
        return pa.null()
    widest = known[0]
    for kind in known[1:]:
        widest = _wider(widest, kind)
    return widest


def _wider(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    if a == b:
        return a
    if pa.types.is_signed_integer(a) and pa.types.is_signed_integer(b):
        return a if a.bit_width >= b.bit_width else b
    if pa.types.is_floating(a) and pa.types.is_floating(b):
        return pa.float64()
    if is_number(a) and is_number(b):
        if pa.types.is_floating(a) or pa.types.is_floating(b):
            other = b if pa.types.is_floating(a) else a
            single = pa.float32() in (a, b) and pa.types.is_signed_integer(other)
            return pa.float32() if single and other.bit_width < 64 else pa.float64()
        a, b = as_decimal(a), as_decimal(b)
        scale = max(a.scale, b.scale)
        digits = max(a.precision - a.scale, b.precision - b.scale) + scale
        return pa.decimal128(min(digits, 38), min(scale, 38))
    if pa.types.is_list(a) and pa.types.is_list(b):
        return pa.list_(pa.field("element", unify(a.value_type, b.value_type)))
    raise UninterpretableError(f"values of type {a} and {b}")


_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


def as_decimal(kind: pa.DataType) -> pa.DataType:
    """The decimal type that holds every value of an exact type."""
    return kind if pa.types.is_decimal(kind) else pa.decimal128(_DIGITS[kind.bit_width], 0)
