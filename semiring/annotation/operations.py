"""Annotations made of others: by join, union, difference, and functions without a rule."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from types import NoneType
from typing import Any, ClassVar, TypeAlias

from semiring.annotation.base import (
    AnnotationType,
    check_name,
    check_parts,
    check_strings,
    factor_text,
)
from semiring.annotation.sums import DeltaOf, SumOf
from semiring.comparison import check_operator
from semiring.errors import AnnotationError
from semiring.monoid import NAMES
from semiring.token import format_value

_CONSTANTS = (NoneType, bool, int, str, float, Decimal, date, bytes)


def check_constant(value: object) -> None:
    """Check that a value is of a type that literals of SQL have.

    Raises
    ------
    AnnotationError
        For a value of another type.
    """
    if not isinstance(value, _CONSTANTS):
        kind = type(value).__name__
        raise AnnotationError(f"a {kind} cannot be a constant of an annotation type")


@dataclass(frozen=True, slots=True)
class TensorOf(AnnotationType):
    """An aggregated value, Σ member ⊗ value; a comparison's operand, not a factor.

    Parameters
    ----------
    aggregate
        SUM, COUNT, MIN, MAX or AVG.
    members
        The group's `SumOf`.
    value
        Which of ``members.values`` is aggregated; None for ``count(*)``.
    distinct
        Whether the aggregate is over distinct values.
    sibling
        In a `ComparisonOf` that is a factor of a `Times`: the position of the factor, a `SumOf` or
        its `DeltaOf`, whose list this tensor shares. The tensor then carries no data of its own.

    ⟦τ⟧: that of `members`.
    """

    in_polynomials: ClassVar[bool] = False
    is_operand: ClassVar[bool] = True

    aggregate: str
    members: SumOf
    value: str | None = None
    distinct: bool = False
    sibling: int | None = None

    def __post_init__(self) -> None:
        if self.aggregate not in NAMES:
            raise AnnotationError(f"unknown aggregate {self.aggregate!r}; use one of {NAMES}")
        if not isinstance(self.members, SumOf):
            raise AnnotationError("the members of a TensorOf must be a SumOf")
        if self.value is None and (self.aggregate != "COUNT" or self.distinct):
            raise AnnotationError(f"{self.aggregate} needs a value; only count(*) has none")
        if self.value is not None and self.value not in self.members.values:
            raise AnnotationError(
                f"{self.value!r} is not a value of the members: {self.members.values}"
            )

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.members,)

    def __str__(self) -> str:
        word = "DISTINCT " if self.distinct else ""
        value = "1" if self.value is None else format_value(self.value)
        return f"{self.aggregate}({word}{factor_text(self.members.member)} ⊗ {value})"


@dataclass(frozen=True, slots=True)
class Scalar(AnnotationType):
    """The value of a scalar subquery: a column of the tuple of a block; a comparison's operand.

    ⟦τ⟧: that of a `Ref` to the block. Where the block has no such tuple the value is `over_empty`:
    None for NULL, 0 for COUNT.
    """

    in_polynomials: ClassVar[bool] = False
    is_operand: ClassVar[bool] = True

    block: str
    column: str
    key_types: tuple[str, ...] = ()
    over_empty: int | None = None

    def __post_init__(self) -> None:
        check_name(self.block, "a block")
        check_strings(self.key_types, "key types")

    @property
    def of_block(self) -> str:
        return self.block

    def __str__(self) -> str:
        return f"Scalar({self.block}.{self.column})"


@dataclass(frozen=True, slots=True)
class Literal(AnnotationType):
    """A constant operand of a comparison; None is NULL. Carries no data."""

    is_operand: ClassVar[bool] = True

    value: Any

    def __post_init__(self) -> None:
        check_constant(self.value)

    def __str__(self) -> str:
        return format_value(self.value)


@dataclass(frozen=True, slots=True)
class ComparisonOf(AnnotationType):
    """[left op right] of tensors, scalars and literals: from HAVING, and filters and joins on
    aggregated values.

    ⟦τ⟧: a struct of the operands that carry data.
    """

    in_polynomials: ClassVar[bool] = False

    op: str
    left: Operand
    right: Operand

    def __post_init__(self) -> None:
        check_operator(self.op)
        for side in (self.left, self.right):
            if not isinstance(side, (TensorOf, Scalar, Literal)):
                raise AnnotationError(
                    f"{side!r} cannot be compared; use a TensorOf, Scalar or Literal"
                )

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.left, self.right)

    def __str__(self) -> str:
        return f"[{self.left} {self.op} {self.right}]"


Operand: TypeAlias = TensorOf | Scalar | Literal


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
