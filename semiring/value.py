"""Values that depend on the presence of tuples: elements of K⊗M, and functions of them.

A *formal value* has a plain value in every world, a database without some of its tuples. Tensors
are formal values; so are functions of tensors, the value of a subquery that may have no row, and
that of a window function. Source: Amsterdamer, Deutch, Tannen, *Provenance for Aggregate Queries*,
PODS 2011, section 4 (values of nested aggregates, comparisons of them).
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from semiring.base import Semiring, TokenValuation
from semiring.polynomial import Polynomial
from semiring.support.render import PRINTED_TERMS, REPR_TERMS, html_code
from semiring.token import Token, format_value, normal_value, order_key

if TYPE_CHECKING:
    from semiring.expression.terms import Expression

    Annotation: TypeAlias = Polynomial | Expression

K = TypeVar("K")

Operand: TypeAlias = Any
"""A `Value`, or a plain Python value, with None for NULL."""

Substitution: TypeAlias = "Callable[[Token], Annotation]"
"""A function from a token to the annotation that replaces it."""


class Value(ABC):
    """An immutable formal value; its key determines equality and order."""

    __slots__ = ()

    @property
    @abstractmethod
    def tokens(self) -> frozenset[Token]:
        """The tokens that occur."""

    @property
    def has_tokens(self) -> bool:
        """True if some token occurs."""
        return bool(self.tokens)

    @property
    @abstractmethod
    def sort_key(self) -> tuple[Any, ...]:
        """The key of equality and of a deterministic order of formal values."""

    @abstractmethod
    def substituted(self, of: Substitution) -> Operand:
        """Return this value with its tokens replaced; a plain value once known."""

    @abstractmethod
    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        """Return the text with at most `limit` terms of every sum and the number of omitted
        ones; None: all.
        """

    @abstractmethod
    def evaluate(self, semiring: Semiring[K], valuation: TokenValuation[K] = None) -> Any:
        """Return the plain value under a valuation; None is NULL. Formal in a symbolic semiring.

        Raises
        ------
        CapabilityError
            A token has a value other than 0 and 1, and the semiring does not count.
        ValuationError
            A token has no value, or one outside the carrier.
        """

    def delete(self, tokens: Collection[Token]) -> Operand:
        """Return the image under the homomorphism that sends `tokens` to 0 and fixes the others."""
        gone, zero = frozenset(tokens), Polynomial.zero()
        return self.substituted(lambda token: zero if token in gone else Polynomial.token(token))

    def __str__(self) -> str:
        return self.truncated(PRINTED_TERMS)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.truncated()})"

    def _repr_html_(self) -> str:
        return html_code(self.truncated())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Value):
            return NotImplemented
        return self.sort_key == other.sort_key

    def __hash__(self) -> int:
        return hash(self.sort_key)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable")


# -- operands --------------------------------------------------------------------------------


def known(operand: Operand) -> Operand:
    """Return the plain value of an operand without tokens; other operands unchanged."""
    if isinstance(operand, Value) and not operand.has_tokens:
        from semiring.semirings.counting import Counting

        return operand.evaluate(Counting())
    return operand


def substituted(operand: Operand, of: Substitution) -> Operand:
    """Return an operand with its tokens replaced."""
    return known(operand.substituted(of)) if isinstance(operand, Value) else operand


def operand_key(operand: Operand) -> tuple[Any, ...]:
    """Return a key that orders operands, plain values before formal ones."""
    if isinstance(operand, Value):
        return (1, operand.sort_key)
    return (0, order_key(normal_value(operand)))


def operand_text(operand: Operand, limit: int | None) -> str:
    """Return an operand as text."""
    return operand.truncated(limit) if isinstance(operand, Value) else format_value(operand)


def called(operand: Operand, limit: int | None) -> str:
    """Return the text of an operand inside another text: a tensor with the name of its
    aggregate.
    """
    named = getattr(operand, "called", None)
    return operand_text(operand, limit) if named is None else str(named(limit))


def digest(*parts: Any) -> str:
    """Return a short text that identifies annotations, operands and texts."""
    shown = (_canonical(part) for part in parts)
    return hashlib.blake2b("\x00".join(shown).encode(), digest_size=16).hexdigest()


def _canonical(part: Any) -> str:
    if isinstance(part, Value):
        return f"v{part.sort_key!r}"
    if isinstance(part, Polynomial):
        return f"p{part.truncated(None)}"
    key = getattr(part, "sort_key", None)
    return f"k{order_key(normal_value(part))!r}" if key is None else f"e{key!r}"
