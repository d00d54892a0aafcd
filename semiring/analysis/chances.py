"""The probabilities of independent tuples: a number for each, or one for all.

One probability for all tuples needs no object for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np

from semiring.analysis.evidence import Blocks, chosen_apart
from semiring.base import Array
from semiring.errors import ValuationError
from semiring.semirings.viterbi import Viterbi
from semiring.token import Token
from semiring.value import Substitution

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


_PROBABILITIES = Probabilities()


class EqualChances(Mapping[Token, float]):
    """One probability for all tokens that occur in some annotations or values."""

    def __init__(self, of: Sequence[HasTokens], chance: float) -> None:
        self._of = of
        self.chance = chance

    @cached_property
    def _tokens(self) -> frozenset[Token]:
        return _all_tokens(self._of)

    def __getitem__(self, token: Token) -> float:
        return self.chance

    def __iter__(self) -> Iterator[Token]:
        return iter(self._tokens)

    def __len__(self) -> int:
        return len(self._tokens)


def _all_tokens(of: Sequence[HasTokens]) -> frozenset[Token]:
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


def independent_chances(
    of: Sequence[HasTokens], weights: Weights, blocks: Blocks
) -> tuple[Substitution | None, Mapping[Token, float]]:
    """Return the probabilities of all tokens, rewritten as independent choices.

    Parameters
    ----------
    of
        Annotations and values, evidence included.
    blocks
        The block of each tuple, as for `chosen_apart`, which returns the same.

    Raises
    ------
    ValuationError
        As `_weights_of`, and when the probabilities of a block add up to more than 1.
    """
    if blocks is None and not isinstance(weights, Mapping) and not callable(weights):
        return None, EqualChances(of, _PROBABILITIES.check(weights))
    tokens = _all_tokens(of)
    return chosen_apart(tokens, _weights_of(tokens, weights), blocks)


def _weights_of(tokens: frozenset[Token], weights: Weights) -> dict[Token, float]:
    """Return checked probabilities of some tokens.

    Raises
    ------
    ValuationError
        A token without a probability, or one outside of 0 to 1.
    """
    if not isinstance(weights, Mapping) and not callable(weights):
        return dict.fromkeys(tokens, _PROBABILITIES.check(weights))
    checked, weight_of = {}, weights.get if isinstance(weights, Mapping) else weights
    for token in tokens:
        weight = weight_of(token)
        if weight is None:
            raise ValuationError(f"No probability is given for {token}.")
        valid = type(weight) is float and 0.0 <= weight <= 1.0
        checked[token] = weight if valid else _PROBABILITIES.check(weight)
    return checked
