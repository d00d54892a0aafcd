"""Semirings that are quotients of N[X], and the properties that their columns need.

Source: Green, *Containment of Conjunctive Queries on Annotated Relations*, ICDT 2009, section 3.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, TypeVar

import pyarrow as pa

from semiring.base import Semiring
from semiring.encodings.derivations import Derivations, Terms
from semiring.token import Token

K = TypeVar("K")


class Quotient(Semiring[K]):
    """A semiring whose elements are sums of monomials: N[X] up to further laws.

    The laws are a + a = a if `idempotent`, 1 + a = 1 if `absorptive` too, and x·x = x if `flat`. A
    token is itself by default.
    """

    flat: ClassVar[bool] = False
    """x·x = x for tokens x."""

    @abstractmethod
    def terms(self, value: K) -> Terms:
        """Return an element as a sum of monomials."""

    def tokens_in(self, value: K) -> Iterator[Token]:
        """Return the tokens that occur in an element, with repetitions."""
        return (token for monomial, _ in self.terms(value) for token, _ in monomial)

    def delta_column(self, derivations: Derivations) -> Derivations:
        """Return δ of every segment: the identity if + is idempotent; other semirings override
        this.

        Raises
        ------
        CapabilityError
            The semiring has no δ of a segment.
        """
        return derivations

    @abstractmethod
    def write(self, derivations: Derivations) -> pa.Array:
        """Return `to_arrow` of every segment, whose rows are its element's sorted monomials."""
