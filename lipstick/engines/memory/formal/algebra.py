"""The algebra of formal annotations, and what of it is used often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings.expressions import Expressions

Annotation: TypeAlias = Polynomial | Expression

ALGEBRA = Expressions()


def times(a: Sequence[Annotation], b: Sequence[Annotation]) -> list[Annotation]:
    """The products of two columns of annotations."""
    return [ALGEBRA.times(x, y) for x, y in zip(a, b, strict=True)]


def absent(annotation: Annotation) -> Annotation:
    """1 ⊖ δ(annotation): that a tuple is not there."""
    return ALGEBRA.monus(ALGEBRA.one, ALGEBRA.delta(annotation))


def any_of(annotations: Iterable[Annotation]) -> Annotation:
    """That one of several things holds: δ of their sum."""
    parts = list(dict.fromkeys(part for part in annotations if not part.is_zero))
    if any(part == ALGEBRA.one for part in parts):
        return ALGEBRA.one
    if len(parts) == 1:
        return ALGEBRA.delta(parts[0])
    return ALGEBRA.delta(ALGEBRA.sum(parts))


def matched_or_not(annotation: Annotation) -> Annotation:
    """u + (1 ⊖ δ(u)): a row of a LEFT JOIN with its partner, or without."""
    if isinstance(annotation, Expression) and annotation.is_truth_value:
        return ALGEBRA.one
    return ALGEBRA.plus(annotation, absent(annotation))
