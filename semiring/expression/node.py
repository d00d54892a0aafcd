"""The base class of expression nodes: key, parts, evaluation and text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from semiring.base import Semiring, TokenValuation, token_values
from semiring.errors import CapabilityError
from semiring.polynomial import Polynomial, name_tokens
from semiring.support.render import LATEX, PRINTED_TERMS, REPR_TERMS, TEXT, Style, html_code
from semiring.token import Token, tokens_of

if TYPE_CHECKING:
    from semiring.expression.terms import Expression

K = TypeVar("K")


class Read(Protocol):
    """A circuit from which annotations are read, gate by gate."""

    def tokens(self, gates: list[int]) -> frozenset[Token]:
        """Return the tokens below some gates."""


class Node(ABC):
    """An immutable node, compared and sorted by its key."""

    __slots__ = ("_hash", "_key", "origin")

    _key: tuple[Any, ...]
    _hash: int
    origin: tuple[Read, int]
    """The circuit and the gate that this was read from, if it was read as a whole."""
    rank: ClassVar[int]
    """The position of its kind in the canonical order; kinds from 4 on are in no polynomial."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an Expression is immutable")

    # -- inspection --------------------------------------------------------------------------

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """The key of equality and of the canonical order, computed lazily."""
        try:
            return self._key
        except AttributeError:
            key = self._make_key()
            object.__setattr__(self, "_key", key)
            return key

    def _make_key(self) -> tuple[Any, ...]:
        return (self.rank, *(child.sort_key for child in self.children))

    @property
    def children(self) -> tuple[Expression, ...]:
        """The direct subexpressions."""
        return ()

    @property
    def tokens(self) -> frozenset[Token]:
        """The tokens that occur, including those inside compared tensors."""
        if origin := getattr(self, "origin", None):
            reading, gate = origin
            tokens: frozenset[Token] = reading.tokens([gate])
            return tokens
        return tokens_of(self._inner)

    @property
    def _inner(self) -> Iterable[Any]:
        """The annotations, operands and tokens that the node is built from."""
        return self.children

    @property
    def degree(self) -> int:
        """The largest number of token factors in a product, δ and ⊖ as their operands."""
        return max((child.degree for child in self.children), default=0)

    @property
    def is_zero(self) -> bool:
        """True if this is 0 in every semiring by the laws applied."""
        return self.constant_value() == 0

    @property
    def is_factor(self) -> bool:
        """True if the text needs no parentheses beside a · or ⊗."""
        return True

    @property
    def is_polynomial(self) -> bool:
        """True if neither δ nor ⊖ nor a comparison occurs."""
        return self.rank < 4 and all(child.is_polynomial for child in self.children)

    def constant_value(self) -> int | None:
        """n if this is the constant n, else None."""
        return None

    def to_polynomial(self) -> Polynomial:
        """Return this expression multiplied out in N[X].

        Raises
        ------
        CapabilityError
            If δ, ⊖ or a comparison occurs.
        """
        if not self.is_polynomial:
            raise CapabilityError(
                f"{self.truncated(3)} is not a polynomial: it has δ, ⊖ or a comparison;"
                " evaluate it in a semiring instead"
            )
        return self._polynomial()

    def _polynomial(self) -> Polynomial:
        raise NotImplementedError

    # -- evaluation --------------------------------------------------------------------------

    def evaluate(self, semiring: Semiring[K], valuation: TokenValuation[K] = None) -> K:
        """Return the value in K under a valuation of the tokens; see `Polynomial.evaluate`.

        Raises
        ------
        CapabilityError
            The semiring lacks a monus, or a value for a compared tensor, that occurs here.
        ValuationError
            A token has no value, or one outside the carrier.
        """
        return self._evaluate(semiring, token_values(semiring, valuation))

    @abstractmethod
    def _evaluate(self, semiring: Semiring[K], value: Any) -> K: ...

    @abstractmethod
    def delete(self, tokens: Collection[Token]) -> Expression:
        """Return this expression with `tokens` replaced by 0."""

    # -- text --------------------------------------------------------------------------------

    @abstractmethod
    def _text(self, style: Style, limit: int | None) -> str: ...

    def _factor_text(self, style: Style, limit: int | None) -> str:
        text = self._text(style, limit)
        return text if self.is_factor else f"({text})"

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        """Return the text with at most `limit` terms of every sum and the number of omitted
        ones; None: all.
        """
        return self._text(TEXT, limit)

    def __str__(self) -> str:
        return self._text(TEXT, PRINTED_TERMS)

    def __repr__(self) -> str:
        return f"Expression({self.truncated()})"

    def _repr_html_(self) -> str:
        return html_code(self.truncated())

    def _repr_latex_(self) -> str:
        return "$" + self._text(LATEX, REPR_TERMS) + "$"

    def to_sympy(self) -> Any:
        """Return this expression in sympy.

        Tokens become symbols, ``delta`` and ``monus`` functions, and a comparison a symbol named by
        its text.
        """
        name_tokens(self.tokens)
        return self._sympy()

    def _sympy(self) -> Any:
        import sympy

        return sympy.Symbol(self.truncated(None))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Node):
            if self is other:
                return True
            return hash(self) == hash(other) and self.sort_key == other.sort_key
        return NotImplemented

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash(self.sort_key))
            return self._hash


def init(node: Node, **fields: Any) -> None:
    """Set the fields of a node under construction."""
    for name, value in fields.items():
        object.__setattr__(node, name, value)
