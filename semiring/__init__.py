"""Semiring provenance: annotations, the semirings that give them meaning, and their evaluation.

Import semirings from `semiring.semirings`, and columns of annotations, which are evaluated as
arrays, from `semiring.columns`.
"""

from __future__ import annotations

from semiring import expression
from semiring.base import Semiring
from semiring.errors import (
    AnnotationError,
    CapabilityError,
    ExactnessError,
    LipstickError,
    ValuationError,
)
from semiring.expression import Expression
from semiring.monoid import AVG, COUNT, MAX, MIN, SUM, Monoid
from semiring.polynomial import Polynomial
from semiring.support.door import checked
from semiring.tensor import Tensor
from semiring.token import Token

# Annotations are built by the functions themselves, some for each member of a capture.
compare = checked(expression.compare)
delta = checked(expression.delta)
monus = checked(expression.monus)
simplify = checked(expression.simplify)

__all__ = [
    "AVG",
    "COUNT",
    "MAX",
    "MIN",
    "SUM",
    "AnnotationError",
    "CapabilityError",
    "ExactnessError",
    "Expression",
    "LipstickError",
    "Monoid",
    "Polynomial",
    "Semiring",
    "Tensor",
    "Token",
    "ValuationError",
    "compare",
    "delta",
    "monus",
    "simplify",
]
