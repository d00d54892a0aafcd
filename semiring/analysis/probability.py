"""The probability that a tuple is present, given independent input tuples.

Source: Suciu, Olteanu, Ré, Koch, *Probabilistic Databases*, 2011: exact by knowledge compilation,
which read-once annotations need no decisions for; approximate by sampling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from semiring.analysis.evidence import (
    Blocks,
    Given,
    evidence,
    impossible,
    independent_chances,
    substituted,
)
from semiring.analysis.presence import WORD
from semiring.analysis.sampling import Estimate, drawn_worlds, hoeffding, words_needed
from semiring.boolean.chances import Weights
from semiring.boolean.compilation import DECISIONS, compile_annotation
from semiring.boolean.events import Annotation
from semiring.errors import ExactnessError
from semiring.expression import Expression
from semiring.token import Token

_ROUNDS = 16
"""Factor by which more worlds are drawn if few have the evidence."""


def probability(
    annotation: Annotation,
    weights: Weights,
    decisions: int = DECISIONS,
    *,
    given: Given = None,
    blocks: Blocks = None,
) -> Estimate:
    """Return the exact probability that a tuple with this annotation is present.

    Parameters
    ----------
    weights
        The probability of each input tuple; input tuples are independent.
    decisions
        See `compile_annotation`.
    given
        Evidence: annotations that are known not to be 0, such as annotations of rows that were
        seen, and conditions. The answer is the conditional probability P(A ∧ B) / P(B).
    blocks
        The block of each tuple: of a block at most one tuple is there, each with its weight.

    Raises
    ------
    CapabilityError
        When the evidence has the probability 0.
    ExactnessError
        When compiling needs more decisions; see `sampled_probabilities`.
    ValuationError
        As `independent_chances`.
    """
    known = evidence(given)
    instead, chances = independent_chances((annotation, known), weights, blocks)
    annotation, known = substituted(annotation, instead), Expression.of(substituted(known, instead))
    if known.constant_value() == 1:
        return Estimate(_exact(annotation, chances, decisions))
    whole = _exact(known, chances, decisions)
    if not whole:
        raise impossible()
    if annotation.tokens.isdisjoint(known.tokens):
        return Estimate(_exact(annotation, chances, decisions))
    both = _exact(Expression.of(annotation) * known, chances, decisions)
    return Estimate(min(both / whole, 1.0))


def _exact(annotation: Annotation, chances: Mapping[Token, float], decisions: int) -> float:
    return float(compile_annotation(annotation, decisions).probability(chances))


def sampled_probabilities(
    annotations: Sequence[Annotation],
    weights: Weights,
    error: float = 0.01,
    confidence: float = 0.95,
    seed: int = 0,
    *,
    given: Given = None,
    blocks: Blocks = None,
) -> list[Estimate]:
    """Estimate the probabilities that tuples are present, from the same random worlds.

    Annotations that share parts are evaluated together.

    Parameters
    ----------
    error, confidence
        So many worlds are drawn that each result is within `error` with this probability.
    seed
        The same one gives the same worlds.
    given, blocks
        As for `probability`. Worlds without the evidence are not counted; where the evidence is
        rare, fewer worlds are left and the error that is stated is larger than asked for.

    Raises
    ------
    ExactnessError
        When the evidence holds in none of the worlds that were drawn.

    Cost: a pass over the annotations' gates, whose operations are on arrays of 64 worlds a word.
    Where a budget is spent before (:func:`semiring.support.budget.within`), the worlds drawn so
    far are the answer, with the error that they have.
    """
    known = evidence(given)
    instead, chances = independent_chances((known, *annotations), weights, blocks)
    annotations = [substituted(annotation, instead) for annotation in annotations]
    evident = substituted(known, instead)
    words = words_needed(error, confidence)
    counts, samples, drawn = np.zeros(len(annotations), dtype=np.int64), 0, 0
    most_words = words if evident == Expression.one() else _ROUNDS * words
    for worlds in drawn_worlds(chances, most_words, seed):
        held = worlds.holds(evident)
        counts += ((worlds.counts(annotations) != 0) & held).sum(axis=1)
        samples += int(held.sum())
        drawn += worlds.length
        if samples >= words * WORD:
            break
    if not samples:
        raise ExactnessError(
            f"The evidence holds in none of {drawn:,} random worlds.\n"
            "Ask for the exact probability, method='exact'."
        )
    wrong = hoeffding(samples, confidence)
    return [Estimate(count / samples, wrong, confidence, samples) for count in counts.tolist()]
