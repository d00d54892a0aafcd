"""Conditions as annotations: products and alternatives of comparisons, row by row."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from lipstick.engines.memory.formal.algebra import ALGEBRA, Annotation, absent, any_of
from lipstick.engines.memory.formal.functions import ScalarFunction
from lipstick.engines.memory.formal.scopes import Scope, of_rows, operands, scalar_type
from lipstick.errors import NeedsSparkError
from rewriter.algebra import Scalar
from rewriter.interpret import (
    AllOf,
    AnyOf,
    Compared,
    Condition,
    interpret,
    is_exact,
    taken_apart,
)
from rewriter.scalars.text import scalar as parsed
from semiring.comparison import compare_values
from semiring.expression import compare, condition, simplify
from semiring.value import Operand, Value
from semiring.values import Choice


def truths(scope: Scope, written: Scalar) -> list[Annotation]:
    """[φ] for every row of a scope: 1 or 0 where that is known."""
    return _truths(scope, taken_apart(written))


def all_true(scope: Scope, conditions: Sequence[Scalar]) -> list[Annotation]:
    """[φ₁]·[φ₂]·… for every row of a scope."""
    products: list[Annotation] = [ALGEBRA.one] * scope.length
    for written in conditions:
        pairs = zip(products, truths(scope, written), strict=True)
        products = [ALGEBRA.times(a, b) for a, b in pairs]
    return products


def _truths(scope: Scope, wanted: Condition) -> list[Annotation]:
    match wanted:
        case AllOf(parts):
            columns = [_truths(scope, part) for part in parts]
            return [ALGEBRA.product(row) for row in zip(*columns, strict=True)]
        case AnyOf(parts):
            columns = [_truths(scope, part) for part in parts]
            return [any_of(row) for row in zip(*columns, strict=True)]
        case Compared():
            return _compared(scope, wanted)
    return [simplify(condition(value)) for value in operands(scope, wanted.scalar)]


def _compared(scope: Scope, wanted: Compared) -> list[Annotation]:
    sides = wanted.comparison.left, wanted.comparison.right
    try:
        lefts, rights = (operands(scope, side) for side in sides)
        alike = _alike(*(scalar_type(scope, side) for side in sides))
    except NeedsSparkError:
        alike, lefts, rights = False, [], []
    if not alike:
        return [simplify(condition(value)) for value in operands(scope, wanted.whole)]
    return [_of_pair(wanted, a, b) for a, b in zip(lefts, rights, strict=True)]


def _of_pair(wanted: Compared, left: Operand, right: Operand) -> Annotation:
    op = wanted.comparison.op
    if not isinstance(left, Value) and not isinstance(right, Value):
        held = compare_values(op, left, right)
        return ALGEBRA.one if held != wanted.negated else ALGEBRA.zero
    if op == "<=>" and right is None and isinstance(left, Choice) and _always_known(left):
        present = any_of([annotation for annotation, _ in left.alternatives])
        return present if wanted.negated else absent(present)
    compared = simplify(compare(op, left, right))
    return absent(compared) if wanted.negated else compared


def _always_known(value: Choice) -> bool:
    """Return True if every alternative has a plain value that is not NULL."""
    return all(not isinstance(v, Value) and v is not None for _, v in value.alternatives)


def _alike(a: pa.DataType, b: pa.DataType) -> bool:
    """Return True if Python compares values of two types as Spark does."""
    if pa.types.is_null(a) or pa.types.is_null(b):
        return True
    if is_exact(a) and is_exact(b):
        return True
    simple = bool(
        pa.types.is_boolean(a)
        or pa.types.is_string(a)
        or pa.types.is_date(a)
        or pa.types.is_timestamp(a)
        or pa.types.is_float64(a)
    )
    return simple and a == b


def equal(
    left: Operand, right: Operand, types: tuple[pa.DataType, pa.DataType], *, null_safe: bool
) -> Annotation:
    """[left = right], or [left <=> right]."""
    op = "<=>" if null_safe else "="
    if _alike(*types):
        if not isinstance(left, Value) and not isinstance(right, Value):
            return ALGEBRA.one if compare_values(op, left, right) else ALGEBRA.zero
        return simplify(compare(op, left, right))
    function = ScalarFunction(_EQUAL[op], types)
    return simplify(condition(of_rows(function, [(left, right)])[0]))


_EQUAL = {op: interpret(parsed(f"a.x {op} b.x")) for op in ("=", "<=>")}
