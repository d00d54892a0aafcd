"""Annotations made of others: by join, union, difference, and functions without a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from semiring.annotation.base import AnnotationType, check_name, check_parts, factor_text
from semiring.annotation.comparisons import ComparisonOf, TensorOf
from semiring.annotation.sums import DeltaOf
from semiring.errors import AnnotationError


@dataclass(frozen=True, slots=True)
class Times(AnnotationType):
    """τ1 · … · τn: from joins. ⟦τ⟧: a struct of the ⟦τi⟧."""

    in_parentheses: ClassVar[bool] = True

    factors: tuple[AnnotationType, ...]

    def __post_init__(self) -> None:
        check_parts(self.factors, "Times", 1)
        for factor in self.factors:
            for operand in factor.children if isinstance(factor, ComparisonOf) else ():
                if isinstance(operand, TensorOf) and operand.sibling is not None:
                    _check_sibling(self.factors, operand)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return self.factors

    def __str__(self) -> str:
        return " · ".join(factor_text(factor) for factor in self.factors)


@dataclass(frozen=True, slots=True)
class Alt(AnnotationType):
    """One of several types: from UNION ALL of differently annotated branches.

    ⟦τ⟧: a struct of ``branch``, an integer from 0, and one nullable field per branch with data.
    A NULL branch is an absent factor, 1.
    """

    branches: tuple[AnnotationType, ...]

    def __post_init__(self) -> None:
        check_parts(self.branches, "Alt", 1)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return self.branches

    def __str__(self) -> str:
        return "(" + " | ".join(map(str, self.branches)) + ")"


@dataclass(frozen=True, slots=True)
class MonusOf(AnnotationType):
    """left ⊖ right: from EXCEPT, INTERSECT ALL, anti join, NOT EXISTS and NULL-padded rows.

    ⟦τ⟧: a struct of the sides that carry data.
    """

    in_polynomials: ClassVar[bool] = False
    in_parentheses: ClassVar[bool] = True

    left: AnnotationType
    right: AnnotationType

    def __post_init__(self) -> None:
        check_parts((self.left, self.right), "MonusOf", 2)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.left, self.right)

    def __str__(self) -> str:
        return f"{factor_text(self.left)} ⊖ {factor_text(self.right)}"


@dataclass(frozen=True, slots=True)
class BlackBox(AnnotationType):
    """A function without a rule: its result depends on all inputs, so it means their product.

    ⟦τ⟧: a struct of the ⟦inputs⟧.
    """

    function: str
    inputs: tuple[AnnotationType, ...]

    def __post_init__(self) -> None:
        check_name(self.function, "a function")
        check_parts(self.inputs, "BlackBox", 0)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return self.inputs

    def __str__(self) -> str:
        return f"{self.function}({', '.join(map(str, self.inputs))})"


def _check_sibling(factors: tuple[AnnotationType, ...], tensor: TensorOf) -> None:
    position = tensor.sibling
    shared = factors[position] if position is not None and 0 <= position < len(factors) else None
    if isinstance(shared, DeltaOf):
        shared = shared.operand
    if shared != tensor.members:
        raise AnnotationError(f"factor {position} is not the SumOf that {tensor} is over")
