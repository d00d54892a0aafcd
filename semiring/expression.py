"""Annotations with δ, ⊖ and comparisons: expressions over a semiring with those operations.

Sources: Amsterdamer, Deutch, Tannen, *Provenance for Aggregate Queries*, PODS 2011 (δ, comparisons
of tensors); Geerts, Poggi, J. Applied Logic 2010 (⊖). Simplification uses only laws that hold in
every commutative δ-semiring with monus. In particular ⊖ is never taken coefficient by coefficient:
that does not commute with evaluation ((x + y) ⊖ x at x = y = 1 in B).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from math import gcd
from typing import Any, ClassVar, TypeAlias, TypeVar

from semiring.base import Semiring, TokenValuation, token_values
from semiring.comparison import FLIPPED, check_operator, compare_values
from semiring.errors import AnnotationError, CapabilityError
from semiring.polynomial import Polynomial, name_tokens
from semiring.render import (
    LATEX,
    PRINTED_TERMS,
    REPR_TERMS,
    TEXT,
    Style,
    html_code,
    join_terms,
    left_out,
)
from semiring.tensor import Tensor
from semiring.token import Token, format_value, normal_value, order_key

K = TypeVar("K")


class Expression(ABC):
    """An immutable expression in canonical form.

    Sums and products are flattened, sorted and merged (x + x = 2·x, x·x = x²), units dropped,
    0 annihilates; δ(0) = 0, δ(n) = 1 for n ≥ 1, δ(δ(x)) = δ(x); δ(x·c) = δ(x)·c and c·c = c for
    a comparison c, and the value of an empty tensor is known; x ⊖ 0 = x, 0 ⊖ x = 0, x ⊖ x = 0.
    Equality is that of canonical forms: products are not multiplied out, so equal expressions
    are equal in every semiring but not conversely. Polynomials, tokens and non-negative integers
    are accepted wherever an expression is.
    """

    __slots__ = ("_key",)

    _key: tuple[Any, ...]
    rank: ClassVar[int]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an Expression is immutable")

    # -- construction ------------------------------------------------------------------------

    @staticmethod
    def of(value: Operand) -> Expression:
        """An expression, polynomial, token or non-negative integer as an expression."""
        if isinstance(value, Expression):
            return value
        if isinstance(value, Token):
            return Atom(value)
        if isinstance(value, int):
            return Constant(int(value))
        if isinstance(value, Polynomial):
            return sum_of(
                (product_of((Atom(token), n) for token, n in monomial), coefficient)
                for monomial, coefficient in value.terms
            )
        raise AnnotationError(f"{type(value).__name__} {value!r} is not an annotation")

    @staticmethod
    def zero() -> Expression:
        """0."""
        return Constant(0)

    @staticmethod
    def one() -> Expression:
        """1."""
        return Constant(1)

    @staticmethod
    def constant(n: int) -> Expression:
        """The n-fold sum of 1, n ≥ 0."""
        return Constant(n)

    @staticmethod
    def token(token: Token) -> Expression:
        """A single token."""
        return Atom(token)

    def delta(self) -> Expression:
        """δ(self): duplicate elimination."""
        constant = self.constant_value()
        if constant is not None:
            return Constant(min(constant, 1))
        if isinstance(self, Product):
            # A comparison is 0 or 1, so δ(x·c) = δ(x)·c.
            compared = [item for item in self.factors if isinstance(item[0], Compare)]
            if compared:
                rest = product_of(item for item in self.factors if item not in compared)
                return product_of((*compared, (rest.delta(), 1)))
        return self if isinstance(self, (Delta, Compare)) else Delta(self)

    def monus(self, other: Operand) -> Expression:
        """self ⊖ other."""
        right = Expression.of(other)
        m, n = self.constant_value(), right.constant_value()
        if self == right or m == 0 or (m is not None and n is not None and m <= n):
            return Constant(0)
        return self if n == 0 else Monus(self, right)

    def __add__(self, other: Operand) -> Expression:
        return sum_of(((self, 1), (Expression.of(other), 1)))

    __radd__ = __add__

    def __mul__(self, other: Operand) -> Expression:
        if isinstance(other, Tensor):
            return NotImplemented
        return product_of(((self, 1), (Expression.of(other), 1)))

    def __rmul__(self, other: Operand) -> Expression:
        return self * other

    def __pow__(self, exponent: int) -> Expression:
        if exponent < 0:
            raise AnnotationError(f"annotations have no negative powers: {exponent}")
        return product_of(((self, exponent),))

    # -- inspection --------------------------------------------------------------------------

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """The key of equality and of the canonical order."""
        return self._key

    @property
    def terms(self) -> tuple[tuple[Expression, int], ...]:
        """The summands with their multiplicities."""
        return ((self, 1),)

    @property
    def children(self) -> tuple[Expression, ...]:
        """The direct subexpressions."""
        return ()

    @property
    def tokens(self) -> frozenset[Token]:
        """The tokens that occur, those inside compared tensors included."""
        return frozenset().union(*(child.tokens for child in self.children))

    @property
    def degree(self) -> int:
        """The largest number of token factors in a product, δ and ⊖ as their operands."""
        return max((child.degree for child in self.children), default=0)

    @property
    def is_zero(self) -> bool:
        """Whether this is 0 in every semiring by the laws applied."""
        return self.constant_value() == 0

    @property
    def is_factor(self) -> bool:
        """Whether the text needs no parentheses beside a · or ⊗."""
        return True

    @property
    def is_polynomial(self) -> bool:
        """Whether neither δ nor ⊖ nor a comparison occurs."""
        return all(child.is_polynomial for child in self.children)

    def constant_value(self) -> int | None:
        """n if this is the constant n, else None."""
        return None

    def to_polynomial(self) -> Polynomial:
        """This expression multiplied out in N[X].

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
        """The value in K under a valuation of the tokens; see `Polynomial.evaluate`.

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
        """This expression with `tokens` replaced by 0."""

    # -- text --------------------------------------------------------------------------------

    @abstractmethod
    def _text(self, style: Style, limit: int | None) -> str: ...

    def _factor_text(self, style: Style, limit: int | None) -> str:
        text = self._text(style, limit)
        return text if self.is_factor else f"({text})"

    def truncated(self, limit: int | None = REPR_TERMS) -> str:
        """The text with at most `limit` terms of every sum, saying how many are left out."""
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
        """This expression in sympy: tokens as symbols, ``delta`` and ``monus`` as functions, a
        comparison as a symbol named by its text.

        Raises
        ------
        AnnotationError
            If two tokens have the same text.
        """
        name_tokens(self.tokens)
        return self._sympy()

    @abstractmethod
    def _sympy(self) -> Any: ...

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Expression):
            return self._key == other._key
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)


Operand: TypeAlias = Expression | Polynomial | Token | int


def _init(node: Expression, **fields: Any) -> None:
    for name, value in fields.items():
        object.__setattr__(node, name, value)


class Constant(Expression):
    """The n-fold sum of 1."""

    __slots__ = ("n",)
    n: int
    rank = 0

    def __init__(self, n: int) -> None:
        if not isinstance(n, int) or n < 0:
            raise AnnotationError(f"constants of annotations are non-negative integers: {n!r}")
        _init(self, n=n, _key=(self.rank, n))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Constant, (self.n,))

    @property
    def terms(self) -> tuple[tuple[Expression, int], ...]:
        return ((Constant(1), self.n),) if self.n else ()

    def constant_value(self) -> int:
        return self.n

    def _polynomial(self) -> Polynomial:
        return Polynomial.constant(self.n)

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        return semiring.from_int(self.n)

    def delete(self, tokens: Collection[Token]) -> Expression:
        return self

    def _text(self, style: Style, limit: int | None) -> str:
        return str(self.n)

    def _sympy(self) -> Any:
        import sympy

        return sympy.Integer(self.n)


class Atom(Expression):
    """A single token."""

    __slots__ = ("of_token",)
    of_token: Token
    rank = 1

    def __init__(self, token: Token) -> None:
        _init(self, of_token=token, _key=(self.rank, token.sort_key))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Atom, (self.of_token,))

    @property
    def tokens(self) -> frozenset[Token]:
        return frozenset((self.of_token,))

    @property
    def degree(self) -> int:
        return 1

    def _polynomial(self) -> Polynomial:
        return Polynomial.token(self.of_token)

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        result: K = value(self.of_token)
        return result

    def delete(self, tokens: Collection[Token]) -> Expression:
        return Constant(0) if self.of_token in tokens else self

    def _text(self, style: Style, limit: int | None) -> str:
        return style.word(str(self.of_token))

    def _sympy(self) -> Any:
        import sympy

        return sympy.Symbol(str(self.of_token))


class Product(Expression):
    """Factors with exponents; built by `product_of`."""

    __slots__ = ("factors",)
    factors: tuple[tuple[Expression, int], ...]
    rank = 2

    def __init__(self, factors: tuple[tuple[Expression, int], ...]) -> None:
        key = (self.rank, tuple((factor.sort_key, n) for factor, n in factors))
        _init(self, factors=factors, _key=key)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Product, (self.factors,))

    @property
    def children(self) -> tuple[Expression, ...]:
        return tuple(factor for factor, _ in self.factors)

    @property
    def degree(self) -> int:
        return sum(factor.degree * n for factor, n in self.factors)

    def _polynomial(self) -> Polynomial:
        result = Polynomial.one()
        for factor, n in self.factors:
            result = result * factor._polynomial() ** n
        return result

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        return semiring.product(
            semiring.power(factor._evaluate(semiring, value), n) for factor, n in self.factors
        )

    def delete(self, tokens: Collection[Token]) -> Expression:
        return product_of((factor.delete(tokens), n) for factor, n in self.factors)

    def _text(self, style: Style, limit: int | None) -> str:
        return style.dot.join(
            factor._factor_text(style, limit) + style.power(n) for factor, n in self.factors
        )

    def _sympy(self) -> Any:
        import sympy

        return sympy.Mul(*(sympy.Pow(factor._sympy(), n) for factor, n in self.factors))


class Sum(Expression):
    """Summands with multiplicities; built by `sum_of`."""

    __slots__ = ("summands",)
    summands: tuple[tuple[Expression, int], ...]
    rank = 3

    def __init__(self, summands: tuple[tuple[Expression, int], ...]) -> None:
        key = (self.rank, tuple((summand.sort_key, n) for summand, n in summands))
        _init(self, summands=summands, _key=key)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sum, (self.summands,))

    @property
    def terms(self) -> tuple[tuple[Expression, int], ...]:
        return self.summands

    @property
    def children(self) -> tuple[Expression, ...]:
        return tuple(summand for summand, _ in self.summands)

    @property
    def is_factor(self) -> bool:
        return len(self.summands) == 1

    def _polynomial(self) -> Polynomial:
        return Polynomial.sum(summand._polynomial() * n for summand, n in self.summands)

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        return semiring.sum(
            semiring.repeat(summand._evaluate(semiring, value), n) for summand, n in self.summands
        )

    def delete(self, tokens: Collection[Token]) -> Expression:
        return sum_of((summand.delete(tokens), n) for summand, n in self.summands)

    def _text(self, style: Style, limit: int | None) -> str:
        shown = []
        for summand, n in self.summands[:limit]:
            if isinstance(summand, Constant):
                shown.append(str(n * summand.n))
            else:
                text = summand._factor_text(style, limit)
                shown.append(text if n == 1 else f"{n}{style.dot}{text}")
        hidden = len(self.summands) - len(shown)
        if hidden:
            shown.append(style.word(left_out(hidden)))
        return join_terms(shown, None)

    def _sympy(self) -> Any:
        import sympy

        return sympy.Add(*(n * summand._sympy() for summand, n in self.summands))


class Delta(Expression):
    """δ(x); built by `Expression.delta`."""

    __slots__ = ("operand",)
    operand: Expression
    rank = 4

    def __init__(self, operand: Expression) -> None:
        _init(self, operand=operand, _key=(self.rank, operand.sort_key))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Delta, (self.operand,))

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)

    @property
    def is_polynomial(self) -> bool:
        return False

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        return semiring.delta(self.operand._evaluate(semiring, value))

    def delete(self, tokens: Collection[Token]) -> Expression:
        return self.operand.delete(tokens).delta()

    def _text(self, style: Style, limit: int | None) -> str:
        sign = r"\delta" if style.latex else "δ"
        return f"{sign}({self.operand._text(style, limit)})"

    def _sympy(self) -> Any:
        import sympy

        return sympy.Function("delta")(self.operand._sympy())


class Monus(Expression):
    """a ⊖ b; built by `Expression.monus`."""

    __slots__ = ("left", "right")
    left: Expression
    right: Expression
    rank = 5

    def __init__(self, left: Expression, right: Expression) -> None:
        _init(self, left=left, right=right, _key=(self.rank, left.sort_key, right.sort_key))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Monus, (self.left, self.right))

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.left, self.right)

    @property
    def is_factor(self) -> bool:
        return False

    @property
    def is_polynomial(self) -> bool:
        return False

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        return semiring.monus(
            self.left._evaluate(semiring, value), self.right._evaluate(semiring, value)
        )

    def delete(self, tokens: Collection[Token]) -> Expression:
        return self.left.delete(tokens).monus(self.right.delete(tokens))

    def _text(self, style: Style, limit: int | None) -> str:
        sign = r" \ominus " if style.latex else " ⊖ "
        return sign.join(side._factor_text(style, limit) for side in (self.left, self.right))

    def _sympy(self) -> Any:
        import sympy

        return sympy.Function("monus")(self.left._sympy(), self.right._sympy())


class Compare(Expression):
    """[left op right] of tensors and constants: 1 where it is true, else 0; built by `compare`."""

    __slots__ = ("left", "op", "right")
    op: str
    left: Any
    right: Any
    rank = 6

    def __init__(self, op: str, left: Any, right: Any) -> None:
        key = (self.rank, op, *(_side_key(side) for side in (left, right)))
        _init(self, op=op, left=left, right=right, _key=key)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Compare, (self.op, self.left, self.right))

    @property
    def tokens(self) -> frozenset[Token]:
        tensors = (side for side in (self.left, self.right) if isinstance(side, Tensor))
        return frozenset().union(*(tensor.tokens for tensor in tensors))

    @property
    def is_polynomial(self) -> bool:
        return False

    def _evaluate(self, semiring: Semiring[K], value: Any) -> K:
        left, right = (
            side.evaluate(semiring, value) if isinstance(side, Tensor) else side
            for side in (self.left, self.right)
        )
        return semiring.compare(self.op, left, right)

    def delete(self, tokens: Collection[Token]) -> Expression:
        left, right = (
            side.delete(tokens) if isinstance(side, Tensor) else side
            for side in (self.left, self.right)
        )
        return compare(self.op, left, right)

    def _text(self, style: Style, limit: int | None) -> str:
        left, right = (_side_text(side, limit) for side in (self.left, self.right))
        return style.word(f"[{left} {self.op} {right}]")

    def _sympy(self) -> Any:
        import sympy

        return sympy.Symbol(self.truncated(None))


def _side_key(side: Any) -> tuple[Any, ...]:
    return (1, side.sort_key) if isinstance(side, Tensor) else (0, order_key(side))


def _side_text(side: Any, limit: int | None) -> str:
    if isinstance(side, Tensor):
        return f"{side.monoid}({side.truncated(limit)})"
    return format_value(side)


def sum_of(terms: Iterable[tuple[Expression, int]]) -> Expression:
    """The sum of expressions with multiplicities, in canonical form."""
    merged: dict[Expression, int] = {}
    for expression, multiplicity in terms:
        for summand, n in expression.terms:
            merged[summand] = merged.get(summand, 0) + n * multiplicity
    kept = [(summand, n) for summand, n in merged.items() if n]
    if not kept:
        return Constant(0)
    if len(kept) == 1:
        ((summand, n),) = kept
        if isinstance(summand, Constant):
            return Constant(summand.n * n)
        if n == 1:
            return summand
    return Sum(tuple(sorted(kept, key=lambda item: item[0].sort_key)))


def product_of(factors: Iterable[tuple[Expression, int]]) -> Expression:
    """The product of expressions with exponents, in canonical form.

    The integer content of every factor is taken out in front, so that 2·(x·y) = (2·x)·y.
    """
    content, merged = 1, dict[Expression, int]()
    for expression, exponent in factors:
        if exponent == 0:
            continue
        if expression.is_zero:
            return Constant(0)
        common = gcd(*(n for _, n in expression.terms))
        content *= common**exponent
        primitive = expression
        if common > 1:
            primitive = sum_of((summand, n // common) for summand, n in expression.terms)
        inner = primitive.factors if isinstance(primitive, Product) else ((primitive, 1),)
        for factor, n in inner:
            if not isinstance(factor, Constant):
                power = merged.get(factor, 0) + n * exponent
                merged[factor] = 1 if isinstance(factor, Compare) else power
    ordered = tuple(sorted(merged.items(), key=lambda item: item[0].sort_key))
    if not ordered:
        return Constant(content)
    single = len(ordered) == 1 and ordered[0][1] == 1
    result = ordered[0][0] if single else Product(ordered)
    return sum_of(((result, content),)) if content > 1 else result


def delta(annotation: Operand) -> Expression:
    """δ of any annotation."""
    return Expression.of(annotation).delta()


def monus(left: Operand, right: Operand) -> Expression:
    """left ⊖ right of any annotations."""
    return Expression.of(left).monus(right)


def compare(op: str, left: Any, right: Any) -> Expression:
    """[left op right], tensors first; two constants are compared at once.

    Parameters
    ----------
    op
        One of ``= <> < <= > >= <=>``.
    left, right
        A `Tensor`, or a plain value with None for NULL.

    Raises
    ------
    AnnotationError
        If the operator is unknown, or two constants cannot be compared.
    """
    check_operator(op)
    left, right = (
        side.monoid.over_empty if isinstance(side, Tensor) and side.is_zero else side
        for side in (left, right)
    )
    if not isinstance(left, Tensor):
        left = normal_value(left)
        if not isinstance(right, Tensor):
            return Constant(int(compare_values(op, left, normal_value(right))))
        return Compare(FLIPPED[op], right, left)
    return Compare(op, left, right if isinstance(right, Tensor) else normal_value(right))


def simplify(annotation: Expression | Polynomial) -> Expression | Polynomial:
    """A polynomial where the annotation is one, else the expression."""
    return annotation.to_polynomial() if annotation.is_polynomial else annotation
