"""Semiring provenance: annotations, the semirings that give them meaning, and their evaluation.

Import semirings from `semiring.semirings`, annotation types from `semiring.annotation` and columns
of annotations, which are evaluated as arrays, from `semiring.columns`.
"""

from __future__ import annotations

from semiring.base import Semiring
from semiring.errors import (
    AnnotationError,
    CapabilityError,
    ExactnessError,
    LipstickError,
    ValuationError,
)
from semiring.expression import Expression, compare, delta, monus, simplify
from semiring.monoid import AVG, COUNT, MAX, MIN, SUM, Monoid
from semiring.polynomial import Polynomial
from semiring.tensor import Tensor
from semiring.token import Token

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
