"""The base of all annotation types: their parts, and the relations and blocks they refer to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from semiring.errors import AnnotationError


class AnnotationType(ABC):
    """A type of annotations; immutable, compared by structure."""

    __slots__ = ()

    in_polynomials: ClassVar[bool] = True
    """True if the type's own operator is one of N[X]."""
    in_parentheses: ClassVar[bool] = False
    """True if the text is parenthesised as a factor."""
    is_operand: ClassVar[bool] = False
    """True for operands of comparisons, which are no factors."""

    @property
    def children(self) -> tuple[AnnotationType, ...]:
        """The types this one is made of."""
        return ()

    @property
    def of_relation(self) -> str | None:
        """The tracked relation that this itself is a token of."""
        return None

    @property
    def of_block(self) -> str | None:
        """The query block that this itself refers to."""
        return None

    def walk(self) -> Iterator[AnnotationType]:
        """This type and all within it, outermost first."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def relations(self) -> frozenset[str]:
        """The tracked relations whose tokens occur."""
        return frozenset(t.of_relation for t in self.walk() if t.of_relation is not None)

    @property
    def blocks(self) -> frozenset[str]:
        """The query blocks referred to."""
        return frozenset(t.of_block for t in self.walk() if t.of_block is not None)

    @property
    def is_polynomial(self) -> bool:
        """Return True if annotations of this type are polynomials, apart from the ones of
        blocks.
        """
        return all(t.in_polynomials for t in self.walk())

    @abstractmethod
    def __str__(self) -> str: ...


def factor_text(part: AnnotationType) -> str:
    """Return a type's text as a factor."""
    return f"({part})" if part.in_parentheses else str(part)


def check_name(name: object, what: str) -> None:
    """Raise AnnotationError unless `name` is a non-empty string."""
    if not isinstance(name, str) or not name:
        raise AnnotationError(f"{what} is named by a non-empty string, not {name!r}")


def check_strings(items: object, what: str) -> None:
    """Raise AnnotationError unless `items` is a tuple of strings."""
    if not isinstance(items, tuple) or not all(isinstance(item, str) for item in items):
        raise AnnotationError(f"{what} must be a tuple of strings, not {items!r}")


def check_parts(parts: object, what: str, least: int) -> None:
    """Raise AnnotationError unless `parts` is a tuple of types that may be factors."""
    if not isinstance(parts, tuple) or len(parts) < least:
        raise AnnotationError(f"{what} needs a tuple of at least {least} annotation types")
    for part in parts:
        if not isinstance(part, AnnotationType) or part.is_operand:
            raise AnnotationError(f"{part!r} cannot be a part of {what}")
