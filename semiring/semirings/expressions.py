"""The algebra of annotations themselves: polynomials, and expressions where δ, ⊖ or [op] occur."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from semiring.base import Semiring
from semiring.errors import AnnotationError, ValuationError
from semiring.expression import Constant, Expression, compare, delta, monus, simplify, sum_of
from semiring.polynomial import Polynomial
from semiring.token import Token

Annotation: TypeAlias = Polynomial | Expression


def _formal(expression: Any) -> Annotation:
    """Return an expression that is a constant or no polynomial, in normal form."""
    return simplify(expression) if expression.rank == Constant.rank else expression


class Expressions(Semiring[Annotation]):
    """Symbolic annotations: an element is a `Polynomial` if it has no δ, ⊖ or comparison, else an
    `Expression`. A token is itself by default; tensors stay tensors.

    The laws hold up to evaluation in any semiring. As *equality* they hold on polynomials only,
    because products of expressions are not multiplied out.
    """

    name = "Expressions"
    has_monus = True
    symbolic = True
    capabilities = frozenset({"SUM", "COUNT", "MIN", "MAX", "AVG"})
    zero: Annotation = Polynomial.zero()
    one: Annotation = Polynomial.one()

    def plus(self, a: Annotation, b: Annotation) -> Annotation:
        return simplify(a + b)

    def times(self, a: Annotation, b: Annotation) -> Annotation:
        if isinstance(a, Polynomial):
            if isinstance(b, Polynomial):
                return a * b
            a, b = b, a
        if isinstance(b, Polynomial) and b.is_one:
            return a
        return _formal(a * b)

    def delta(self, a: Annotation) -> Annotation:
        return _formal(delta(a))

    def monus(self, a: Annotation, b: Annotation) -> Annotation:
        return simplify(monus(a, b))

    def compare(self, op: str, left: Any, right: Any) -> Annotation:
        return simplify(compare(op, left, right))

    def is_zero(self, a: Annotation) -> bool:
        return a.is_zero

    def default(self, token: Token) -> Annotation:
        return Polynomial.token(token)

    def from_int(self, n: int) -> Annotation:
        return Polynomial.constant(n)

    def repeat(self, a: Annotation, n: int) -> Annotation:
        return a * n

    def power(self, a: Annotation, n: int) -> Annotation:
        return simplify(a**n)

    def sum(self, values: Iterable[Annotation]) -> Annotation:
        items = list(values)
        if len(items) == 1:
            return items[0]
        polynomial = Polynomial.sum(item for item in items if isinstance(item, Polynomial))
        rest = [item for item in items if isinstance(item, Expression)]
        if not rest:
            return polynomial
        return simplify(sum_of((item, 1) for item in (Expression.of(polynomial), *rest)))

    def check(self, value: Any) -> Annotation:
        if isinstance(value, Polynomial):
            return value
        try:
            return simplify(Expression.of(value))
        except AnnotationError as error:
            raise ValuationError(
                f"{value!r} is not a value of Expressions; use an annotation or a token"
            ) from error


def replaced(annotation: Annotation, of: Callable[[Token], Annotation]) -> Annotation:
    """Return an annotation with its tokens replaced."""
    return annotation.evaluate(Expressions(), of)
