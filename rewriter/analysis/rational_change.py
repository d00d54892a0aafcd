"""The change of a scalar, which follows from the changes of the columns that it reads, exactly.

A scalar made of columns by +, -, * and / changes by the sum of its columns' changes, each times a
*slope*: products and quotients change by the mean of both orders in which their two sides may
change, ``Δ(uv) = ū Δv + v̄ Δu`` and ``Δ(u/v) = Δu · mean(1/v) - ū Δv / (v0 v1)``, with the means of
before and after under bars. This is the Shapley value of two factors, and the indicator of Bennet
(1920) in the theory of index numbers; it adds up exactly, in rational numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from sqlglot import exp

from rewriter.algebra import Scalar

_WRAPPERS = (exp.Cast, exp.TryCast, exp.Round, exp.Paren)
"""Operators that change a number only by rounding."""


@dataclass(frozen=True, slots=True)
class RationalChange:
    """A number before and after, and its slopes by name.

    The sum of slopes, each times the change of its column, is ``after - before``.
    """

    before: Fraction
    after: Fraction
    slopes: Mapping[str, Fraction] = field(default_factory=dict)

    def __add__(self, other: RationalChange) -> RationalChange:
        return self._combined(
            other, self.before + other.before, self.after + other.after, Fraction(1), Fraction(1)
        )

    def __neg__(self) -> RationalChange:
        slopes = {name: -slope for name, slope in self.slopes.items()}
        return RationalChange(-self.before, -self.after, slopes)

    def __sub__(self, other: RationalChange) -> RationalChange:
        return self + -other

    def __mul__(self, other: RationalChange) -> RationalChange:
        return self._combined(
            other,
            self.before * other.before,
            self.after * other.after,
            (other.before + other.after) / 2,
            (self.before + self.after) / 2,
        )

    def __truediv__(self, other: RationalChange) -> RationalChange:
        """Return the quotient; a divisor that is 0 on one side is replaced by that of the other
        side.

        A group that is empty on one side has sums of 0 there, and so a quotient of 0.
        """
        before, after = other.before or other.after, other.after or other.before
        if not before:
            return RationalChange(Fraction(0), Fraction(0))
        slope = Fraction(0)
        if other.before and other.after:
            slope = -(self.before + self.after) / (2 * before * after)
        return self._combined(
            other,
            self.before / before,
            self.after / after,
            (1 / before + 1 / after) / 2,
            slope,
        )

    def _combined(
        self,
        other: RationalChange,
        before: Fraction,
        after: Fraction,
        own: Fraction,
        others: Fraction,
    ) -> RationalChange:
        """Return a number whose change is a weighted sum of two changes."""
        slopes = {name: slope * own for name, slope in self.slopes.items()}
        for name, slope in other.slopes.items():
            slopes[name] = slopes.get(name, Fraction(0)) + slope * others
        return RationalChange(before, after, slopes)


def change_of(
    scalar: Scalar, column: Callable[[str, str], RationalChange | None]
) -> RationalChange | None:
    """Return the change of a scalar, given the changes of its columns by alias and name.

    Casts and roundings are ignored, and so are defaults for NULL: an empty sum is 0.

    Returns
    -------
    RationalChange or None
        None for scalars that are not rational functions of their columns.
    """
    match scalar:
        case exp.Column():
            return column(scalar.table, scalar.name)
        case exp.Literal(is_string=False):
            number = Fraction(scalar.this)
            return RationalChange(number, number)
        case exp.Coalesce():
            # coalesce(x, 0): a missing number counts as 0 here, too.
            others = [each for each in scalar.expressions if isinstance(each, exp.Literal)]
            if len(others) == len(scalar.expressions) and all(o.this == "0" for o in others):
                return change_of(scalar.this, column)
            return None
        case exp.Nullif():
            return change_of(scalar.this, column) if _is_zero(scalar.expression) else None
        case exp.Neg():
            inner = change_of(scalar.this, column)
            return None if inner is None else -inner
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div():
            left, right = change_of(scalar.left, column), change_of(scalar.right, column)
            if left is None or right is None:
                return None
            if isinstance(scalar, exp.Add):
                return left + right
            if isinstance(scalar, exp.Sub):
                return left - right
            return left * right if isinstance(scalar, exp.Mul) else left / right
    if isinstance(scalar, _WRAPPERS) and _keeps_numbers(scalar):
        return change_of(scalar.this, column)
    return None


def _is_zero(scalar: Scalar) -> bool:
    return isinstance(scalar, exp.Literal) and scalar.this == "0"


def _keeps_numbers(scalar: Scalar) -> bool:
    if not isinstance(scalar, exp.Cast):
        return True
    return bool(scalar.to.is_type(*exp.DataType.NUMERIC_TYPES))
