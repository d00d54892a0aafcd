"""Expected values of aggregates from random worlds, with their sampling error."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from semiring.analysis.distribution import check_numbers, numbers_of
from semiring.analysis.evidence import (
    Blocks,
    Given,
    evidence,
    independent_chances,
    substituted,
)
from semiring.analysis.moments import Moments
from semiring.analysis.sampling import drawn_worlds, hoeffding, words_needed
from semiring.base import Array
from semiring.boolean.chances import Weights
from semiring.boolean.events import most
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.errors import ExactnessError
from semiring.expression import Expression
from semiring.tensor import Tensor
from semiring.value import Value


def sampled_moments(
    values: Sequence[Value],
    weights: Weights,
    error: float = 0.01,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    given: Given = None,
    blocks: Blocks = None,
) -> list[Moments]:
    """Estimate expected values and variances of aggregated values from the same random worlds.

    Values that share parts are evaluated together.

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
        For values that are not numbers.
    ExactnessError
        When none of the worlds that are drawn has a value, or the evidence.

    Cost: a pass over the values' terms, whose operations are on arrays of worlds. If a budget is
    spent before (:func:`semiring.support.budget.within`), the worlds drawn so far are the answer.
    """
    known = evidence(given)
    instead, chances = independent_chances((known, *values), weights, blocks)
    if instead is not None:
        known = Expression.of(substituted(known, instead))
        replacements = [value.substituted(instead) for value in values]
        values = [
            new if isinstance(new, Value) else value
            for new, value in zip(replacements, values, strict=True)
        ]
    for value in values:
        if isinstance(value, Tensor):
            check_numbers(value)
    samples, total, drawn = [], 0, 0
    for worlds in drawn_worlds(chances, words_needed(error, confidence), seed):
        seen = worlds.holds(known)
        drawn, total = drawn + worlds.length, total + int(seen.sum())
        samples.append(_values(values, worlds)[:, seen])
    sample = np.concatenate(samples, axis=1)
    return [
        _moments(value, own[~np.isnan(own)], total, confidence, drawn)
        for value, own in zip(values, sample, strict=True)
    ]


def _moments(value: Value, sample: Array, total: int, confidence: float, drawn: int) -> Moments:
    """Return the moments of a value from its plain values in sampled worlds."""
    if not len(sample):
        raise ExactnessError(
            f"{value.truncated(3)} has a value in none of {drawn:,} random worlds "
            "with the evidence.\nAsk for the exact answer, method='exact'."
        )
    presence, missed = len(sample) / total, 0.0
    if isinstance(value, Tensor):
        wrong = hoeffding(len(sample), confidence, _width(value))
    else:
        sample, wrong, missed = _within_range(sample, confidence)
    mean, variance = float(sample.mean()), float(sample.var())
    return Moments(mean, variance, presence, wrong, confidence, len(sample), missed)


def _within_range(sample: Array, confidence: float) -> tuple[Array, float, float]:
    """Return the sampled values within a range, the error of their mean, and a bound on the rest.

    The first quarter of the sample gives the range; the bound is on the probability of a value
    outside it. Sources: Wilks, *Determination of Sample Sizes for Setting Tolerance Limits*, 1941
    (the range); Maurer, Pontil, *Empirical Bernstein Bounds and Sample Variance Penalization*, COLT
    2009.
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
    """Return a bound on the distance between two values of the aggregate."""
    name = tensor.monoid.name
    if name == "COUNT":
        return float(sum(most(annotation) for annotation, _ in tensor.terms))
    values = [float(value) for _, value in tensor.terms] or [0.0]
    if name == "SUM":
        return sum(abs(float(value)) * most(annotation) for annotation, value in tensor.terms)
    return max(values) - min(values)


def _values(values: Sequence[Value], worlds: PossibleWorlds) -> Array:
    """Return values by world, a row each; NaN for NULL."""
    found = np.full((len(values), worlds.length), np.nan)
    formal = [place for place, value in enumerate(values) if not isinstance(value, Tensor)]
    if formal:
        plain = worlds.values([values[place] for place in formal])
        found[formal] = numbers_of(plain.ravel().tolist()).reshape(plain.shape)
    for place, value in enumerate(values):
        if isinstance(value, Tensor):
            found[place] = _aggregated(value, worlds)
    return found


def _aggregated(tensor: Tensor, worlds: PossibleWorlds) -> Array:
    name = tensor.monoid.name
    copies = worlds.counts([annotation for annotation, _ in tensor.terms]).astype(np.float64)
    count: Array = copies.sum(axis=0)
    if name == "COUNT":
        return count
    numbers = np.array([float(value) for _, value in tensor.terms])
    if name in ("SUM", "AVG"):
        total: Array = numbers @ copies
        mean: Array = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        return total if name == "SUM" else mean
    there = np.where(copies > 0, numbers[:, None], np.nan)
    least = np.fmin if name == "MIN" else np.fmax
    extreme: Array = least.reduce(there, axis=0, initial=np.nan)
    return extreme
