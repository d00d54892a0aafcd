"""Annotations of groups: the sum over the members, and δ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from semiring.annotation.base import AnnotationType, check_parts, check_strings


@dataclass(frozen=True, slots=True)
class SumOf(AnnotationType):
    """Σ of the members of a group.

    ⟦τ⟧: a list of ⟦member⟧. With `values`, the aggregates' arguments beside each member, a list of
    structs: ⟦member⟧ first, then one field per name. A member type without data and no values: the
    number of members as an integer. A NULL list is empty.
    """

    member: AnnotationType
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_parts((self.member,), "SumOf", 1)
        check_strings(self.values, "values")

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.member,)

    def __str__(self) -> str:
        return f"Σ({self.member})"


@dataclass(frozen=True, slots=True)
class DeltaOf(AnnotationType):
    """δ(τ): from GROUP BY, DISTINCT, EXISTS, IN. ⟦τ⟧: that of the operand."""

    in_polynomials: ClassVar[bool] = False

    operand: AnnotationType

    def __post_init__(self) -> None:
        check_parts((self.operand,), "DeltaOf", 1)

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        return (self.operand,)

    def __str__(self) -> str:
        return f"δ({self.operand})"
