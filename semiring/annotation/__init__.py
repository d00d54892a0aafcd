"""Annotation types: the structure of an annotation, known from the plan before a row is read.

A type has the operators, the data only tokens and aggregated values.
"""

from __future__ import annotations

from semiring.annotation.base import AnnotationType
from semiring.annotation.operations import (
    Alt,
    BlackBox,
    ComparisonOf,
    Literal,
    MonusOf,
    Operand,
    Scalar,
    TensorOf,
    Times,
)
from semiring.annotation.sources import One, Ref, TokenOf
from semiring.annotation.sums import DeltaOf, SumOf

__all__ = [
    "Alt",
    "AnnotationType",
    "BlackBox",
    "ComparisonOf",
    "DeltaOf",
    "Literal",
    "MonusOf",
    "One",
    "Operand",
    "Ref",
    "Scalar",
    "SumOf",
    "TensorOf",
    "Times",
    "TokenOf",
]
