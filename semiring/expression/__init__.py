"""Annotations with δ, ⊖ and comparisons: expressions over a semiring with those operations."""

from __future__ import annotations

from semiring.expression.compared import Compare, compare
from semiring.expression.condition import Condition, condition
from semiring.expression.terms import (
    Atom,
    Constant,
    Delta,
    Expression,
    Monus,
    Operand,
    Product,
    Sum,
    delta,
    monus,
    product_of,
    simplify,
    sum_of,
)

__all__ = [
    "Atom",
    "Compare",
    "Condition",
    "Constant",
    "Delta",
    "Expression",
    "Monus",
    "Operand",
    "Product",
    "Sum",
    "compare",
    "condition",
    "delta",
    "monus",
    "product_of",
    "simplify",
    "sum_of",
]
