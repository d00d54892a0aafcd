"""Annotations with δ, ⊖ and comparisons: expressions over a semiring with those operations.

Sources: Amsterdamer, Deutch, Tannen, *Provenance for Aggregate Queries*, PODS 2011 (δ, comparisons
of tensors); Geerts, Poggi, J. Applied Logic 2010 (⊖). Simplification uses only laws that hold in
every commutative δ-semiring with monus. In particular ⊖ is never taken coefficient by coefficient:
that does not commute with evaluation ((x + y) ⊖ x at x = y = 1 in B).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import gcd
from typing import Any, ClassVar, TypeAlias, TypeVar

from semiring.base import SemimoduleElement, Semiring
from semiring.errors import AnnotationError
from semiring.expression.node import Node, init
from semiring.monomials import Monomial
from semiring.polynomial import Polynomial
from semiring.support.render import Style, join_terms, left_out
from semiring.token import Token

K = TypeVar("K")


class Expression(Node):
    """An immutable expression in canonical form.

    Sums and products are flattened, sorted and merged (x + x = 2·x, x·x = x²), units dropped,
    0 annihilates; δ(0) = 0, δ(n) = 1 for n ≥ 1, δ(δ(x)) = δ(x); δ(x·c) = δ(x)·c and c·c = c for
    a comparison c, and the value of an empty tensor is known; x ⊖ 0 = x, 0 ⊖ x = 0, x ⊖ x = 0.
    Equality is that of canonical forms: products are not multiplied out, so equal expressions
    are equal in every semiring but not conversely. Polynomials, tokens and non-negative integers
    are accepted wherever an expression is.
    """

    __slots__ = ()

    is_truth_value: ClassVar[bool] = False
    """True if this is 0 or 1 in every semiring, so that δ(x) = x and x·x = x."""

    is_prime: ClassVar[bool] = True
    """True if this is neither a constant nor a product nor a sum."""

    # -- construction ------------------------------------------------------------------------

    @staticmethod
    def of(value: Operand) -> Expression:
        """Return an expression, polynomial, token or non-negative integer as an expression."""
        if type(value) is not Polynomial and isinstance(value, Expression):
            return value
        if isinstance(value, Token):
            return Atom(value)
        if isinstance(value, int):
            return Constant(int(value))
        if isinstance(value, Polynomial):
            if len(value.terms) == 1:
                ((monomial, coefficient),) = value.terms
                return _monomial(monomial, coefficient)
            return sum_of(
                (_monomial(monomial, 1), coefficient) for monomial, coefficient in value.terms
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
        """Return the n-fold sum of 1, n ≥ 0."""
        return Constant(n)

    @staticmethod
    def token(token: Token) -> Expression:
        """Return the expression of a single token."""
        return Atom(token)

    def delta(self) -> Expression:
        """Return δ(self): duplicate elimination."""
        constant = self.constant_value()
        if constant is not None:
            return Constant(min(constant, 1))
        if isinstance(self, Product):
            # Where c is 0 or 1, δ(x·c) = δ(x)·c.
            compared = [item for item in self.factors if item[0].is_truth_value]
            if compared:
                rest = product_of(item for item in self.factors if item not in compared)
                return product_of((*compared, (rest.delta(), 1)))
        return self if self.is_truth_value or isinstance(self, Delta) else Delta(self)

    def monus(self, other: Operand) -> Expression:
        """Return self ⊖ other."""
        right = Expression.of(other)
        m, n = self.constant_value(), right.constant_value()
        if self == right or m == 0 or (m is not None and n is not None and m <= n):
            return Constant(0)
        return self if n == 0 else Monus(self, right)

    def __add__(self, other: Operand) -> Expression:
        return sum_of(((self, 1), (Expression.of(other), 1)))

    __radd__ = __add__

    def __mul__(self, other: Operand) -> Expression:
        if isinstance(other, SemimoduleElement):
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
    def terms(self) -> tuple[tuple[Expression, int], ...]:
        """The summands with their multiplicities."""
        return ((self, 1),)

    def _first(self, limit: int | None) -> Sequence[tuple[Expression, int]]:
        """Return the first summands, in canonical order, with their multiplicities."""
        return self.terms[:limit]

    def summands_apart(self, limit: int | None = None) -> list[Expression]:
        """Return the first summands with multiplicities, each as an expression; None: all."""
        return [summand if n == 1 else summand * n for summand, n in self._first(limit)]


Operand: TypeAlias = Expression | Polynomial | Token | int


class Constant(Expression):
    """The n-fold sum of 1."""

    __slots__ = ("n",)
    n: int
    rank = 0
    is_prime = False

    def __init__(self, n: int) -> None:
        if not isinstance(n, int) or n < 0:
            raise AnnotationError(f"constants of annotations are non-negative integers: {n!r}")
        init(self, n=n)

    def _make_key(self) -> tuple[Any, ...]:
        return (self.rank, self.n)

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
        init(self, of_token=token)

    def _make_key(self) -> tuple[Any, ...]:
        return (self.rank, self.of_token.sort_key)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Atom, (self.of_token,))

    @property
    def _inner(self) -> Iterable[Any]:
        return (self.of_token,)

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


class Product(Expression):
    """Factors with exponents; built by `product_of`."""

    __slots__ = ("factors",)
    factors: tuple[tuple[Expression, int], ...]
    rank = 2
    is_prime = False

    def __init__(self, factors: tuple[tuple[Expression, int], ...]) -> None:
        init(self, factors=factors)

    def _make_key(self) -> tuple[Any, ...]:
        return (self.rank, tuple((factor.sort_key, n) for factor, n in self.factors))

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
    is_prime = False

    def __init__(self, summands: tuple[tuple[Expression, int], ...]) -> None:
        init(self, summands=summands)

    def _make_key(self) -> tuple[Any, ...]:
        return (self.rank, tuple((summand.sort_key, n) for summand, n in self.summands))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Sum, (self.summands,))

    @property
    def terms(self) -> tuple[tuple[Expression, int], ...]:
        return self.summands

    @property
    def size(self) -> int:
        """The number of different summands."""
        return len(self.summands)

    @property
    def children(self) -> tuple[Expression, ...]:
        return tuple(summand for summand, _ in self.summands)

    @property
    def is_factor(self) -> bool:
        return self.size == 1

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
        for summand, n in self._first(limit):
            if isinstance(summand, Constant):
                shown.append(str(n * summand.n))
            else:
                text = summand._factor_text(style, limit)
                shown.append(text if n == 1 else f"{n}{style.dot}{text}")
        hidden = self.size - len(shown)
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
        init(self, operand=operand)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Delta, (self.operand,))

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.operand,)

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
        init(self, left=left, right=right)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Monus, (self.left, self.right))

    @property
    def children(self) -> tuple[Expression, ...]:
        return (self.left, self.right)

    @property
    def is_factor(self) -> bool:
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


def sum_of(terms: Iterable[tuple[Expression, int]]) -> Expression:
    """Return the sum of expressions with multiplicities, in canonical form."""
    merged: dict[Expression, int] = {}
    for expression, multiplicity in terms:
        if multiplicity and (expression.is_prime or expression.rank == Product.rank):
            merged[expression] = merged.get(expression, 0) + multiplicity
            continue
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
    """Return the product of expressions with exponents, in canonical form.

    The integer content of every factor is moved to the front, so that 2·(x·y) = (2·x)·y.
    """
    content, merged = 1, dict[Expression, int]()
    for expression, exponent in factors:
        if exponent == 0:
            continue
        if expression.is_prime:
            power = merged.get(expression, 0) + exponent
            merged[expression] = 1 if expression.is_truth_value else power
            continue
        primitive = expression
        if not isinstance(expression, Product):
            if expression.is_zero:
                return Constant(0)
            common = _content(expression)
            content *= common**exponent
            if common > 1:
                primitive = sum_of((summand, n // common) for summand, n in expression.terms)
        inner = primitive.factors if isinstance(primitive, Product) else ((primitive, 1),)
        for factor, n in inner:
            if not isinstance(factor, Constant):
                power = merged.get(factor, 0) + n * exponent
                merged[factor] = 1 if factor.is_truth_value else power
    ordered = tuple(sorted(merged.items(), key=lambda item: item[0].sort_key))
    if not ordered:
        return Constant(content)
    single = len(ordered) == 1 and ordered[0][1] == 1
    result = ordered[0][0] if single else Product(ordered)
    return sum_of(((result, content),)) if content > 1 else result


def _content(expression: Expression) -> int:
    """Return the greatest common divisor of the multiplicities of the summands."""
    common = 0
    for _, n in expression.terms:
        common = gcd(common, n)
        if common == 1:
            break
    return common


def _monomial(monomial: Monomial, coefficient: int) -> Expression:
    """Return a monomial with a coefficient; its tokens are in the order of atoms."""
    if not monomial:
        return Constant(coefficient)
    ((token, power), *more) = monomial
    single = not more and power == 1
    result = Atom(token) if single else Product(tuple((Atom(t), n) for t, n in monomial))
    return Sum(((result, coefficient),)) if coefficient > 1 else result


def delta(annotation: Operand) -> Expression:
    """Return δ of any annotation."""
    return Expression.of(annotation).delta()


def monus(left: Operand, right: Operand) -> Expression:
    """Return left ⊖ right of any annotations."""
    return Expression.of(left).monus(right)


def simplify(annotation: Expression | Polynomial) -> Expression | Polynomial:
    """Return an annotation as a polynomial if it is one, else as an expression."""
    return annotation.to_polynomial() if annotation.is_polynomial else annotation
