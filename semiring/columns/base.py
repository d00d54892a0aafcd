"""The operations on columns of annotations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from semiring.base import Array

V = TypeVar("V", bound=Any)


class Columns(ABC, Generic[V]):
    """Operations of a semiring on columns of annotations V, whose places are numbered from 0."""

    @abstractmethod
    def tokens(self, source: Hashable) -> V:
        """The values of the tokens of a source, row by row; 1 where it has none."""

    def zeros(self, length: int) -> V:
        """0 everywhere."""
        return self.repeat(np.zeros(length, dtype=np.int64))

    def ones(self, length: int) -> V:
        """1 everywhere."""
        return self.repeat(np.ones(length, dtype=np.int64))

    @abstractmethod
    def repeat(self, counts: Array) -> V:
        """The n-fold sums of 1."""

    @abstractmethod
    def product(self, factors: Sequence[V], length: int) -> V:
        """The products, place by place; ones of `length` if there are no factors."""

    def fold(self, values: V, offsets: Array) -> V:
        """The sums of CSR segments of places, which cover them all."""
        summed: V = values.summed(offsets)
        return summed

    @abstractmethod
    def monus(self, a: V, b: V) -> V:
        """⊖, place by place; CapabilityError where the semiring has none."""

    @abstractmethod
    def delta(self, values: V) -> V:
        """δ, place by place; CapabilityError where an element has none."""

    def take(self, values: V, places: Array) -> V:
        """The annotations at some places."""
        taken: V = values.take(places)
        return taken

    def concatenate(self, parts: Sequence[V]) -> V:
        """The annotations of all parts, one part after the other."""
        whole: V = parts[0].concatenated(parts[1:])
        return whole

    @abstractmethod
    def to_arrow(self, values: V) -> pa.Array:
        """The annotations as `Semiring.to_arrow` has them."""

    @abstractmethod
    def sent(self, values: V) -> pa.Array:
        """The annotations as they travel to another pass, none of them NULL."""

    @abstractmethod
    def received(self, name: Hashable) -> V:
        """The annotations of a column that has travelled."""

    def plus(self, a: V, b: V, length: int) -> V:
        """+, place by place, of columns of a length."""
        pairs = np.stack([np.arange(length), length + np.arange(length)], axis=1)
        both = self.take(self.concatenate((a, b)), pairs.ravel())
        return self.fold(both, np.arange(0, 2 * length + 1, 2))

    def factors(self, values: V, there: Array, *, negated: bool) -> V:
        """Return factors that rows need not have: `values` where `there` is true, elsewhere 1.

        Parameters
        ----------
        negated
        The factors are 1 ⊖ δ of the values.
        """
        if negated:
            values = self.monus(self.ones(int(there.sum())), self.delta(values))
        return self.put(self.ones(len(there)), len(there), np.flatnonzero(there), values)

    def or_absent(self, values: V, length: int) -> V:
        """a + (1 ⊖ δ(a)), place by place, of a column of a length."""
        return self.plus(values, self.monus(self.ones(length), self.delta(values)), length)

    def put(self, values: V, length: int, places: Array, new: V) -> V:
        """A column of a length with other annotations at some places."""
        chosen = np.arange(length)
        chosen[places] = length + np.arange(len(places))
        return self.take(self.concatenate((values, new)), chosen)
