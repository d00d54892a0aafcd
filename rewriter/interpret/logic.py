"""Comparisons, three-valued logic and choices between columns, as Spark evaluates them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rewriter.interpret.arithmetic import rescale, to_floats
from rewriter.interpret.casts import cast
from rewriter.interpret.dates import comparable, is_time
from rewriter.interpret.vector import (
    UninterpretableError,
    Vector,
    boolean,
    common_length,
    either,
    is_number,
    unify,
)
from semiring.arrays.comparison import UFUNCS
from semiring.base import Array

_KERNELS = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def compare(op: str, a: Vector, b: Vector) -> Vector:
    """``a op b``: NULL where an operand is, NaN equal to itself and largest, -0.0 equal to 0.0."""
    if pa.types.is_null(a.type) or pa.types.is_null(b.type):
        length = common_length(a, b)
        return boolean(np.zeros(length, dtype=np.bool_), np.ones(length, dtype=np.bool_))
    null, failed = either(a.null, b.null), either(a.failed, b.failed)
    if is_number(a.type) and is_number(b.type):
        return boolean(_numbers(op, a, b).astype(np.bool_), null, failed)
    if pa.types.is_boolean(a.type) and pa.types.is_boolean(b.type):
        return boolean(UFUNCS[op](a.values, b.values).astype(np.bool_), null, failed)
    if isinstance(a.values, np.ndarray) or isinstance(b.values, np.ndarray):
        raise UninterpretableError(f"a comparison of {a.type} and {b.type}")
    return _others(op, a, b, failed)


def _numbers(op: str, a: Vector, b: Vector) -> Array:
    if not a.floating and not b.floating:
        scale = max(a.scale, b.scale)
        left, right = rescale(a.values, scale - a.scale), rescale(b.values, scale - b.scale)
        result: Array = UFUNCS[op](left, right)
        return result
    kind = unify(a.type, b.type)
    left, right = to_floats(a), to_floats(b)
    if pa.types.is_float32(kind):
        left, right = left.astype(np.float32), right.astype(np.float32)
    with np.errstate(invalid="ignore"):
        truths: Array = UFUNCS[op](left, right)
    nan_left, nan_right = np.isnan(left), np.isnan(right)
    if nan_left.any() or nan_right.any():
        special = nan_left | nan_right
        truths = np.where(special, UFUNCS[op](nan_left, nan_right), truths)
    return truths


def _others(op: str, a: Vector, b: Vector, failed: Array | None) -> Vector:
    left, right = a.values, b.values
    if left.type != right.type and (is_time(left.type) or is_time(right.type)):
        left, right = comparable(left, right)
    elif left.type != right.type:
        kind = unify(_plain(left.type), _plain(right.type))
        left, right = left.cast(kind), right.cast(kind)
    if len(left) != len(right):
        if len(left) == 1:
            left = left[0]
        else:
            right = right[0]
    try:
        compared = _KERNELS[op](left, right)
    except pa.ArrowNotImplementedError as error:
        raise UninterpretableError(f"a comparison of {a.type} and {b.type}") from error
    null = compared.is_null().to_numpy(zero_copy_only=False)
    null = either(null, a.null, b.null)
    values = compared.fill_null(False).to_numpy(zero_copy_only=False)
    return boolean(values.astype(np.bool_), null, failed)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    return kind


def null_safe_equal(a: Vector, b: Vector) -> Vector:
    """``a <=> b``."""
    a, b = _explicit(a), _explicit(b)
    both, either_null = a.nulls & b.nulls, a.nulls | b.nulls
    if pa.types.is_null(a.type) or pa.types.is_null(b.type):
        return boolean(both, None, either(a.failed, b.failed))
    equal = compare("=", a, b)
    return boolean(np.where(either_null, both, equal.values), None, equal.failed)


def is_null(a: Vector) -> Vector:
    """``a IS NULL``."""
    return boolean(_explicit(a).nulls, None, a.failed)


def _explicit(a: Vector) -> Vector:
    """The vector with the NULLs of an Arrow array in its mask too."""
    if isinstance(a.values, np.ndarray) or not a.values.null_count:
        return a
    return replace(a, null=either(a.null, a.values.is_null().to_numpy(zero_copy_only=False)))


def truth(a: Vector) -> tuple[Array, Array]:
    """Return masks of the rows where a condition is true and where it is false, not NULL."""
    if pa.types.is_null(a.type):
        none = np.zeros(len(a), dtype=np.bool_)
        return none, none
    if not pa.types.is_boolean(a.type):
        raise UninterpretableError(f"a condition of type {a.type}")
    if a.null is None:
        return a.values, ~a.values
    return a.values & ~a.null, ~a.values & ~a.null


def conjunction(a: Vector, b: Vector) -> Vector:
    """``a AND b``."""
    (true_a, false_a), (true_b, false_b) = truth(a), truth(b)
    values, false = true_a & true_b, false_a | false_b
    return boolean(values, ~(values | false), _unless(either(a.failed, b.failed), false))


def disjunction(a: Vector, b: Vector) -> Vector:
    """``a OR b``."""
    (true_a, false_a), (true_b, false_b) = truth(a), truth(b)
    values, false = true_a | true_b, false_a & false_b
    return boolean(values, ~(values | false), _unless(either(a.failed, b.failed), values))


def _unless(failed: Array | None, decided: Array) -> Array | None:
    if failed is None:
        return None
    return failed & ~decided


def negation(a: Vector) -> Vector:
    """``NOT a``."""
    true, false = truth(a)
    return boolean(false, ~(true | false), a.failed)


def choose(conditions: Sequence[Vector], values: Sequence[Vector], default: Vector) -> Vector:
    """CASE: the value of the first true condition; failures of values not chosen are forgiven."""
    kind = unify(*(value.type for value in (*values, default)))
    parts = [cast(value, kind) for value in (*values, default)]
    length = common_length(*parts, *conditions)
    chosen = np.full(length, len(values), dtype=np.int64)
    failed: Array | None = None
    for number in range(len(conditions) - 1, -1, -1):
        true, _ = truth(conditions[number].broadcast(length))
        chosen[true] = number
    for number, condition in enumerate(conditions):
        if condition.failed is not None:
            part_failed = condition.broadcast(length).failed
            assert part_failed is not None
            failed = either(failed, part_failed & (chosen >= number))
    return _selected(kind, [part.broadcast(length) for part in parts], chosen, failed)


def _selected(
    kind: pa.DataType, parts: Sequence[Vector], chosen: Array, failed: Array | None
) -> Vector:
    length = len(chosen)
    null = np.zeros(length, dtype=np.bool_)
    for number, part in enumerate(parts):
        selected = chosen == number
        if part.null is not None:
            null |= selected & part.null
        if part.failed is not None:
            failed = either(failed, selected & part.failed)
    if pa.types.is_null(kind):
        return Vector(kind, np.zeros(length, dtype=np.bool_), np.ones(length, dtype=np.bool_))
    mask = null if null.any() else None
    if all(isinstance(part.values, np.ndarray) for part in parts):
        values = parts[-1].values
        for number, part in enumerate(parts[:-1]):
            values = np.where(chosen == number, part.values, values)
        return Vector(kind, values, mask, failed)
    pool = pa.concat_arrays([part.values for part in parts])
    taken = pool.take(pa.array(chosen * length + np.arange(length)))
    return Vector(kind, taken, mask, failed)


def coalesce(values: Sequence[Vector]) -> Vector:
    """The first value that is not NULL."""
    return choose([negation(is_null(value)) for value in values[:-1]], values[:-1], values[-1])


def member_of(a: Vector, items: Sequence[Vector]) -> Vector:
    """``a IN (items)``."""
    any_equal = compare("=", a, items[0])
    for item in items[1:]:
        any_equal = disjunction(any_equal, compare("=", a, item))
    return any_equal


def is_truth(a: Vector, wanted: bool) -> Vector:
    """``a IS TRUE`` and ``a IS FALSE``."""
    true, false = truth(a)
    return boolean(true if wanted else false, None, a.failed)


def extreme(op: str, values: Sequence[Vector]) -> Vector:
    """``least`` and ``greatest``, by ``<`` and ``>``: NULLs are left out."""
    best = values[0]
    for value in values[1:]:
        conditions = [is_null(best), compare(op, value, best)]
        best = choose(conditions, [value, value], best)
    return best
