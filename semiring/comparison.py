"""Comparison of values as Spark compares them: three-valued, NaN equal to itself and largest."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from semiring.errors import AnnotationError
from semiring.token import normal_value

OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "<=>")
"""The comparison operators of Spark SQL; ``<=>`` is null-safe equality."""

FLIPPED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "<=>": "<=>"}
"""``a op b`` is ``b FLIPPED[op] a``."""


def check_operator(op: str) -> str:
    """Return `op` if it is a comparison operator; raise AnnotationError if not."""
    if op not in OPERATORS:
        raise AnnotationError(f"{op!r} is not a comparison operator; use one of {OPERATORS}")
    return op


def is_nan(value: Any) -> bool:
    """Return True if a value is a floating or decimal NaN."""
    return isinstance(value, (float, Decimal)) and bool(value != value)


def compare_values(op: str, left: Any, right: Any) -> bool:
    """Return True if ``left op right`` holds; for NULL, here None, only ``<=>`` can.

    Raises
    ------
    AnnotationError
        If the operator is unknown or the values cannot be compared.
    """
    check_operator(op)
    if left is None or right is None:
        return op == "<=>" and left is None and right is None
    if is_nan(left) or is_nan(right):
        left, right = is_nan(left), is_nan(right)
    left, right = _comparable(left), _comparable(right)
    try:
        if op in ("=", "<=>"):
            return bool(left == right)
        if op == "<>":
            return bool(left != right)
        if op == "<":
            return bool(left < right)
        if op == "<=":
            return bool(left <= right)
        if op == ">":
            return bool(left > right)
        return bool(left >= right)
    except TypeError as error:
        raise AnnotationError(
            f"cannot compare {type(left).__name__} {left!r} {op} {type(right).__name__} {right!r}"
        ) from error


def _comparable(value: Any) -> Any:
    """Return a struct or an array as the tuple of its parts, the form of stored constants."""
    return normal_value(value) if isinstance(value, (dict, list)) else value
