"""Operations on annotations of any form."""

from __future__ import annotations

from semiring.expression.terms import Expression, Operand
from semiring.polynomial import Polynomial


def delta(annotation: Operand) -> Expression:
    """Return δ of any annotation."""
    return Expression.of(annotation).delta()


def monus(left: Operand, right: Operand) -> Expression:
    """Return left ⊖ right of any annotations."""
    return Expression.of(left).monus(right)


def simplify(annotation: Expression | Polynomial) -> Expression | Polynomial:
    """Return an annotation as a polynomial if it is one, else as an expression."""
    return annotation.to_polynomial() if annotation.is_polynomial else annotation
