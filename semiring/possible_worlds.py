"""Annotations in many worlds at once: how often a tuple is there, and what a formal value is.

Source: Green, Tannen, *Models for Incomplete and Probabilistic Information*, 2006 (worlds as
valuations of the tokens).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from semiring.base import Array, Semiring
from semiring.comparison import compare_values
from semiring.exact import add, integer_array, multiply
from semiring.expression import (
    Atom,
    Compare,
    Condition,
    Constant,
    Delta,
    Monus,
    Product,
    Sum,
)
from semiring.polynomial import Polynomial
from semiring.tensor import Tensor
from semiring.token import Token, exact_key
from semiring.value import Operand, Value

if TYPE_CHECKING:
    from semiring.expression import Expression

    Annotation: TypeAlias = Polynomial | Expression

K = TypeVar("K")
T = TypeVar("T")

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


class PossibleWorlds:
    """Some worlds, by which tuples are in them; what is found of them is kept.

    Parameters
    ----------
    there
        Per token an array, one element per world: Booleans, or how often the tuple is there.
    length
        The number of worlds.
    """

    def __init__(self, there: Mapping[Token, Array], length: int) -> None:
        self.length = length
        self._there = there
        self._found: dict[int, tuple[Any, Any]] = {}

    @classmethod
    def one(
        cls, semiring: Semiring[K], value: Callable[[Token], K], tokens: Iterable[Token]
    ) -> PossibleWorlds:
        """Return the single world of a valuation of tokens.

        Raises
        ------
        CapabilityError
            A value does not determine the multiplicity of a tuple.
        """
        there = {token: _full(semiring.copies(value(token)), 1) for token in tokens}
        return cls(there, 1)

    @classmethod
    def every(cls, tokens: Sequence[Token]) -> PossibleWorlds:
        """All worlds of some tokens: in world i is the token at place j where bit j of i is set."""
        numbers = np.arange(1 << len(tokens))
        there = {token: (numbers >> bit) & 1 == 1 for bit, token in enumerate(tokens)}
        return cls(there, len(numbers))

    @property
    def tokens(self) -> frozenset[Token]:
        """The tokens whose worlds are known."""
        return frozenset(self._there)

    def kept(self, part: Any, make: Callable[[], T]) -> T:
        """Return the value that `make` computes for a part, computed once."""
        if id(part) not in self._found:
            self._found[id(part)] = (part, make())
        value: T = self._found[id(part)][1]
        return value

    # -- annotations -------------------------------------------------------------------------

    def holds(self, annotation: Annotation) -> Array:
        """Boolean array: in which worlds the annotation is not 0."""
        present: Array = self.counts(annotation) != 0
        return present.astype(np.bool_)

    def counts(self, annotation: Annotation) -> Array:
        """Return the annotation evaluated in Counting, world by world; exact.

        Returns
        -------
        Array
            int64; Python integers where a count does not fit.
        """
        return self.kept(annotation, lambda: self._counts(annotation))

    def _counts(self, annotation: Annotation) -> Array:
        match annotation:
            case Polynomial():
                return self._polynomial(annotation)
            case Constant():
                return _full(annotation.n, self.length)
            case Atom():
                return _integers(self._there[annotation.of_token])
            case Product():
                product = _full(1, self.length)
                for factor, n in annotation.factors:
                    for _ in range(n):
                        product = multiply(product, self.counts(factor))
                return product
            case Sum():
                total = _full(0, self.length)
                for summand, n in annotation.summands:
                    total = add(total, multiply(self.counts(summand), _full(n, 1)))
                return total
            case Delta():
                return (self.counts(annotation.operand) > 0).astype(np.int64)
            case Monus():
                left, right = self.counts(annotation.left), self.counts(annotation.right)
                less: Array = np.maximum(left - right, 0)
                return less
            case Compare():
                return self.compared(annotation.op, annotation.left, annotation.right)
            case Condition():
                return np.array([v is True for v in self.values(annotation.value)], np.int64)
        raise TypeError(f"{type(annotation).__name__} is no annotation")

    def _polynomial(self, polynomial: Polynomial) -> Array:
        counts = _full(0, self.length)
        for monomial, n in polynomial.terms:
            there = [(self._there[token], exponent) for token, exponent in monomial]
            if all(array.dtype == np.bool_ for array, _ in there):
                present = np.ones(self.length, np.bool_)
                for array, _ in there:
                    present &= array
                counts = add(counts, multiply(present.astype(np.int64), _full(n, 1)))
                continue
            term = _full(n, self.length)
            for array, exponent in there:
                for _ in range(exponent):
                    term = multiply(term, _integers(array))
            counts = add(counts, term)
        return counts

    # -- values ------------------------------------------------------------------------------

    def values(self, operand: Operand) -> Array:
        """Return the plain values of an operand, world by world, as Python objects."""
        if not isinstance(operand, Value):
            return objects([operand] * self.length)
        return self.kept(operand, lambda: operand.in_worlds(self))

    def compared(self, op: str, left: Operand, right: Operand) -> Array:
        """1 where a comparison is true, else 0, as int64."""
        try:
            return self._compared(op, left, right)
        except _InexactError:
            pairs = zip(self.values(left), self.values(right), strict=True)
            return np.array([compare_values(op, a, b) for a, b in pairs], np.int64)

    def _compared(self, op: str, left: Operand, right: Operand) -> Array:
        """Return a comparison of sums, counts and extremes of exact numbers, as arrays of
        doubles.
        """
        if op not in _COMPARED or left is None or right is None:
            raise _InexactError
        sides = (left, right)
        scale = lcm(*(_denominator(value) for side in sides for value in _plain(side)))
        a, b = (self._scaled(side, scale) for side in sides)
        unknown = np.isnan(a) | np.isnan(b)
        true: Array = ~unknown & _COMPARED[op](a, b)
        return true.astype(np.int64)

    def _scaled(self, side: Operand, scale: int) -> Array:
        """Return a side of a comparison times a number that makes it an integer; NaN: NULL."""
        if not isinstance(side, Tensor):
            return np.full(self.length, _double(Fraction(side) * scale))
        name = side.monoid.name
        total, count = np.zeros(self.length), np.zeros(self.length)
        if name in ("MIN", "MAX"):
            total[:] = np.nan
        for annotation, value in side.terms:
            copies = self.counts(annotation).astype(np.float64)
            number = _double(scale * Fraction(1 if name == "COUNT" else value))
            count += copies
            if name in ("MIN", "MAX"):
                better = np.fmin if name == "MIN" else np.fmax
                total = np.where(copies > 0, better(total, number), total)
            else:
                total = _checked(total + _checked(copies * number))
        return np.where(count == 0, np.nan, total) if name == "SUM" else total


def objects(values: Sequence[Any]) -> Array:
    """Python objects as an array."""
    array = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        array[index] = value
    return array


def by_case(
    columns: Sequence[Array], length: int, function: Callable[[list[tuple[Any, ...]]], list[Any]]
) -> Array:
    """Return a function of the values of columns, asked once for all rows that are alike.

    Parameters
    ----------
    columns
        Arrays of `length` objects each.
    function
        From some rows to a value for each.
    """
    places: dict[Hashable, int] = {}
    cases: list[tuple[Any, ...]] = []
    which = np.empty(length, dtype=np.int64)
    rows = zip(*columns, strict=True) if columns else iter([()] * length)
    for number, row in enumerate(rows):
        key = exact_key(row)
        if key not in places:
            places[key] = len(cases)
            cases.append(row)
        which[number] = places[key]
    results: Array = objects(function(cases))[which]
    return results


def _full(number: int, length: int) -> Array:
    return integer_array([number]).repeat(length)


def _integers(array: Array) -> Array:
    return array.astype(np.int64) if array.dtype == np.bool_ else array


def _plain(side: Operand) -> list[Any]:
    if not isinstance(side, Tensor):
        return [side]
    if side.monoid.name == "AVG":
        raise _InexactError
    return [1] if side.monoid.name == "COUNT" else [value for _, value in side.terms]


def _denominator(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise _InexactError
    if isinstance(value, Decimal) and not value.is_finite():
        raise _InexactError
    return Fraction(value).denominator


def _double(number: Fraction) -> float:
    if abs(number) >= _EXACT:
        raise _InexactError
    return float(number)


def _checked(numbers: Array) -> Array:
    if len(numbers) and float(np.abs(numbers).max()) >= _EXACT:
        raise _InexactError
    return numbers
