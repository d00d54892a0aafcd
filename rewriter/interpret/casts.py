"""Spark's ANSI casts, among the types where they are exact or a rounding of decimals."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rewriter.interpret.arithmetic import dtype_of, rescale, result_of, to_floats
from rewriter.interpret.dates import cast_time, is_time
from rewriter.interpret.vector import (
    UninterpretableError,
    Vector,
    either,
    from_arrow,
    is_exact,
    is_number,
)
from semiring.arrays.exact import shrink
from semiring.arrays.segments import entries_of, list_layout, lists_of, maps_of
from semiring.base import Array

_ERROR = 2.0**-50
"""The relative error of a double that is written, read and multiplied, at most: some of 2⁻⁵³."""


def cast(vector: Vector, kind: pa.DataType) -> Vector:
    """Spark's ANSI cast, among the types where it is exact or a rounding of decimals.

    Raises
    ------
    UninterpretableError
        For other pairs of types.
    """
    source = vector.type
    if source == kind:
        return vector
    if pa.types.is_null(source):
        empty = Vector(kind, pa.nulls(1, kind), np.ones(1, dtype=np.bool_))
        if is_number(kind) or pa.types.is_boolean(kind):
            empty = Vector(kind, np.zeros(1, dtype=dtype_of(kind)), np.ones(1, dtype=np.bool_))
        nulls = empty.broadcast(len(vector))
        if vector.failed is None:
            return nulls
        return Vector(kind, nulls.values, ~vector.failed, vector.failed)
    if is_exact(source) and is_exact(kind):
        target = kind.scale if pa.types.is_decimal(kind) else 0
        if pa.types.is_decimal(kind):
            values = rescale(vector.values, target - vector.scale)
        else:
            values = _truncated(vector.values, vector.scale)
        return result_of(kind, values, vector)
    if pa.types.is_float64(source) and pa.types.is_decimal(kind):
        return _rounded(vector, kind)
    if is_number(source) and pa.types.is_floating(kind):
        with np.errstate(all="ignore"):
            floats = to_floats(vector).astype(dtype_of(kind))
        return Vector(kind, floats, vector.null, vector.failed)
    if is_time(source) and is_time(kind):
        return cast_time(vector, kind)
    if isinstance(vector.values, pa.Array) and _widening(source, kind):
        return Vector(kind, vector.values.cast(kind), vector.null, vector.failed)
    if pa.types.is_string(kind) and (pa.types.is_signed_integer(source) or _is_boolean(source)):
        return from_arrow(vector.to_arrow(len(vector)).cast(kind))
    if pa.types.is_struct(source) and pa.types.is_struct(kind):
        return _cast_struct(vector, kind)
    if pa.types.is_list(source) and pa.types.is_list(kind):
        return _cast_lists(vector, kind)
    if pa.types.is_map(source) and pa.types.is_map(kind):
        return _cast_map(vector, kind)
    raise UninterpretableError(f"a cast of {source} to {kind}")


def _rounded(vector: Vector, kind: pa.DataType) -> Vector:
    """The decimals that are next to doubles.

    Spark rounds the digits that Java writes of a double, which are another number than it is: where
    the two might be rounded differently, near to a half, Spark is asked.
    """
    missing = either(vector.null, vector.failed)
    values = vector.values if missing is None else np.where(missing, 0.0, vector.values)
    with np.errstate(all="ignore"):
        scaled = values * 10.0**kind.scale
        nearest = np.rint(scaled)
        from_half = 0.5 - np.abs(scaled - nearest)
        sure = from_half > np.abs(scaled) * _ERROR
    if not sure.all():
        raise UninterpretableError(f"a cast of a number near to a half to {kind}")
    return result_of(kind, nearest.astype(np.int64), vector)


def _cast_struct(vector: Vector, kind: pa.StructType) -> Vector:
    """The struct with each of its fields cast, by its place."""
    struct = vector.to_arrow(len(vector))
    fields = [kind.field(number) for number in range(kind.num_fields)]
    if len(fields) != struct.type.num_fields or vector.failed is not None:
        raise UninterpretableError(f"a cast of {struct.type} to {kind}")
    parts = [
        cast(from_arrow(part), field.type)
        for part, field in zip(struct.flatten(), fields, strict=True)
    ]
    if any(part.failed is not None for part in parts):
        raise UninterpretableError("a cast of fields that fails")
    arrays = [part.to_arrow(len(struct)) for part in parts]
    return from_arrow(pa.StructArray.from_arrays(arrays, fields=fields, mask=struct.is_null()))


def _cast_lists(vector: Vector, kind: pa.DataType) -> Vector:
    """The arrays with each of their elements cast."""
    array = vector.to_arrow(len(vector))
    offsets, members = list_layout(array)
    elements = cast(from_arrow(members), kind.value_type)
    if elements.failed is not None:
        raise UninterpretableError("a cast of elements that fails")
    null = array.is_null().to_numpy(zero_copy_only=False)
    lists = lists_of(offsets, elements.to_arrow(len(members)), null)
    return from_arrow(lists.cast(kind))


def _cast_map(vector: Vector, kind: pa.MapType) -> Vector:
    """The maps with each of their keys and values cast."""
    array = vector.to_arrow(len(vector))
    offsets, members = list_layout(entries_of(array))
    parts = [
        cast(from_arrow(part), of)
        for part, of in zip(members.flatten(), (kind.key_type, kind.item_type), strict=True)
    ]
    if any(part.failed is not None for part in parts):
        raise UninterpretableError("a cast of entries that fails")
    keys, items = (part.to_arrow(len(members)) for part in parts)
    null = array.is_null().to_numpy(zero_copy_only=False)
    return from_arrow(maps_of(offsets, keys, items, null).cast(kind))


def _is_boolean(kind: pa.DataType) -> bool:
    return bool(pa.types.is_boolean(kind))


def _truncated(values: Array, scale: int) -> Array:
    if scale == 0:
        return values
    signs = np.where(np.less(values, 0), -1, 1)
    return shrink((np.abs(values) // 10**scale) * signs)


def _widening(source: pa.DataType, kind: pa.DataType) -> bool:
    strings = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return all(any(test(t) for test in strings) for t in (source, kind))
