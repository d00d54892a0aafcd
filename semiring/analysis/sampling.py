"""Sampling possible worlds, sixty-four at a time, with the error that a sample has.

Source: Hoeffding, *Probability Inequalities for Sums of Bounded Random Variables*, JASA 1963: the
mean of n values from a range of width w is within w·sqrt(ln(2/δ) / 2n) of its expectation with
probability 1 - δ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from semiring.base import Array
from semiring.errors import CapabilityError
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings.counting import Counting
from semiring.semirings.worlds import Worlds
from semiring.token import Token

WORD = 64

_WORLDS, _COUNTING = Worlds(), Counting()


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, and how far it may be off.

    Attributes
    ----------
    value
        The number.
    error
        0 for an exact one. Else the true number is within `error` of it, with a probability of at
        least `confidence`.
    samples
        How many worlds were drawn; 0 for an exact one.
    """

    value: float
    error: float = 0.0
    confidence: float = 1.0
    samples: int = 0

    @property
    def exact(self) -> bool:
        """Whether nothing was drawn: the number is exact up to the rounding of doubles."""
        return self.samples == 0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if self.exact:
            return f"{self.value:g}"
        return f"{self.value:g} ± {self.error:g} ({self.confidence:.0%})"


def words_needed(error: float, confidence: float, width: float = 1.0) -> int:
    """How many words of samples bring a mean within an error."""
    if not (error > 0 and 0 < confidence < 1):
        raise ValueError(f"error is positive, confidence between 0 and 1: {error}, {confidence}")
    samples = width * width * math.log(2 / (1 - confidence)) / (2 * error * error)
    return max(1, math.ceil(samples / WORD))


def hoeffding(samples: int, confidence: float, width: float = 1.0) -> float:
    """The error of a mean of samples."""
    return width * math.sqrt(math.log(2 / (1 - confidence)) / (2 * samples))


def random_words(random: np.random.Generator, weights: Array, words: int = 1) -> Array:
    """Independent random bits: uint64 of shape (words, tokens), each bit 1 with the token's weight.

    Bits are those of a uniform number compared with the weight, from the last to the first: 53
    random words make each word exact as far as a double is.
    """
    scaled = np.minimum(np.floor(weights * 2.0**53), 2.0**53).astype(np.uint64)
    found = np.zeros((words, len(weights)), dtype=np.uint64)
    for bit in range(53):
        drawn = random.integers(0, 2**64, size=found.shape, dtype=np.uint64)
        one = (scaled >> np.uint64(bit)) & np.uint64(1) == 1
        found = np.where(one, found | ~drawn, found & ~drawn)
    found[:, weights >= 1] = np.uint64(2**64 - 1)
    return found


def present(annotation: Polynomial | Expression, words: Mapping[Token, int]) -> int:
    """In which of 64 worlds a tuple is there; comparisons are evaluated world by world."""
    try:
        return annotation.evaluate(_WORLDS, words)
    except CapabilityError:
        bits = 0
        for world in range(WORD):
            there = {token: word >> world & 1 for token, word in words.items()}
            bits |= (annotation.evaluate(_COUNTING, there) > 0) << world
        return bits
