"""Annotations that come from somewhere else: tokens, tuples of other blocks, and 1."""

from __future__ import annotations

from dataclasses import dataclass

from semiring.annotation.base import AnnotationType, check_name, check_strings


@dataclass(frozen=True, slots=True)
class TokenOf(AnnotationType):
    """A token of a tracked relation; from a scan.

    ⟦τ⟧: the key column, or a struct of the key columns. A NULL (in a struct: all fields NULL)
    is an absent factor, 1.
    """

    relation: str
    key_types: tuple[str, ...]

    def __post_init__(self) -> None:
        check_name(self.relation, "a relation")
        check_strings(self.key_types, "key types")

    @property
    def of_relation(self) -> str:
        return self.relation

    def __str__(self) -> str:
        return self.relation


@dataclass(frozen=True, slots=True)
class Ref(AnnotationType):
    """A tuple of another query block, by its grouping key.

    ⟦τ⟧: the key column, or a struct of the key columns. A NULL column or NULL struct is an absent
    factor, 1. NULL *fields* of a struct that is there are key values, so a block with a nullable
    key is referred to by a struct even if the key is one column.
    """

    block: str
    key_types: tuple[str, ...]

    def __post_init__(self) -> None:
        check_name(self.block, "a block")
        check_strings(self.key_types, "key types")

    @property
    def of_block(self) -> str:
        return self.block

    def __str__(self) -> str:
        return f"Ref({self.block})"


@dataclass(frozen=True, slots=True)
class One(AnnotationType):
    """1: from VALUES, range, and relations tracked without provenance. Carries no data."""

    def __str__(self) -> str:
        return "1"
