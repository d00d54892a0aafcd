"""Expected value and variance of aggregated values, of independent input tuples.

Source: Jayram, Kale, Vee, *Efficient Aggregation Algorithms for Probabilistic Data*, SODA 2007;
tensors: Amsterdamer, Deutch, Tannen, PODS 2011. Expectation is linear, so that SUM and COUNT need
no independence of their terms; covariances are between terms that share tuples. AVG is in
`averages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from semiring.analysis.averages import joint_of, quotient
from semiring.analysis.distribution import (
    aggregated_moments,
    check_counted,
    check_numbers,
    counted_events,
    distribution,
    numbers_of,
)
from semiring.analysis.evidence import (
    Blocks,
    Given,
    evidence,
    impossible,
    independent_chances,
    substituted,
)
from semiring.base import Array
from semiring.boolean.chances import Weights
from semiring.boolean.compilation import DECISIONS, compile_annotation
from semiring.boolean.events import Annotation, BooleanFunctions
from semiring.errors import CapabilityError
from semiring.expression import Expression, sum_of
from semiring.monoid import MAX
from semiring.polynomial import Polynomial
from semiring.tensor import Tensor
from semiring.token import Token
from semiring.value import Operand, Value

_FIRST = 64
"""The number of least or largest values that are looked at first."""

_ROUNDING = 1e-15
"""So large a share of a probability is its rounding."""

_TOGETHER = 256
"""So many probabilities are computed together."""

_MANY = 200
"""Sums of so many simple tensors are computed by whole columns where that can be."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and variance of an aggregated value.

    Attributes
    ----------
    mean, variance
        For SUM and COUNT, over no tuple 0; for MIN, MAX and AVG under the condition that there is
        a value.
    presence
        For MIN, MAX and AVG, the probability that there is a value; else 1.
    error
        0 where they are exact. Else the true mean is within `error` of the mean, with a probability
        of at least `confidence`; nothing is stated of the variance.
    samples
        How many worlds with a value were drawn; 0 where the moments are exact.
    missed
        Of values whose range is unknown, quotients say: mean and error are about the worlds whose
        values are in the range that was seen. All others together have at most this probability
        among the worlds with a value, at the same confidence.
    """

    mean: float
    variance: float
    presence: float = 1.0
    error: float = 0.0
    confidence: float = 1.0
    samples: int = 0
    missed: float = 0.0

    @property
    def exact(self) -> bool:
        """True if nothing was drawn: the numbers are exact up to the rounding of doubles."""
        return self.samples == 0


def moments(
    tensor: Value,
    weights: Weights,
    decisions: int = DECISIONS,
    *,
    given: Given = None,
    blocks: Blocks = None,
) -> Moments:
    """Return the expected value and variance of a formal value, exact up to rounding.

    Parameters
    ----------
    tensor
        A tensor, or another formal value of numbers, such as CASE over aggregates, whose
        distribution is computed: see `distribution`.
    given, blocks
        Evidence, and blocks of tuples that exclude each other, as for `probability`.

    Raises
    ------
    CapabilityError
        Where there is a value in no world.
    ExactnessError
        For annotations that count something other than products, and when one is too hard to
        compile, see `probability`, or AVG is over too many
        values; see `sampled_moments`. When a formal value that is not a tensor has too many tokens.

    Cost: SUM and COUNT of products of tuples by sorting, of other annotations quadratic in the
    number of terms that share tuples; MIN and MAX in the number of values that are likely; AVG in
    the number of values, see `joint_of`. Where Spark rounds an average of decimals,
    the moments are of averages before rounding.
    """
    known = evidence(given)
    instead, chances = independent_chances((tensor, known), weights, blocks)
    if instead is not None:
        known = Expression.of(substituted(known, instead))
        tensor = _formal(tensor.substituted(instead))
    if not isinstance(tensor, Tensor):
        return _distributed(tensor, chances, known, decisions)
    check_numbers(tensor)
    if known.constant_value() != 1:
        return _conditional(tensor, chances, known, decisions)
    return _unconditional(tensor, chances, decisions)


def _formal(operand: Operand) -> Value:
    """An operand as a formal value: what is the same in every world has a tensor, too."""
    return operand if isinstance(operand, Value) else Tensor(MAX, [(Polynomial.one(), operand)])


def _conditional(
    tensor: Tensor, chances: Mapping[Token, float], known: Expression, decisions: int
) -> Moments:
    """Of X where the evidence B holds: E[X | B] = E[X·B] / P(B)."""
    whole = float(compile_annotation(known, decisions).probability(chances))
    if not whole:
        raise impossible()
    terms = ((summand * n, v) for k, v in tensor.terms for summand, n in Expression.of(k).terms)
    both = Tensor(tensor.monoid, ((summand * known, v) for summand, v in terms))
    inside = _unconditional(both, chances, decisions)
    if tensor.monoid.name not in ("SUM", "COUNT"):
        # Given a value there is evidence: terms count where it holds.
        return Moments(inside.mean, inside.variance, min(inside.presence / whole, 1.0))
    mean = inside.mean / whole
    square = (inside.variance + inside.mean**2) / whole
    return Moments(mean, max(square - mean * mean, 0.0))


def _unconditional(tensor: Tensor, chances: Mapping[Token, float], decisions: int) -> Moments:
    name = tensor.monoid.name
    tensor = _possible(tensor, chances, decisions)
    if name in ("MIN", "MAX"):
        return _extreme(tensor, chances, decisions)
    if name == "AVG":
        return _average(tensor, chances, decisions)
    if tensor.size >= _MANY:
        from semiring.analysis.sums import sum_moments

        found = sum_moments(tensor, chances, decisions)
        if found is not None:
            return Moments(*found)
    terms = _terms(tensor, chances, decisions)
    mean = sum(term.value * term.chance for term in terms)
    return Moments(mean, _variance(terms, chances, decisions))


def _possible(tensor: Tensor, chances: Mapping[Token, float], decisions: int) -> Tensor:
    """Return a tensor without the NaNs and infinities that are there in no world."""
    if all(map(isfinite, tensor.values())):
        return tensor
    return Tensor(
        tensor.monoid,
        [
            (annotation, value)
            for annotation, value in tensor.terms
            if isfinite(value) or compile_annotation(annotation, decisions).probability(chances)
        ],
    )


def _distributed(
    value: Value, chances: Mapping[Token, float], known: Expression, decisions: int
) -> Moments:
    if known.constant_value() == 1:
        found = aggregated_moments(value, chances)
        if found is not None:
            return Moments(*found)
    cases = distribution(value, chances, known, decisions)
    if not any(chance for _, chance in cases):
        raise impossible()
    whole = sum(chance for _, chance in cases)
    with_value = [(v, chance) for v, chance in cases if v is not None and chance]
    presence = sum(chance for _, chance in with_value)
    if not presence:
        raise CapabilityError(f"{value.truncated(3)} has no value in any world.")
    numbers = numbers_of([v for v, _ in with_value])
    weights = np.array([chance for _, chance in with_value]) / presence
    return Moments(*_mean_and_variance(numbers, weights), min(presence / whole, 1.0))


@dataclass(frozen=True, slots=True)
class _Term:
    """A value that counts where an event holds.

    ``factors``: the tokens whose product the event is; None: `annotation` gives the event.
    """

    value: float
    chance: float
    tokens: frozenset[Token]
    factors: frozenset[Token] | None
    annotation: Annotation


def _terms(tensor: Tensor, chances: Mapping[Token, float], decisions: int) -> list[_Term]:
    coefficients: dict[frozenset[Token], float] = {}
    other_terms: list[_Term] = []
    for annotation, raw in tensor.terms:
        value = 1.0 if tensor.monoid.name == "COUNT" else float(raw)
        if isinstance(annotation, Polynomial):
            for monomial, n in annotation.terms:
                factors = frozenset(token for token, _ in monomial)
                coefficients[factors] = coefficients.get(factors, 0.0) + n * value
            continue
        for summand, n in annotation.terms:
            check_counted(summand)
            chance = float(compile_annotation(summand, decisions).probability(chances))
            other_terms.append(_Term(n * value, chance, summand.tokens, None, summand))
    products = [
        _Term(value, _product(factors, chances), factors, factors, _as_polynomial(factors))
        for factors, value in coefficients.items()
    ]
    return [*products, *other_terms]


def _as_polynomial(factors: frozenset[Token]) -> Polynomial:
    return Polynomial({tuple((token, 1) for token in sorted(factors)): 1})


def _product(factors: frozenset[Token], chances: Mapping[Token, float]) -> float:
    probability = 1.0
    for token in factors:
        probability *= chances[token]
    return probability


def _variance(terms: Sequence[_Term], chances: Mapping[Token, float], decisions: int) -> float:
    by_token: dict[Token, list[int]] = {}
    for number, term in enumerate(terms):
        for token in term.tokens:
            by_token.setdefault(token, []).append(number)
    total = 0.0
    for number, term in enumerate(terms):
        total += term.value**2 * term.chance * (1 - term.chance)
        related = {other for token in term.tokens for other in by_token[token] if other > number}
        for other in sorted(related):
            joint = _joint(term, terms[other], chances, decisions)
            covariance = joint - term.chance * terms[other].chance
            total += 2 * term.value * terms[other].value * covariance
    return total


def _joint(a: _Term, b: _Term, chances: Mapping[Token, float], decisions: int) -> float:
    if a.factors is not None and b.factors is not None:
        return _product(a.factors | b.factors, chances)
    both = Expression.of(a.annotation) * b.annotation
    return float(compile_annotation(both, decisions).probability(chances))


def no_value(tensor: Tensor) -> CapabilityError:
    """The error of a value that is NULL in every world."""
    if tensor.is_zero:
        return CapabilityError("The value of this row is NULL in every world.")
    return CapabilityError(f"{tensor.monoid} has no value in any world: no input of it is there.")


def _average(tensor: Tensor, chances: Mapping[Token, float], decisions: int) -> Moments:
    """Of values less their mean, which keeps the variance from being a small difference."""
    events, summands = BooleanFunctions(), []
    values = [float(value) for _, value in tensor.terms]
    center = sum(values) / len(values) if values else 0.0
    for (annotation, _), value in zip(tensor.terms, values, strict=True):
        for event, n in counted_events(events, annotation):
            summands.append((event, (n, n * (value - center))))
    mean, variance, presence = quotient(joint_of(events, summands, chances, decisions))
    if not presence:
        raise no_value(tensor)
    return Moments(center + mean, variance, presence)


def _extreme(tensor: Tensor, chances: Mapping[Token, float], decisions: int) -> Moments:
    """Return the moments of a MIN or MAX by the probabilities that it is one of the first values.

    Each value has a switch beside its annotation, so that all are compiled together. Last values do
    not matter where one of the others is there, up to rounding, whenever there is any.
    """
    terms = tensor.terms if tensor.monoid.name == "MIN" else tensor.terms[::-1]
    annotations = [annotation for annotation, _ in terms]
    some = sum_of((Expression.of(annotation), 1) for annotation in annotations)
    presence = float(compile_annotation(some, decisions).probability(chances))
    if not presence:
        raise no_value(tensor)
    count = _FIRST
    while True:
        upto = _upto(annotations[:count], chances, decisions)
        if count >= len(terms) or presence - upto[-1] < _ROUNDING * presence:
            break
        count *= 4
    values = np.array([float(value) for _, value in terms[:count]])
    shares = np.diff(upto, prepend=0.0) / presence
    # A NaN or an infinity that never is the value says nothing of the mean.
    kept = shares > 0
    return Moments(*_mean_and_variance(values[kept], shares[kept]), presence)


def _mean_and_variance(values: Array, weights: Array) -> tuple[float, float]:
    with np.errstate(invalid="ignore"):  # infinities less infinities
        mean = float((values * weights).sum())
        return mean, float((weights * (values - mean) ** 2).sum())


def _upto(
    annotations: Sequence[Annotation], chances: Mapping[Token, float], decisions: int
) -> Array:
    """Return the probability that one of the first annotations holds, for each number of them."""
    switches = [Token("switch of a value", (number,)) for number in range(len(annotations))]
    switched = (
        (Expression.of(annotation) * Expression.token(switch), 1)
        for annotation, switch in zip(annotations, switches, strict=True)
    )
    function = compile_annotation(sum_of(switched), decisions)
    found = []
    for start in range(0, len(annotations), _TOGETHER):
        points = np.arange(start, min(start + _TOGETHER, len(annotations)))
        weights: dict[Token, Any] = {
            switch: (points >= number).astype(np.float64) for number, switch in enumerate(switches)
        }
        chance = function.probability({**chances, **weights})
        found.append(np.broadcast_to(chance, points.shape))
    return np.concatenate([np.zeros(0), *found])
