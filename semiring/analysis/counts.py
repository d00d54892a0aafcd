"""How often a tuple is there, in many worlds at once."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from semiring.analysis.events import Annotation
from semiring.base import Array
from semiring.expression import Atom, Compare, Constant, Delta, Monus, Product, Sum
from semiring.polynomial import Polynomial
from semiring.semirings.counting import Counting
from semiring.tensor import Tensor
from semiring.token import Token

_COUNTING = Counting()
_EXACT = 2.0**53
"""Doubles are exact for integers below."""

_COMPARED = {
    "=": np.equal,
    "<>": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


class _InexactError(Exception):
    """Doubles do not do."""


def counts(annotation: Annotation, there: Mapping[Token, Array], length: int) -> Array:
    """The annotation evaluated in Counting, world by world.

    Parameters
    ----------
    there
        Per token a Boolean array: the worlds in which its tuple is.
    length
        The number of worlds.

    Returns
    -------
    Array
        Doubles that are integers, exactly. Numbers beyond 2⁵³, and comparisons of averages and of
        values that are no integers or decimals, are evaluated one world after the other.
    """
    try:
        return _counts(annotation, there, length)
    except _InexactError:
        return np.array(
            [
                annotation.evaluate(_COUNTING, {token: int(is_[i]) for token, is_ in there.items()})
                for i in range(length)
            ],
            dtype=np.float64,
        )


def most(annotation: Annotation) -> int:
    """A bound of the count, whichever tuples are there."""
    if isinstance(annotation, Polynomial):
        return sum(n for _, n in annotation.terms)
    if isinstance(annotation, Constant):
        return annotation.n
    if isinstance(annotation, Product):
        found = 1
        for factor, n in annotation.factors:
            found *= most(factor) ** n
        return found
    if isinstance(annotation, Sum):
        return sum(n * most(summand) for summand, n in annotation.summands)
    return most(annotation.left) if isinstance(annotation, Monus) else 1


def _counts(annotation: Annotation, there: Mapping[Token, Array], length: int) -> Array:
    found = np.zeros(length)
    if isinstance(annotation, Polynomial):
        for monomial, n in annotation.terms:
            present = np.ones(length, dtype=np.bool_)
            for token, _ in monomial:
                present &= there[token]
            found += n * present.astype(np.float64)
        return _checked(found)
    if isinstance(annotation, Constant):
        return _checked(found + annotation.n)
    if isinstance(annotation, Atom):
        return there[annotation.of_token].astype(np.float64)
    if isinstance(annotation, Product):
        found += 1
        for factor, n in annotation.factors:
            found = _checked(found * _checked(_counts(factor, there, length) ** n))
        return found
    if isinstance(annotation, Sum):
        for summand, n in annotation.summands:
            found += n * _counts(summand, there, length)
        return _checked(found)
    if isinstance(annotation, Delta):
        return (_counts(annotation.operand, there, length) > 0).astype(np.float64)
    if isinstance(annotation, Monus):
        left, right = (_counts(one, there, length) for one in (annotation.left, annotation.right))
        less: Array = np.maximum(left - right, 0)
        return less
    assert isinstance(annotation, Compare)
    return _compared(annotation, there, length)


def _checked(found: Array) -> Array:
    if len(found) and float(np.abs(found).max()) >= _EXACT:
        raise _InexactError
    return found


def _compared(annotation: Compare, there: Mapping[Token, Array], length: int) -> Array:
    sides = (annotation.left, annotation.right)
    if annotation.op not in _COMPARED or any(side is None for side in sides):
        raise _InexactError
    scale = lcm(*(_denominator(value) for side in sides for value in _values(side)))
    left, right = (_scaled(side, scale, there, length) for side in sides)
    known = ~(np.isnan(left) | np.isnan(right))
    true: Array = known & _COMPARED[annotation.op](left, right)
    return true.astype(np.float64)


def _values(side: Any) -> list[Any]:
    return [value for _, value in side.terms] if isinstance(side, Tensor) else [side]


def _denominator(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise _InexactError
    if isinstance(value, Decimal) and not value.is_finite():
        raise _InexactError
    return Fraction(value).denominator


def _scaled(side: Any, scale: int, there: Mapping[Token, Array], length: int) -> Array:
    """A side of a comparison times a number that makes it an integer; NaN: NULL."""
    if not isinstance(side, Tensor):
        return _checked(np.full(length, float(Fraction(side) * scale)))
    name = side.monoid.name
    if name == "AVG":
        raise _InexactError
    found, count = np.zeros(length), np.zeros(length)
    if name in ("MIN", "MAX"):
        found[:] = np.nan
    for annotation, value in side.terms:
        copies = _counts(annotation, there, length)
        number = _checked(np.array([float(scale * Fraction(1 if name == "COUNT" else value))]))[0]
        count += copies
        if name in ("MIN", "MAX"):
            better = np.fmin if name == "MIN" else np.fmax
            found = np.where(copies > 0, better(found, number), found)
        else:
            found = _checked(found + copies * number)
    return np.where(count == 0, np.nan, found) if name == "SUM" else found
