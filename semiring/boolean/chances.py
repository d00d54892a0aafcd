"""The probabilities of independent tuples: a number for each, or one for all.

One probability for all tuples needs no object for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np

from semiring.base import Array
from semiring.errors import ValuationError
from semiring.semirings.viterbi import Viterbi
from semiring.token import Token

Weights: TypeAlias = "Callable[[Token], float] | Mapping[Token, float] | float"
"""The probability of each tuple: a function, a mapping, or one number for all."""


class HasTokens(Protocol):
    """An annotation or formal value."""

    @property
    def tokens(self) -> frozenset[Token]:
        """The tokens that occur in it."""
        raise NotImplementedError


class Probabilities(Viterbi):
    """Numbers from 0 to 1 as probabilities of independent tuples."""

    def check(self, value: Any) -> float:
        try:
            return super().check(value)
        except ValuationError as error:
            raise ValuationError(
                f"The weight {value!r} is not a probability: weights are numbers from 0 to 1."
            ) from error


PROBABILITIES = Probabilities()


class EqualChances(Mapping[Token, float]):
    """One probability for all tokens that occur in some annotations or values.

    It can be an array, to evaluate many at once.
    """

    def __init__(self, of: Sequence[HasTokens], chance: Any) -> None:
        self._of = of
        self.chance = chance

    @cached_property
    def _tokens(self) -> frozenset[Token]:
        return all_tokens(self._of)

    def __getitem__(self, token: Token) -> Any:
        return self.chance

    def __iter__(self) -> Iterator[Token]:
        return iter(self._tokens)

    def __len__(self) -> int:
        return len(self._tokens)


def all_tokens(of: Sequence[HasTokens]) -> frozenset[Token]:
    return frozenset[Token]().union(*(each.tokens for each in of))


def chance_column(tokens: Sequence[Token], chances: Mapping[Token, Any]) -> Array:
    """Return the probabilities of tokens, in their order.

    Parameters
    ----------
    chances
        By token, its probability: a number, or an array to evaluate many at once.
    """
    if isinstance(chances, EqualChances):
        return np.full(len(tokens), chances.chance)
    given = [chances[token] for token in tokens]
    rows = [chance for chance in given if isinstance(chance, np.ndarray)]
    if rows:
        given = [np.broadcast_to(chance, rows[0].shape) for chance in given]
    return np.array(given, dtype=np.float64)
