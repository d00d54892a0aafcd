"""Annotations in many worlds at once: multiplicities, and plain values of formal values.

Source: Green, Tannen, *Models for Incomplete and Probabilistic Information*, 2006 (worlds as
valuations of the tokens).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from semiring.base import Array
from semiring.polynomial import Polynomial
from semiring.token import Token
from semiring.value import Operand

if TYPE_CHECKING:
    from semiring.circuit.evaluation import WorldValues
    from semiring.expression import Expression

    Annotation: TypeAlias = Polynomial | Expression


class PossibleWorlds:
    """Some worlds, by the tuples in them.

    Parameters
    ----------
    there
        Per token an array, one element per world: presence as Booleans, or multiplicities.
    length
        The number of worlds.
    """

    def __init__(self, there: Mapping[Token, Array], length: int) -> None:
        # A session loads the analyses, and circuits when one is asked for.
        from semiring.circuit.writing import CircuitWriting

        self.length = length
        self._there = there
        self._writing = CircuitWriting(there)
        self._simple: dict[int, int] = {}

    @classmethod
    def every(cls, tokens: Sequence[Token]) -> PossibleWorlds:
        """Return all worlds of some tokens: world i has the token at position j if bit j of i is
        set.
        """
        numbers = np.arange(1 << len(tokens))
        there = {token: (numbers >> bit) & 1 == 1 for bit, token in enumerate(tokens)}
        return cls(there, len(numbers))

    def redrawn(self, there: Array) -> PossibleWorlds:
        """Return other worlds of the same tokens, reusing the gates written so far.

        Parameters
        ----------
        there
            A row for each token, in the order of `ordered`, and a column for each world.
        """
        from semiring.circuit.evaluation import WorldValues

        worlds = object.__new__(PossibleWorlds)
        worlds.length, worlds._there, worlds._writing = there.shape[1], self._there, self._writing
        worlds._simple = self._simple
        worlds._worlds = WorldValues(there)
        return worlds

    @property
    def ordered(self) -> Sequence[Token]:
        """The tokens with known worlds, in their order."""
        return self._writing.tokens

    @property
    def tokens(self) -> frozenset[Token]:
        """The tokens with known worlds."""
        return frozenset(self._there)

    @cached_property
    def _worlds(self) -> WorldValues:
        from semiring.circuit.evaluation import WorldValues

        there = np.zeros((len(self._writing.tokens), self.length), dtype=np.int64)
        for number, token in enumerate(self._writing.tokens):
            there[number] = self._there[token]
        return WorldValues(there)

    def holds(self, annotation: Annotation) -> Array:
        """Return a Boolean array of the worlds in which the annotation is not 0."""
        present: Array = self.counts([annotation])[0] != 0
        return present.astype(np.bool_)

    def counts(self, annotations: Sequence[Annotation]) -> Array:
        """Return annotations evaluated in Counting, a row each, by world; exact.

        Returns
        -------
        Array
            int64; Python integers where a count does not fit.
        """
        from semiring.circuit.evaluation import evaluate
        from semiring.circuit.extremes import without_extremes
        from semiring.semirings.counting import Counting

        circuit, written = self._writing.circuit, self._writing.gates(annotations).tolist()
        for gate in written:
            if gate not in self._simple:
                self._simple[gate] = without_extremes(circuit, gate)
        gates = np.array([self._simple[gate] for gate in written], dtype=np.int32)
        counts: Array = evaluate(circuit, Counting(), gates, self._worlds)[1]
        return counts

    def values(self, operands: Sequence[Operand]) -> Array:
        """Return the plain values of operands, a row each, by world, as Python objects."""
        from semiring.circuit.evaluation import operand_columns

        gates = self._writing.gates(operands)
        return operand_columns(self._writing.circuit, gates, self._worlds)
