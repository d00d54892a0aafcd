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
    """Operations of a semiring on columns of annotations V, with rows numbered from 0."""

    @abstractmethod
    def tokens(self, source: Hashable) -> V:
        """Return the values of a source's tokens, row by row; 1 for rows without a token."""

    def zeros(self, length: int) -> V:
        """Return 0 in every row."""
        return self.repeat(np.zeros(length, dtype=np.int64))

    def ones(self, length: int) -> V:
        """Return 1 in every row."""
        return self.repeat(np.ones(length, dtype=np.int64))

    @abstractmethod
    def repeat(self, counts: Array) -> V:
        """Return the n-fold sums of 1."""

    @abstractmethod
    def product(self, factors: Sequence[V], length: int) -> V:
        """Return the elementwise product of columns; ones of `length` if there are none."""

    def fold(self, values: V, offsets: Array) -> V:
        """Return the sums of CSR segments that cover all rows."""
        summed: V = values.summed(offsets)
        return summed

    @abstractmethod
    def monus(self, a: V, b: V) -> V:
        """Return the elementwise ⊖; raise CapabilityError if the semiring has none."""

    @abstractmethod
    def delta(self, values: V) -> V:
        """Return the elementwise δ; raise CapabilityError if an element has none."""

    def take(self, values: V, places: Array) -> V:
        """Return the annotations at some rows."""
        taken: V = values.take(places)
        return taken

    def concatenate(self, parts: Sequence[V]) -> V:
        """Return the concatenation of all parts."""
        whole: V = parts[0].concatenated(parts[1:])
        return whole

    @abstractmethod
    def to_arrow(self, values: V) -> pa.Array:
        """Return the annotations as `Semiring.to_arrow` does."""

    @abstractmethod
    def sent(self, values: V) -> pa.Array:
        """Return the annotations in the form for another pass, none of them NULL."""

    @abstractmethod
    def received(self, name: Hashable) -> V:
        """Return the annotations of a column from another pass."""

    def plus(self, a: V, b: V, length: int) -> V:
        """Return the elementwise sum of columns of one length."""
        pairs = np.stack([np.arange(length), length + np.arange(length)], axis=1)
        both = self.take(self.concatenate((a, b)), pairs.ravel())
        return self.fold(both, np.arange(0, 2 * length + 1, 2))

    def factors(self, values: V, there: Array, *, negated: bool) -> V:
        """Return optional factors: `values` where `there` is true, elsewhere 1.

        Parameters
        ----------
        negated
        The factors are 1 ⊖ δ of the values.
        """
        if negated:
            values = self.monus(self.ones(int(there.sum())), self.delta(values))
        return self.put(self.ones(len(there)), len(there), np.flatnonzero(there), values)

    def or_absent(self, values: V, length: int) -> V:
        """Return a + (1 ⊖ δ(a)) elementwise."""
        return self.plus(values, self.monus(self.ones(length), self.delta(values)), length)

    def put(self, values: V, length: int, places: Array, new: V) -> V:
        """Return a column with the annotations at some rows replaced."""
        chosen = np.arange(length)
        chosen[places] = length + np.arange(len(places))
        return self.take(self.concatenate((values, new)), chosen)
