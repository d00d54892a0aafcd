"""The abstract commutative semiring, its scalar operations and its operations on numpy arrays.

Sources: Green, Karvounarakis, Tannen, *Provenance Semirings*, PODS 2007 (semirings);
Amsterdamer, Deutch, Tannen, *Provenance for Aggregate Queries*, PODS 2011 (δ, semimodules);
Geerts, Poggi, *On database query languages for K-relations*, J. Applied Logic 2010 (monus).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from semiring.comparison import compare_values
from semiring.errors import CapabilityError, ValuationError
from semiring.token import Token

K = TypeVar("K")

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
TokenValuation: TypeAlias = "Callable[[Token], K] | Mapping[Token, K] | None"


class SemimoduleElement:
    """The base of elements of a semimodule, which annotations scale: k·m is an element, too."""

    __slots__ = ()


class Semiring(ABC, Generic[K]):
    """A commutative semiring (K, +, ·, 0, 1) with a δ operation and, if it has one, a monus.

    Laws, checked by `semiring.laws`: + and · are associative and commutative with neutral elements
    0 and 1, · distributes over +, 0 annihilates, δ(0) = 0 and δ(n·1) = 1 for n ≥ 1. Further laws
    are claimed by `idempotent`, `absorptive`, `positive` and `has_monus`; no other law is relied
    on.

    Instances carry no state and are equal iff they are of the same class. Arrays of annotations
    have dtype `dtype`; where it is ``object`` the array operations run the scalar ones.
    """

    name: ClassVar[str]
    idempotent: ClassVar[bool] = False
    """a + a = a."""
    absorptive: ClassVar[bool] = False
    """1 + a = 1."""
    positive: ClassVar[bool] = True
    """a + b = 0 only if a = b = 0, and a · b = 0 only if a = 0 or b = 0."""
    has_monus: ClassVar[bool] = False
    """True if K is an m-semiring: `monus` is defined and has its laws."""
    total_delta: ClassVar[bool] = True
    """True if δ is defined for every element, and not for constants alone."""
    no_monus: ClassVar[str] = "its natural order has no least a ⊖ b"
    """The reason for having no monus, as part of the error's text."""
    capabilities: ClassVar[frozenset[str]] = frozenset()
    """Names of the monoids M for which a tensor of K⊗M evaluates to a value of M."""
    symbolic: ClassVar[bool] = False
    """True if elements are annotations themselves, so that tensors and comparisons stay formal."""
    dtype: ClassVar[np.dtype[Any]] = np.dtype(object)
    arrow_type: ClassVar[pa.DataType] = pa.string()

    @property
    @abstractmethod
    def zero(self) -> K:
        """The annotation of an absent tuple."""

    @property
    @abstractmethod
    def one(self) -> K:
        """The annotation of a tuple that needs no evidence."""

    @abstractmethod
    def plus(self, a: K, b: K) -> K:
        """Return a + b, for alternative use."""

    @abstractmethod
    def times(self, a: K, b: K) -> K:
        """Return a · b, for joint use."""

    @abstractmethod
    def check(self, value: Any) -> K:
        """Return `value` as an element of the carrier.

        Raises
        ------
        ValuationError
            If it is not one.
        """

    def delta(self, a: K) -> K:
        """Eliminate duplicates: the identity if + is idempotent, else 0 → 0 and 1 otherwise.

        Both satisfy the axioms; the identity keeps the members' evidence on a grouped tuple.
        """
        if self.idempotent:
            return a
        return self.zero if a == self.zero else self.one

    def monus(self, a: K, b: K) -> K:
        """Return the least c of the natural order with a ≤ b + c.

        Raises
        ------
        CapabilityError
            If the semiring has no monus.
        """
        raise CapabilityError(
            f"semiring {self.name} has no monus (⊖): {self.no_monus}; evaluate queries with EXCEPT,"
            " NOT EXISTS or outer joins in Counting or Boolean"
        )

    def default(self, token: Token) -> K:
        """Return the value of a token when no valuation is given."""
        return self.one

    @property
    def constant_default(self) -> bool:
        """True if `default` is `one` for every token."""
        return type(self).default is Semiring.default

    def is_zero(self, a: K) -> bool:
        """Return True if `a` annotates an absent tuple."""
        return bool(a == self.zero)

    def multiplicity(self, a: K) -> int:
        """Return the number of copies of a value that `a` stands for in SUM, COUNT and AVG.

        Raises
        ------
        CapabilityError
            Unless the semiring specialises those aggregates.
        """
        raise CapabilityError(
            f"SUM, COUNT and AVG have no value in semiring {self.name}: (a + b)⊗v = a⊗v + b⊗v"
            " would not hold; evaluate them in Counting, with tokens valued 0 or 1 for a deletion"
        )

    def copies(self, a: K) -> int:
        """Return the multiplicity of a tuple annotated `a`, for conditions on presence.

        Raises
        ------
        CapabilityError
            It is neither 0 nor 1, and the semiring does not count: conditions have no other values.
        """
        if a == self.zero:
            return 0
        if a == self.one:
            return 1
        raise CapabilityError(
            f"a condition on aggregated values has no value in semiring {self.name} where a tuple"
            f" is valued {self.render(a)}, neither 0 nor 1; value its tokens by 0 and 1, or look at"
            " the expression that polynomials() gives"
        )

    def compare(self, op: str, left: Any, right: Any) -> K:
        """Return [left op right] of evaluated operands: 1 if the comparison is true, else 0."""
        return self.one if compare_values(op, left, right) else self.zero

    def from_int(self, n: int) -> K:
        """Return the n-fold sum of 1.

        Raises
        ------
        ValuationError
            If `n` is negative.
        """
        if n < 0:
            raise ValuationError(f"semiring {self.name} has no negative constants: {n}")
        if n == 0:
            return self.zero
        return self.one if self.idempotent else self.repeat(self.one, n)

    def repeat(self, a: K, n: int) -> K:
        """Return the n-fold sum of `a`, in O(log n) additions."""
        if n > 0 and self.idempotent:
            return a
        total = self.zero
        while n:
            if n & 1:
                total = self.plus(total, a)
            n >>= 1
            if n:
                a = self.plus(a, a)
        return total

    def power(self, a: K, n: int) -> K:
        """Return the n-fold product of `a`, in O(log n) multiplications."""
        total = self.one
        while n:
            if n & 1:
                total = self.times(total, a)
            n >>= 1
            if n:
                a = self.times(a, a)
        return total

    def sum(self, values: Iterable[K]) -> K:
        """Return the sum of `values`; 0 if empty."""
        total = self.zero
        for value in values:
            total = self.plus(total, value)
        return total

    def product(self, values: Iterable[K]) -> K:
        """Return the product of `values`; 1 if empty."""
        total = self.one
        for value in values:
            total = self.times(total, value)
        return total

    def require(self, monoid: str) -> None:
        """Raise CapabilityError unless tensors over `monoid` have a value in this semiring."""
        if monoid not in self.capabilities:
            raise CapabilityError(
                f"a tensor over {monoid} has no value in semiring {self.name}, only formally;"
                " evaluate it in Counting, with tokens valued 0 or 1 for a deletion"
            )

    # -- arrays ------------------------------------------------------------------------------

    def array(self, values: Iterable[Any]) -> Array:
        """Return `values`, checked, as an array of annotations."""
        return self.pack([self.check(value) for value in values])

    def from_arrow(self, column: pa.Array) -> Array:
        """Return a checked Arrow column as an array of annotations."""
        return self.array(column.to_pylist())

    def pack(self, values: list[K]) -> Array:
        """Return elements of the carrier as an array of annotations."""
        if self.dtype != np.dtype(object):
            return np.array(values, dtype=self.dtype)
        packed = np.empty(len(values), dtype=object)
        for index, value in enumerate(values):
            packed[index] = value
        return packed

    def unpack(self, array: Array) -> list[K]:
        """Return an array of annotations as elements of the carrier."""
        values: list[K] = array.tolist()
        return values

    def full(self, value: K, length: int) -> Array:
        """Return an array that repeats `value`."""
        packed = self.pack([value])
        return np.repeat(packed, length)

    def ones(self, length: int) -> Array:
        """Return an array of 1."""
        return self.full(self.one, length)

    def zeros(self, length: int) -> Array:
        """Return an array of 0."""
        return self.full(self.zero, length)

    def plus_array(self, a: Array, b: Array) -> Array:
        """Return the elementwise sum."""
        return self._pairwise(self.plus, a, b)

    def times_array(self, a: Array, b: Array) -> Array:
        """Return the elementwise product."""
        return self._pairwise(self.times, a, b)

    def monus_array(self, a: Array, b: Array) -> Array:
        """Return the elementwise ⊖; raise CapabilityError without a monus."""
        if not self.has_monus:
            self.monus(self.zero, self.zero)
        return self._pairwise(self.monus, a, b)

    def delta_array(self, a: Array) -> Array:
        """Return the elementwise δ."""
        if self.idempotent and type(self).delta is Semiring.delta:
            return a
        return self.pack([self.delta(value) for value in self.unpack(a)])

    def repeat_array(self, counts: Array) -> Array:
        """Return the n-fold sum of 1 for every n of an integer array."""
        return self.pack([self.from_int(int(n)) for n in counts])

    def nonzero_array(self, a: Array) -> Array:
        """Return a Boolean array of the annotations that are not 0."""
        return np.fromiter((not self.is_zero(value) for value in self.unpack(a)), bool, len(a))

    def multiplicity_array(self, a: Array) -> Array:
        """Return the elementwise `multiplicity`, as int64 or, beyond it, Python integers."""
        return np.array([self.multiplicity(value) for value in self.unpack(a)])

    def sum_segments(self, values: Array, offsets: Array) -> Array:
        """Return the sums of the CSR segments ``values[offsets[i]:offsets[i + 1]]``.

        Parameters
        ----------
        values
            Annotations, at least ``offsets[-1]`` of them.
        offsets
            int64, non-decreasing, one more than there are segments. An empty segment gives 0.
        """
        items = self.unpack(values)
        bounds = offsets.tolist()
        return self.pack([self.sum(items[start:stop]) for start, stop in pairwise(bounds)])

    def take_where(self, condition: Array, a: Array, b: Array) -> Array:
        """Return `a` where the Boolean `condition` holds, else `b`."""
        result: Array = np.where(condition, a, b)
        return result

    def render(self, value: K) -> str:
        """Return an annotation as text."""
        return str(value)

    def to_arrow(self, array: Array) -> pa.Array:
        """Return an array of annotations as an Arrow array of type `arrow_type`."""
        if self.dtype == np.dtype(object):
            return pa.array([self.render(value) for value in self.unpack(array)], pa.string())
        return pa.array(array, self.arrow_type)

    def _pairwise(self, operation: Callable[[K, K], K], a: Array, b: Array) -> Array:
        left, right = self.unpack(a), self.unpack(b)
        return self.pack([operation(x, y) for x, y in zip(left, right, strict=True)])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def token_values(semiring: Semiring[K], valuation: TokenValuation[K]) -> Callable[[Token], K]:
    """Return a valuation of any of the accepted forms as a checked, memoised function of tokens.

    Parameters
    ----------
    valuation
        A callable, a mapping, or None for the semiring's default.

    Raises
    ------
    ValuationError
        By the returned function: a token without a value, or with one outside the carrier.
    """
    memo: dict[Token, K] = {}

    def value(token: Token) -> K:
        if token in memo:
            return memo[token]
        if valuation is None:
            element: Any = semiring.default(token)
        elif isinstance(valuation, Mapping):
            if token not in valuation:
                raise ValuationError(
                    f"the valuation has no value for {token}; give it one, or pass a function"
                )
            element = valuation[token]
        else:
            try:
                element = valuation(token)
            except KeyError as error:
                raise ValuationError(f"the valuation has no value for {token}") from error
        memo[token] = semiring.check(element)
        return memo[token]

    return value
