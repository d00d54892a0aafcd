"""Annotation types: the structure of an annotation, known from the plan before a row is read.

A type has the operators, the data only tokens and aggregated values.
"""

from __future__ import annotations

from semiring.annotation.base import AnnotationType
from semiring.annotation.comparisons import Compare, Literal, Operand, Scalar, TensorOf
from semiring.annotation.operations import Alt, BlackBox, Monus, Times
from semiring.annotation.sources import One, Ref, TokenOf
from semiring.annotation.sums import Delta, Sum

__all__ = [
    "Alt",
    "AnnotationType",
    "BlackBox",
    "Compare",
    "Delta",
    "Literal",
    "Monus",
    "One",
    "Operand",
    "Ref",
    "Scalar",
    "Sum",
    "TensorOf",
    "Times",
    "TokenOf",
]
