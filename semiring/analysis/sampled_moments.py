"""Expected values of aggregates from random worlds, with the error that a sample has."""

from __future__ import annotations

import math
import time

import numpy as np

from semiring.analysis.distribution import check_number, numbers_of
from semiring.analysis.evidence import (
    Blocks,
    Given,
    chosen_apart,
    evidence,
    substituted,
)
from semiring.analysis.moments import Moments
from semiring.analysis.most import most
from semiring.analysis.presence import WORD, unpacked
from semiring.analysis.probability import Weights, weights_of
from semiring.analysis.sampling import hoeffding, random_words, words_needed
from semiring.base import Array
from semiring.budget import remaining
from semiring.errors import ExactnessError
from semiring.expression import Expression
from semiring.possible_worlds import PossibleWorlds
from semiring.tensor import Tensor
from semiring.value import Value

_HELD = 1 << 24
"""So many Booleans are held at a time: which tuples are in which worlds."""


def sampled_moments(
    tensor: Value,
    weights: Weights,
    error: float = 0.01,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    given: Given = None,
    blocks: Blocks = None,
) -> Moments:
    """Return the expected value and variance of an aggregated value, from random worlds.

    Parameters
    ----------
    weights
        The probability of each input tuple; input tuples are independent.
    error, confidence
        So many worlds are drawn that, if all of them have a value, the mean is within `error` times
        the width of the range of values with this probability. The stated error is computed from
        the worlds that do have a value. Where the range of a formal value is not known, a quarter
        of the worlds give one, and the others the mean and its error: see :attr:`Moments.missed`.
    seed
        The same one gives the same worlds.
    given, blocks
        As for `probability`; worlds without the evidence are not counted.

    Raises
    ------
    CapabilityError
        For values that are no numbers.
    ExactnessError
        When none of the worlds that are drawn has a value, or the evidence.

    Cost: a pass over the tensor's terms, whose operations are on arrays of worlds. If a budget is
    spent before (:func:`semiring.budget.within`), the worlds drawn so far are the answer.
    """
    known = evidence(given)
    tokens = tensor.tokens | known.tokens
    instead, chances = chosen_apart(tokens, weights_of(tokens, weights), blocks)
    chances = dict(sorted(chances.items(), key=lambda pair: pair[0].sort_key))
    if instead is not None:
        known = Expression.of(substituted(known, instead))
        replacement = tensor.substituted(instead)
        tensor = replacement if isinstance(replacement, Value) else tensor
    if isinstance(tensor, Tensor):
        for _, value in tensor.terms:
            check_number(value)
    words = words_needed(error, confidence)
    random = np.random.default_rng(seed)
    values = []
    most_words = max(1, _HELD // (WORD * max(len(chances), 1)))
    drawn_words, size, begun = 0, 1, time.monotonic()
    while drawn_words < words:
        if drawn_words:
            size = min(2 * size, most_words, words - drawn_words)
            left = remaining()
            if left is not None:
                # As many as are drawn in half of the time that is left, at the rate so far.
                rate = drawn_words / max(time.monotonic() - begun, 1e-9)
                size = min(size, int(rate * left / 2))
        if not size:
            break
        drawn_words += size
        drawn = random_words(random, np.array(list(chances.values())), size)
        there = {token: unpacked(word) for token, word in zip(chances, drawn, strict=True)}
        worlds = PossibleWorlds(there, size * WORD)
        values.append(_values(tensor, worlds)[worlds.holds(known)])
    sample = np.concatenate(values)
    total = len(sample)
    sample = sample[~np.isnan(sample)]
    if not len(sample):
        raise ExactnessError(
            f"{tensor.truncated(3)} has a value in none of {drawn_words * WORD:,} random worlds "
            "with the evidence.\nAsk for the exact answer, method='exact'."
        )
    presence, missed = len(sample) / total, 0.0
    if isinstance(tensor, Tensor):
        wrong = hoeffding(len(sample), confidence, _width(tensor))
    else:
        sample, wrong, missed = _within_range(sample, confidence)
    mean, variance = float(sample.mean()), float(sample.var())
    return Moments(mean, variance, presence, wrong, confidence, len(sample), missed)


def _within_range(sample: Array, confidence: float) -> tuple[Array, float, float]:
    """Return the values of a sample in the range of others, the error of their mean, and how
    likely a value outside of this range is at most.

    Sources: Wilks, *Determination of Sample Sizes for Setting Tolerance Limits*, 1941 (the range);
    Maurer, Pontil, *Empirical Bernstein Bounds and Sample Variance Penalization*, COLT 2009.
    """
    quarter = -(-len(sample) // 4)
    least, largest = float(sample[:quarter].min()), float(sample[:quarter].max())
    doubt = (1 - confidence) / 2
    missed = min(2 * (1 - (doubt / 2) ** (1 / quarter)), 1.0)
    rest = sample[quarter:]
    inside = rest[(rest >= least) & (rest <= largest)]
    if len(inside) < 2:
        return sample[:quarter], largest - least, missed
    logarithm = math.log(4 / doubt)
    deviation = math.sqrt(2 * float(inside.var(ddof=1)) * logarithm / len(inside))
    wrong = deviation + 7 * (largest - least) * logarithm / (3 * (len(inside) - 1))
    return inside, min(wrong, largest - least), missed


def _width(tensor: Tensor) -> float:
    """Return a bound of the distance between two values of the aggregate."""
    name = tensor.monoid.name
    if name == "COUNT":
        return float(sum(most(annotation) for annotation, _ in tensor.terms))
    values = [float(value) for _, value in tensor.terms] or [0.0]
    if name == "SUM":
        return sum(abs(float(value)) * most(annotation) for annotation, value in tensor.terms)
    return max(values) - min(values)


def _values(tensor: Value, worlds: PossibleWorlds) -> Array:
    """Return the value in each world; NaN where it has none."""
    if not isinstance(tensor, Tensor):
        return numbers_of(worlds.values([tensor])[0].tolist())
    name, length = tensor.monoid.name, worlds.length
    count, total = np.zeros(length), np.zeros(length)
    least, largest = np.full(length, np.nan), np.full(length, np.nan)
    counts = worlds.counts([annotation for annotation, _ in tensor.terms])
    for copies, (_, value) in zip(counts.astype(np.float64), tensor.terms, strict=True):
        count += copies
        if name == "COUNT":
            continue
        total += copies * float(value)
        least = np.where(copies > 0, np.fmin(least, float(value)), least)
        largest = np.where(copies > 0, np.fmax(largest, float(value)), largest)
    if name == "AVG":
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return {"COUNT": count, "SUM": total, "MIN": least, "MAX": largest}[name]
