"""Contributions of input tuples to a result: Shapley and Banzhaf values.

The game's players are the input tuples, its value 1 where the result is there. Sources: Livshits,
Bertossi, Kimelfeld, Sebag, *The Shapley Value of Tuples in Query Answering*, ICDT 2020; Deutch,
Frost, Kimelfeld, Monet, *Computing the Shapley Value of Facts in Query Answering*, SIGMOD 2022 (by
circuits); Owen, *Multilinear Extensions of Games*, 1972 (the integral).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from semiring.analysis.circuit import Circuit, at_every, quadrature
from semiring.analysis.compilation import DECISIONS, compile_annotation
from semiring.analysis.events import Annotation
from semiring.analysis.presence import WORD, Presence, packed, unpacked
from semiring.analysis.sampling import Estimate, hoeffding, words_needed
from semiring.base import Array
from semiring.budget import check_budget, spent
from semiring.token import Token

_TOGETHER = 1024
"""So many points of an integral are evaluated together."""


def shapley(annotation: Annotation, decisions: int = DECISIONS) -> dict[Token, Estimate]:
    """The exact Shapley value of every input tuple for a result.

    The integral over q from 0 to 1 of how much a tuple changes the probability of the result while
    every other one is there with probability q: a polynomial in q, integrated at as many points as
    its degree asks for. Tuples that do not occur have the value 0. The values add up to the result
    with all tuples less that with none.

    Raises
    ------
    ExactnessError
        When compiling needs more decisions; see `sampled_shapley`.

    Cost: after compilation, n passes over the circuit for n tuples, exact up to rounding. Gates
    that look alike are evaluated once.
    """
    circuit = compile_annotation(annotation, decisions)
    points, weights = quadrature(len(circuit.tokens))
    if not isinstance(circuit, Circuit):
        return _exact(circuit.influences(points, weights))
    values: dict[Token, float] = dict.fromkeys(circuit.tokens, 0.0)
    for start in range(0, len(points), _TOGETHER):
        there, share = points[start : start + _TOGETHER], weights[start : start + _TOGETHER]
        influences = circuit.influences(at_every(circuit.tokens, there), partial(_integral, share))
        for token, value in influences.items():
            values[token] += value
    return _exact(values)


def _exact(values: Mapping[Token, float]) -> dict[Token, Estimate]:
    return {token: Estimate(float(value)) for token, value in values.items()}


def _integral(weights: Array, values: Array | float) -> float:
    return float((weights * values).sum())


def banzhaf(annotation: Annotation, decisions: int = DECISIONS) -> dict[Token, Estimate]:
    """The exact Banzhaf value of every input tuple: its influence where all others are a coin toss.

    Raises
    ------
    ExactnessError
        As `shapley`.
    """
    circuit = compile_annotation(annotation, decisions)
    if not isinstance(circuit, Circuit):
        return _exact(circuit.influences(np.array([0.5]), np.ones(1)))
    return _exact(circuit.influences(at_every(circuit.tokens, 0.5)))


def sampled_banzhaf(
    annotation: Annotation, error: float = 0.05, confidence: float = 0.95, seed: int = 0
) -> dict[Token, Estimate]:
    """Banzhaf values from random worlds in which every tuple is there or not by the toss of a coin.

    Parameters
    ----------
    error, confidence
        Each value is within `error` with this probability, or within the error that is stated where
        a budget is spent before.
    seed
        The same one gives the same worlds.

    Cost: a pass over the annotation's gates, whose operations are on arrays of 64 worlds a word.
    """
    presence = Presence(annotation)
    tokens, words = presence.tokens, words_needed(error, confidence, width=4.0)
    random = np.random.default_rng(seed)
    totals, drawn = np.zeros(len(tokens), dtype=np.int64), 0
    for size in presence.batches(words):
        worlds = random.integers(0, 2**64, size=(len(tokens), size), dtype=np.uint64)
        held = presence.words(dict(zip(tokens, worlds, strict=True)), size)
        both = np.bitwise_count(worlds & held).sum(axis=1, dtype=np.int64)
        totals += 2 * both - int(np.bitwise_count(held).sum())
        drawn += size * WORD
        if spent():
            break
    wrong = hoeffding(drawn, confidence, width=4.0)
    return {
        token: Estimate(2 * total / drawn, wrong, confidence, drawn)
        for token, total in zip(tokens, totals.tolist(), strict=True)
    }


def sampled_shapley(
    annotation: Annotation, error: float = 0.05, confidence: float = 0.95, seed: int = 0
) -> dict[Token, Estimate]:
    """Shapley values from random orders in which the tuples arrive.

    Parameters
    ----------
    error, confidence
        Each value is within `error` with this probability.
    seed
        The same one gives the same orders.

    Cost: a pass over the annotation's gates, whose operations are on arrays of orders; one for each
    of the tuples where the result may go away as tuples arrive.
    """
    presence = Presence(annotation)
    tokens = presence.tokens
    samples = words_needed(error, confidence, width=2.0) * WORD
    random = np.random.default_rng(seed)
    totals = np.zeros(len(tokens), dtype=np.int64)
    count = _pivots if presence.monotone else _changes
    drawn = 0
    for size in presence.batches(samples // WORD, WORD):
        totals += count(presence, random.random((len(tokens), size * WORD)))
        drawn += size * WORD
        if spent():
            break
    samples = drawn
    wrong = hoeffding(samples, confidence, width=2.0)
    return {
        token: Estimate(total / samples, wrong, confidence, samples)
        for token, total in zip(tokens, totals.tolist(), strict=True)
    }


def _pivots(presence: Presence, times: Array) -> Array:
    """Return the number of orders in which each tuple's arrival makes a monotone result appear.

    Parameters
    ----------
    times
    The time at which each tuple arrives, per tuple and order.
    """
    arrived = presence.arrivals(dict(zip(presence.tokens, times, strict=True)), times.shape[1])
    pivotal: Array = (times == arrived).sum(axis=1)
    return pivotal


def _changes(presence: Presence, times: Array) -> Array:
    """Return the number of times that the result comes with each tuple, less the times it goes."""
    tokens, orders = presence.tokens, np.argsort(times, axis=0)
    worlds = np.arange(times.shape[1])
    totals = np.zeros(len(tokens), dtype=np.int64)
    there = np.zeros(times.shape, dtype=np.bool_)

    def result() -> Array:
        words = dict(zip(tokens, packed(there), strict=True))
        return unpacked(presence.words(words, len(worlds) // WORD)).astype(np.int64)

    before = result()
    for arriving in orders:
        check_budget()
        there[arriving, worlds] = True
        now = result()
        np.add.at(totals, arriving, now - before)
        before = now
    return totals
