"""Comparisons of aggregated values, and what they compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from semiring.annotation.base import AnnotationType, check_name, check_strings, factor_text
from semiring.annotation.constants import check_constant
from semiring.annotation.sums import SumOf
from semiring.comparison import check_operator
from semiring.errors import AnnotationError
from semiring.monoid import NAMES
from semiring.token import format_value


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
