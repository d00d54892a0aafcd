"""Contributions of input tuples to a result: Shapley and Banzhaf values.

The game's players are the input tuples, its value 1 where the result is there. Sources: Livshits,
Bertossi, Kimelfeld, Sebag, *The Shapley Value of Tuples in Query Answering*, ICDT 2020; Deutch,
Frost, Kimelfeld, Monet, *Computing the Shapley Value of Facts in Query Answering*, SIGMOD 2022 (by
circuits); Owen, *Multilinear Extensions of Games*, 1972 (the integral).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from semiring.analysis.presence import WORD, Presence
from semiring.analysis.sampling import Estimate, batches, hoeffding, words_needed
from semiring.arrays.segments import others
from semiring.base import Array
from semiring.boolean.circuit import quadrature
from semiring.boolean.compilation import DECISIONS, compile_annotation
from semiring.boolean.events import Annotation
from semiring.support.budget import remaining, within
from semiring.support.chance import random_numbers
from semiring.token import Token

_LOOKS = 20
"""Limit on the checks of a sample's errors, each after twice the worlds of the last."""


def shapley(annotation: Annotation, decisions: int = DECISIONS) -> dict[Token, Estimate]:
    """Return the exact Shapley value of every input tuple for a result.

    It is the integral over q from 0 to 1 of a tuple's effect on the probability of the result while
    every other tuple is present with probability q: a polynomial in q, integrated at as many points
    as its degree requires. Tuples that do not occur have the value 0. The values add up to the
    result with all tuples less the result with none.

    Raises
    ------
    ExactnessError
        When compiling needs more decisions; see `sampled_shapley`.

    Cost: after compilation, n passes over the circuit for n tuples, exact up to rounding. Gates
    that look alike are evaluated once.
    """
    circuit = compile_annotation(annotation, decisions)
    return _exact(circuit.integrals(*quadrature(len(circuit.tokens))))


def _exact(values: Mapping[Token, float]) -> dict[Token, Estimate]:
    return {token: Estimate(float(value)) for token, value in values.items()}


def banzhaf(annotation: Annotation, decisions: int = DECISIONS) -> dict[Token, Estimate]:
    """Return the exact Banzhaf value of every input tuple: its influence if all others are a
    coin toss.

    Raises
    ------
    ExactnessError
        As `shapley`.
    """
    circuit = compile_annotation(annotation, decisions)
    return _exact(circuit.integrals(np.array([0.5]), np.ones(1)))


def sampled_banzhaf(
    annotation: Annotation, error: float = 0.05, confidence: float = 0.95, seed: int = 0
) -> dict[Token, Estimate]:
    """Estimate Banzhaf values from random worlds, with each tuple present by the toss of a coin.

    Parameters
    ----------
    error, confidence
        Each value is within `error` with this probability, or within the error that is stated where
        a budget is spent before.
    seed
        The same one gives the same worlds.

    Cost: a pass over the annotation's gates, whose operations are on arrays of worlds.
    """
    presence = Presence(annotation)
    tokens, words = presence.tokens, words_needed(error, confidence, width=4.0)
    random = random_numbers(seed)
    totals, drawn = np.zeros(len(tokens), dtype=np.int64), 0
    for size in batches(words, presence.size):
        there = random.random((len(tokens), size * WORD), dtype=np.float32) < 0.5
        held = presence.holds(there)
        totals += 2 * there[:, held].sum(axis=1) - int(held.sum())
        drawn += size * WORD
    wrong = hoeffding(drawn, confidence, width=4.0)
    return {
        token: Estimate(2 * total / drawn, wrong, confidence, drawn)
        for token, total in zip(tokens, totals.tolist(), strict=True)
    }


def sampled_shapley(
    annotation: Annotation, error: float = 0.05, confidence: float = 0.95, seed: int = 0
) -> dict[Token, Estimate]:
    """Estimate Shapley values from random pairs of worlds with equally many tuples.

    A Shapley value is the mean, over all sizes of worlds, of how much likelier the result is in the
    worlds of a size with the tuple than in the others. A random order gives two worlds of a
    size, its first and its last tuples; where the result is in one of them only, all tuples of the
    two are credited. Sizes are drawn such that a credit is the same for all of them. Tuples without
    which the result is never there are in every world that is drawn. Source: Kolpaczki, Bengs,
    Muschalik, Hüllermeier, *Approximating the Shapley Value without Marginal Contributions*, AAAI
    2024 (worlds that are used for all players), with sizes and pairs drawn as here.

    Parameters
    ----------
    error, confidence
        Each value is within `error` with this probability, or within the error that is stated where
        a budget is spent before.
    seed
        The same one gives the same worlds.

    Cost: a pass over the annotation's gates for each batch of worlds, for all tuples together. The
    credit grows with the logarithm of the number of tuples.
    """
    presence = Presence(annotation)
    tokens, random = presence.tokens, random_numbers(seed)
    count, needed = len(tokens), presence.needed
    if not count:
        return {}
    rest = others(count, needed)
    there = np.ones((count, 2), dtype=np.bool_)
    there[:, 0] = False
    nothing, whole = presence.holds(there).tolist()
    common = common_error = 0.0
    doubt = 1 - confidence
    if len(needed) and len(rest):
        doubt /= 2
        left = remaining()
        with within(left and left / 4):
            common, common_error = _of_needed(presence, rest, error, doubt, random)
    found, errors, pairs = _of_others(presence, rest, error, doubt, random)
    values, wrong = np.full(count, common), np.full(count, common_error)
    share = len(needed) / max(len(rest), 1)
    values[rest], wrong[rest] = found - share * common, errors + share * common_error
    values += (int(whole) - int(nothing)) / count
    return {
        token: Estimate(value, of_value, confidence, 2 * pairs)
        for token, value, of_value in zip(tokens, values.tolist(), wrong.tolist(), strict=True)
    }


def _sizes_with(needed: int, count: int) -> tuple[Array, Array]:
    """Return the sizes of worlds, up to all tuples but one, and the share with all needed
    tuples.
    """
    sizes = np.arange(needed, count)
    shares = np.ones(len(sizes))
    for number in range(needed):
        shares *= (sizes - number) / (count - number)
    return sizes, shares


def _of_needed(
    presence: Presence, rest: Array, error: float, doubt: float, random: np.random.Generator
) -> tuple[float, float]:
    """Return the part of needed tuples' values from worlds that lack some tuple, and its error."""
    count = len(presence.tokens)
    sizes, shares = _sizes_with(count - len(rest), count)
    weights = shares / sizes
    width = float(weights.sum())
    held = drawn = 0
    for size in batches(words_needed(error, 1 - doubt, width), presence.size):
        chosen = random.choice(len(sizes), size * WORD, p=weights / width)
        first, _ = _first_and_last(len(rest), chosen, random)
        there = np.ones((count, size * WORD), dtype=np.bool_)
        there[rest] = first
        held += int(presence.holds(there).sum())
        drawn += size * WORD
    return width * held / drawn, hoeffding(drawn, 1 - doubt, width)


def _of_others(
    presence: Presence, rest: Array, error: float, doubt: float, random: np.random.Generator
) -> tuple[Array, Array, int]:
    """Return the values of tuples that are not needed, up to a constant, their errors, and the
    pairs drawn.

    Source of the errors: Maurer, Pontil, *Empirical Bernstein Bounds and Sample Variance
    Penalization*, COLT 2009, or Hoeffding's if smaller; each check of the errors uses up a part of
    the allowed error probability.
    """
    count, length = len(presence.tokens), len(rest)
    totals = np.zeros((2, length))
    if length < 2:
        return totals[0], totals[1], 0
    sizes, shares = _sizes_with(count - length, count)
    chosen = np.arange(1, length)
    weights = shares[1:] * count / (sizes[1:] * (length - chosen))
    weights *= np.maximum(chosen, length - chosen) / length
    credit = float(weights.sum()) / 2
    words = words_needed(error, 1 - doubt / _LOOKS, 2 * credit)
    drawn, looked, looks = 0, 0, 0
    errors = np.full(length, np.inf)
    for size in batches(2 * words, presence.size):
        pairs = size * WORD // 2
        of_pairs = random.choice(chosen, pairs, p=weights / weights.sum())
        first, last = _first_and_last(length, of_pairs, random)
        there = np.ones((count, 2 * pairs), dtype=np.bool_)
        there[rest, :pairs], there[rest, pairs:] = first, last
        held = presence.holds(there).astype(np.int8)
        differ = held[:pairs] - held[pairs:]
        told = np.flatnonzero(differ)
        of_tokens = (first[:, told].astype(np.int8) - last[:, told]) * differ[told]
        totals += of_tokens.sum(axis=1), np.abs(of_tokens).sum(axis=1)
        drawn += pairs
        if drawn >= 2 * looked:
            looked, looks = drawn, looks + 1
            errors = _credit_errors(totals, credit, drawn, doubt / (looks * (looks + 1)))
            if errors.max() <= error:
                break
    if looked < drawn:
        errors = _credit_errors(totals, credit, drawn, doubt / ((looks + 1) * (looks + 2)))
    return credit * totals[0] / drawn, errors, drawn


def _credit_errors(totals: Array, credit: float, drawn: int, doubt: float) -> Array:
    """Return the errors of mean credits, from sums and sums of squares."""
    mean, square = credit * totals[0] / drawn, credit**2 * totals[1] / drawn
    variance = (square - mean**2) * drawn / max(drawn - 1, 1)
    logarithm = math.log(8 / doubt)
    bernstein = np.sqrt(2 * variance * logarithm / drawn)
    bernstein += 14 * credit * logarithm / (3 * max(drawn - 1, 1))
    least = np.minimum(bernstein, hoeffding(drawn, 1 - doubt / 2, 2 * credit))
    # Values are between -1 and 1.
    bounded: Array = np.minimum(least, 2.0)
    return bounded


def _first_and_last(length: int, sizes: Array, random: np.random.Generator) -> tuple[Array, Array]:
    """Return the first and the last tuples of random orders, as Booleans."""
    orders = np.argsort(random.random((len(sizes), length), dtype=np.float32), axis=1)
    places, wanted = np.arange(length)[None, :], sizes[:, None]
    first, last = np.empty((2, len(sizes), length), dtype=np.bool_)
    np.put_along_axis(first, orders, places < wanted, axis=1)
    np.put_along_axis(last, orders, places >= length - wanted, axis=1)
    return first.T, last.T
