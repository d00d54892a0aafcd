"""Annotations with δ, ⊖ and comparisons: expressions over a semiring with those operations."""

from __future__ import annotations

from semiring.expression.compared import Compare, compare
from semiring.expression.terms import (
    Expression,
    Operand,
    delta,
    monus,
    product_of,
    simplify,
    sum_of,
)

__all__ = [
    "Compare",
    "Expression",
    "Operand",
    "compare",
    "delta",
    "monus",
    "product_of",
    "simplify",
    "sum_of",
]
