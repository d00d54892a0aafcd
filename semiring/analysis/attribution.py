"""How much each input tuple contributes to a result: Shapley and Banzhaf values.

The game's players are the input tuples, its value 1 where the result is there. Sources: Livshits,
Bertossi, Kimelfeld, Sebag, *The Shapley Value of Tuples in Query Answering*, ICDT 2020; Deutch,
Frost, Kimelfeld, Monet, *Computing the Shapley Value of Facts in Query Answering*, SIGMOD 2022 (by
circuits); Owen, *Multilinear Extensions of Games*, 1972 (the integral).
"""

from __future__ import annotations

import numpy as np

from semiring.analysis.circuit import DECISIONS, at_every, compile_annotation, quadrature
from semiring.analysis.events import Annotation
from semiring.analysis.sampling import WORD, Estimate, hoeffding, present, words_needed
from semiring.token import Token


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

    Cost: after compilation, n passes over the circuit for n tuples, exact up to rounding.
    """
    circuit = compile_annotation(annotation, decisions)
    points, weights = quadrature(len(circuit.tokens))
    found = circuit.influences(at_every(circuit.tokens, points))
    return {token: Estimate(float(np.sum(weights * value))) for token, value in found.items()}


def banzhaf(annotation: Annotation, decisions: int = DECISIONS) -> dict[Token, Estimate]:
    """The exact Banzhaf value of every input tuple: its influence where all others are a coin toss.

    Raises
    ------
    ExactnessError
        As `shapley`.
    """
    circuit = compile_annotation(annotation, decisions)
    found = circuit.influences(at_every(circuit.tokens, 0.5))
    return {token: Estimate(float(value)) for token, value in found.items()}


def sampled_shapley(
    annotation: Annotation, error: float = 0.05, confidence: float = 0.95, seed: int = 0
) -> dict[Token, Estimate]:
    """Shapley values from random orders in which the tuples arrive.

    Parameters
    ----------
    error, confidence
        Each value is within `error` with this probability.

    Cost: for n tuples, n + 1 evaluations for every 64 orders.
    """
    tokens = sorted(annotation.tokens)
    words = words_needed(error, confidence, width=2.0)
    random = np.random.default_rng(seed)
    totals = np.zeros(len(tokens), dtype=np.int64)
    for _ in range(words):
        orders = np.argsort(random.random((WORD, len(tokens))), axis=1)
        there = dict.fromkeys(tokens, 0)
        before = present(annotation, there)
        for step in range(len(tokens)):
            arriving = orders[:, step].tolist()
            for world, place in enumerate(arriving):
                there[tokens[place]] |= 1 << world
            after = present(annotation, there)
            for world, place in enumerate(arriving):
                totals[place] += (after >> world & 1) - (before >> world & 1)
            before = after
    samples = words * WORD
    wrong = hoeffding(samples, confidence, width=2.0)
    return {
        token: Estimate(total / samples, wrong, confidence, samples)
        for token, total in zip(tokens, totals.tolist(), strict=True)
    }
