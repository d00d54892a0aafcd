"""Annotation types: the structure of an annotation, known from the plan before a row is read.

A type carries the operators, the data only tokens and aggregated values. Every type τ has a
physical Arrow type ⟦τ⟧ and a meaning in a semiring; `evaluator.evaluate_nested` relates the two.
A type that *carries no data* (`carries_data` is false) has no physical field anywhere; structs
have one field per part that does, in order, and are read by position.
"""

from __future__ import annotations

from semiring.annotation.base import AnnotationType
from semiring.annotation.comparisons import Compare, Literal, Operand, Scalar, TensorOf
from semiring.annotation.encoding import from_json, to_json
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
    "from_json",
    "to_json",
]
