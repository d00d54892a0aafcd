"""The probability that a tuple is there, of independent input tuples.

Source: Suciu, Olteanu, Ré, Koch, *Probabilistic Databases*, 2011: exact by knowledge compilation,
which read-once annotations need no decisions for; approximate by sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from semiring.analysis.circuit import DECISIONS, compile_annotation
from semiring.analysis.events import Annotation
from semiring.analysis.presence import WORD, Presence, unpacked
from semiring.analysis.sampling import Estimate, hoeffding, random_words, words_needed
from semiring.errors import ValuationError
from semiring.semirings.viterbi import Viterbi
from semiring.token import Token

Weights: TypeAlias = "Callable[[Token], float] | Mapping[Token, float] | float"
"""The probability of each tuple: a function, a mapping, or one number for all."""

_INTERVAL = Viterbi()


def weights_of(annotation_tokens: frozenset[Token], weights: Weights) -> dict[Token, float]:
    """Checked probabilities of some tokens.

    Raises
    ------
    ValuationError
        A token without a probability, or one outside of 0 to 1.
    """
    checked = {}
    for token in sorted(annotation_tokens):
        if isinstance(weights, Mapping):
            if token not in weights:
                raise ValuationError(f"No probability is given for {token}.")
            weight = weights[token]
        else:
            weight = weights(token) if callable(weights) else weights
        checked[token] = _INTERVAL.check(weight)
    return checked


def probability(annotation: Annotation, weights: Weights, decisions: int = DECISIONS) -> Estimate:
    """The exact probability that a tuple with this annotation is there.

    Parameters
    ----------
    weights
        The probability of each input tuple; input tuples are independent.
    decisions
        See `compile_annotation`.

    Raises
    ------
    ExactnessError
        When compiling needs more decisions; see `sampled_probability`.
    ValuationError
        As `weights_of`.
    """
    values = weights_of(annotation.tokens, weights)
    return Estimate(float(compile_annotation(annotation, decisions).probability(values)))


def sampled_probability(
    annotation: Annotation,
    weights: Weights,
    error: float = 0.01,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """The probability that a tuple is there, from random worlds.

    Parameters
    ----------
    error, confidence
        So many worlds are drawn that the result is within `error` with this probability.
    seed
        The same one gives the same worlds.

    Cost: a pass over the annotation's gates, whose operations are on arrays of 64 worlds a word.
    """
    values = weights_of(annotation.tokens, weights)
    words = words_needed(error, confidence)
    random = np.random.default_rng(seed)
    chances = np.array(list(values.values()))
    count = 0
    presence = Presence(annotation)
    for size in presence.batches(words):
        drawn = random_words(random, chances, size)
        count += int(unpacked(presence.words(dict(zip(values, drawn, strict=True)), size)).sum())
    samples = words * WORD
    return Estimate(count / samples, hoeffding(samples, confidence), confidence, samples)
