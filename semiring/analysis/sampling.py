"""Sampling of possible worlds, sixty-four at a time, with sampling errors.

Source: Hoeffding, *Probability Inequalities for Sums of Bounded Random Variables*, JASA 1963: the
mean of n values from a range of width w is within w·sqrt(ln(2/δ) / 2n) of its expectation with
probability 1 - δ.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from semiring.analysis.presence import WORD, unpacked
from semiring.base import Array
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.support.budget import remaining
from semiring.support.chance import random_numbers
from semiring.token import Token

_HELD = 1 << 24
"""Limit on the values of worlds held at a time."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its error.

    Attributes
    ----------
    value
        The number.
    error
        0 for an exact one. Else the true number is within `error` of it, with a probability of at
        least `confidence`: 1 for bounds.
    samples
        The number of worlds drawn; 0 for an exact number, and for bounds.
    """

    value: float
    error: float = 0.0
    confidence: float = 1.0
    samples: int = 0

    @property
    def exact(self) -> bool:
        """True if the number is exact up to the rounding of doubles."""
        return self.error == 0 and self.samples == 0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if self.exact:
            return f"{self.value:g}"
        return f"{self.value:g} ± {self.error:g} ({self.confidence:.0%})"


def words_needed(error: float, confidence: float, width: float = 1.0) -> int:
    """Return the number of words of samples for a mean within an error."""
    if not (error > 0 and 0 < confidence < 1):
        raise ValueError(f"error is positive, confidence between 0 and 1: {error}, {confidence}")
    samples = width * width * math.log(2 / (1 - confidence)) / (2 * error * error)
    return max(1, math.ceil(samples / WORD))


def hoeffding(samples: int, confidence: float, width: float = 1.0) -> float:
    """Return the error of a mean of samples, by Hoeffding's inequality."""
    return width * math.sqrt(math.log(2 / (1 - confidence)) / (2 * samples))


def random_words(random: np.random.Generator, weights: Array, words: int = 1) -> Array:
    """Return independent random bits: uint64 of shape (tokens, words), each bit 1 with the
    token's weight.

    A bit compares a uniform number, drawn binary digit by digit, with the weight: exact as far as a
    double is. Words whose bits are all decided are not drawn on, mostly after eight digits.
    """
    scaled = np.floor(np.where(weights < 1, weights, 0) * 2.0**53).astype(np.uint64)
    bits = np.zeros(len(weights) * words, dtype=np.uint64)
    open_bits = np.full(len(bits), ~np.uint64(0))
    rest = np.repeat(scaled, words)
    places = np.arange(len(bits))
    for digit in range(52, -1, -1):
        value = np.uint64(1 << digit)
        keep = (rest != 0) & (open_bits != 0)
        places, rest, open_bits = places[keep], rest[keep], open_bits[keep]
        drawn = random.integers(0, 2**64, size=len(places), dtype=np.uint64)
        set_bits = rest & value != 0
        bits[places] |= np.where(set_bits, open_bits & ~drawn, np.uint64(0))
        open_bits &= np.where(set_bits, drawn, ~drawn)
        rest &= ~value
    by_token: Array = bits.reshape(len(weights), words)
    by_token[weights >= 1] = ~np.uint64(0)
    return by_token


def batches(words: int, numbers: int) -> Iterator[int]:
    """Yield growing batch sizes, in words of worlds, until `words` are drawn or the budget is
    spent.

    There is at least one word.
    """
    begun, drawn, size = time.monotonic(), 0, 1
    most_words = max(1, _HELD // (WORD * max(numbers, 1)))
    while size > 0:
        yield size
        drawn += size
        size = min(2 * size, most_words, words - drawn)
        left = remaining()
        if left is not None:
            # As many as fit half of the remaining time, at the rate so far.
            rate = drawn / max(time.monotonic() - begun, 1e-9)
            size = min(size, int(rate * left / 2))


def drawn_worlds(chances: Mapping[Token, float], words: int, seed: int) -> Iterator[PossibleWorlds]:
    """Draw worlds of independent tuples in batches; see `batches`.

    Parameters
    ----------
    chances
        The probability of each tuple.
    """
    random = random_numbers(seed)
    written = PossibleWorlds(dict.fromkeys(chances, np.zeros(0, dtype=np.bool_)), 0)
    ordered = np.array([chances[token] for token in written.ordered])
    for size in batches(words, len(ordered)):
        bits = unpacked(random_words(random, ordered, size))
        yield written.redrawn(bits.reshape(len(ordered), size * WORD))
