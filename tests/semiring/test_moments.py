"""Moments of aggregated values, exact and sampled, against enumeration of all worlds."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from importlib import import_module
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from semiring import (
    AVG,
    COUNT,
    MAX,
    MIN,
    SUM,
    CapabilityError,
    ExactnessError,
    Expression,
    Polynomial,
    Tensor,
    Token,
    compare,
    delta,
)
from semiring.analysis import distribution, moments, sampled_moments
from semiring.analysis.presence import WORD
from semiring.analysis.sums import sum_moments
from semiring.boolean.events import most
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.monoid import Monoid
from semiring.semirings import Counting
from semiring.support.budget import within
from tests.semiring.formal import aggregated, applied
from tests.semiring.test_analysis import TOKENS, WEIGHTS, chance, positive, worlds
from tests.semiring.test_values import Minus

MONOIDS = [SUM, COUNT, MIN, MAX, AVG]
TERMS = st.lists(
    st.tuples(st.one_of(positive, positive.map(delta)), st.integers(-3, 3)), max_size=4
)


def enumerated(tensor):
    """Mean, variance and the probability that there is a value; None: there is none."""
    values = [(chance(w), tensor.evaluate(Counting(), w)) for w in worlds()]
    if tensor.monoid in (MIN, MAX, AVG):
        values = [(p, v) for p, v in values if v is not None]
    if not values:
        return None
    present = sum(p for p, _ in values)
    mean = sum(p * (v or 0) for p, v in values) / present
    return mean, sum(p * (v or 0) ** 2 for p, v in values) / present - mean**2, present


@given(st.sampled_from(MONOIDS), TERMS)
def test_moments_are_those_of_the_worlds(monoid, terms):
    expected = enumerated(Tensor(monoid, terms))
    assume(expected is not None)
    mean, variance, present = expected
    result = moments(Tensor(monoid, terms), WEIGHTS)
    assert result.exact
    assert result.mean == pytest.approx(mean, abs=1e-9)
    assert result.variance == pytest.approx(variance, abs=1e-9)
    assert result.presence == pytest.approx(present)


@settings(max_examples=25)
@given(st.sampled_from(MONOIDS), TERMS)
def test_sampled_moments_are_within_their_error(monoid, terms):
    tensor = Tensor(monoid, terms)
    assume(enumerated(tensor) is not None)
    result = sampled_moments([tensor], WEIGHTS, error=0.1, confidence=1 - 1e-9)[0]
    assert not result.exact
    assert abs(result.mean - enumerated(tensor)[0]) <= result.error + 1e-12
    assert result == sampled_moments([tensor], WEIGHTS, error=0.1, confidence=1 - 1e-9)[0]


class Sum:
    """SUM over formal values."""

    name = label = "SUM"

    def __call__(self, bags):
        known = [[value for (value,) in bag if value is not None] for bag in bags]
        return [sum(values) if values else None for values in known]


def formal_values(terms, inner):
    """A sum of differences, and a difference of two sums."""
    total, inner = Tensor(SUM, terms), Tensor(SUM, inner)
    yield aggregated(Sum(), [(k, [applied(Minus(), [inner, v])]) for k, v in terms])
    if total.terms or inner.terms:
        yield applied(Minus(), [total, inner])


@settings(max_examples=12)
@given(TERMS, TERMS)
def test_moments_of_formal_values_are_those_of_the_worlds(terms, inner):
    for formal in formal_values(terms, inner):
        values = [(chance(w), formal.evaluate(Counting(), w)) for w in worlds()]
        values = [(p, v) for p, v in values if v is not None]
        presence = sum(p for p, _ in values)
        if not presence:
            continue
        mean = sum(p * v for p, v in values) / presence
        found = moments(formal, WEIGHTS)
        assert found.exact
        assert (found.mean, found.presence) == pytest.approx((mean, presence), abs=1e-9)
        square = sum(p * v * v for p, v in values) / presence
        assert found.variance == pytest.approx(square - mean**2, abs=1e-9)
        # Values that a sample has not seen move the mean by the width of all values at most.
        sampled = sampled_moments([formal], WEIGHTS, error=0.1, confidence=1 - 1e-9)[0]
        width = max(v for _, v in values) - min(v for _, v in values)
        assert abs(sampled.mean - mean) <= sampled.error + sampled.missed * width + 1e-12
        assert 0 < sampled.missed <= 1


def test_functions_of_sums_with_too_many_values_are_refused_before_work(monkeypatch):
    monkeypatch.delattr(distribution, "_States")
    tokens = [Polynomial.token(Token("t", n)) for n in range(300)]
    total = Tensor(SUM, [(x, n) for n, x in enumerate(tokens)])
    difference = applied(Minus(), [total, Tensor(COUNT, [(x, 1) for x in tokens])])
    with pytest.raises(ExactnessError, match="more than 20,000 values together"):
        moments(difference, 0.5)
    found = sampled_moments([difference], 0.5, error=0.2, confidence=1 - 1e-9)[0]
    assert abs(found.mean - (299 * 150 / 2 - 150)) < found.error
    monkeypatch.undo()
    # All of them are there, or none is.
    same = Tensor(SUM, [(tokens[0] * x, n) for n, x in enumerate(tokens)])
    either = {Token("t", 0): 0.5}
    certain = applied(Minus(), [same, 1])
    assert moments(certain, lambda t: either.get(t, 1.0)).mean == 299 * 150 - 1


def test_samples_of_a_spent_budget_state_a_larger_error():
    tensor = Tensor(SUM, [(Polynomial.token(Token("t", n)), n) for n in range(30)])
    with within(0.0):
        hasty = sampled_moments([tensor], 0.5, confidence=1 - 1e-9)[0]
    patient = sampled_moments([tensor], 0.5, confidence=1 - 1e-9)[0]
    assert 0 < hasty.samples < patient.samples
    assert hasty.error > patient.error >= abs(patient.mean - 217.5)
    assert abs(hasty.mean - 217.5) <= hasty.error


def test_samples_end_before_the_budget(monkeypatch):
    """No worlds are drawn that would take longer than what is left."""
    monkeypatch.setattr(import_module("semiring.analysis.sampling"), "remaining", lambda: 0)
    tensor = Tensor(SUM, [(Polynomial.token(Token("t", n)), n) for n in range(30)])
    assert sampled_moments([tensor], 0.5, confidence=1 - 1e-9)[0].samples == WORD


@pytest.mark.parametrize("monoid", [SUM, COUNT, MIN, MAX, AVG])
def test_values_sampled_together_share_their_worlds(monoid):
    """Each of them has the moments that it has alone, with the evidence and blocks of all."""
    tokens = [Polynomial.token(Token("t", n)) for n in range(9)]
    tensor = Tensor(monoid, [(x * tokens[0], n % 4) for n, x in enumerate(tokens)])
    values = [tensor, applied(Minus(), [tensor, Tensor(COUNT, [(x, 1) for x in tokens])])]
    beforehand = {"given": tokens[1] + tokens[2], "blocks": lambda token: token.key[0] % 5}
    found = sampled_moments(values, 0.3, 0.1, **beforehand)
    assert found == [sampled_moments([value], 0.3, 0.1, **beforehand)[0] for value in values]


def test_average_of_values_that_are_alike():
    """The average of n fair coins of which k are 1 is k/n, given that any is there."""
    tokens = [Polynomial.token(Token("t", i)) for i in range(300)]
    result = moments(Tensor(AVG, [(x, i % 2) for i, x in enumerate(tokens)]), 0.5)
    assert result.mean == pytest.approx(0.5)
    assert result.presence == pytest.approx(1)
    # Given that n of the 300 are there, half of them on average are ones: hypergeometric.
    weights = [comb(300, n) / 2**300 for n in range(301)]
    expected = sum(w * 0.25 / n * (300 - n) / 299 for n, w in enumerate(weights) if n)
    assert result.variance == pytest.approx(expected)


@pytest.mark.parametrize("monoid", [MIN, MAX])
def test_extremes_over_many_values_look_at_those_that_are_likely(monoid):
    customer = Polynomial.token(Token("c", 0))
    terms = [(customer * Polynomial.token(Token("o", n)), 2 * n) for n in range(300)]
    found = moments(
        Tensor(monoid, terms),
        {**dict.fromkeys((Token("o", n) for n in range(300)), 0.25), Token("c", 0): 0.5},
    )
    # The place of the first order that is there is geometric, up to what 300 orders leave out.
    distance = 2 * 0.75 / 0.25
    assert found.mean == pytest.approx(distance if monoid is MIN else 598 - distance)
    assert found.variance == pytest.approx(4 * 0.75 / 0.25**2)
    assert found.presence == pytest.approx(0.5)


def test_average_of_large_values_keeps_its_variance():
    a, b = (Polynomial.token(token) for token in TOKENS[:2])
    result = moments(Tensor(AVG, [(a, 10**9), (b, 10**9 + 2)]), 0.5)
    assert result.mean == pytest.approx(10**9 + 1)
    assert result.variance == pytest.approx(2 / 3)


def test_average_over_a_join_decides_the_tuples_that_are_shared():
    """A customer with many orders: her tuple is decided, her orders are apart then."""
    customers = [Polynomial.token(Token("c", i)) for i in range(20)]
    terms = [
        (c * Polynomial.token(Token("o", (i, j))), i + j)
        for i, c in enumerate(customers)
        for j in range(15)
    ]
    exact = moments(Tensor(AVG, terms), 0.3, decisions=20)
    drawn = sampled_moments([Tensor(AVG, terms)], 0.3, error=0.02, confidence=1 - 1e-6)[0]
    assert abs(exact.mean - drawn.mean) <= drawn.error
    assert exact.variance == pytest.approx(drawn.variance, rel=0.1)
    with pytest.raises(ExactnessError, match="more than 19 decisions"):
        moments(Tensor(AVG, terms), 0.3, decisions=19)


def test_averages_over_too_many_values_are_refused():
    terms = [(Polynomial.token(Token("t", i)) * 100, i) for i in range(201)]
    with pytest.raises(ExactnessError, match="at most 20,000 values, not 20,100"):
        moments(Tensor(AVG, terms), 0.5)


def test_no_moments():
    a, b, c = (Polynomial.token(token) for token in TOKENS[:3])
    for monoid in (SUM, AVG):
        for annotation in (
            Expression.of(a + b) * Expression.one().monus(delta(c)),
            Expression.of(a + b).monus(c),
        ):
            with pytest.raises(ExactnessError, match="its multiplicity is not"):
                moments(Tensor(monoid, [(annotation, 1)]), 0.5)
    for monoid in (MAX, AVG):
        tensor = Tensor(monoid, [(a, 1)])
        with pytest.raises(CapabilityError, match=f"{monoid} has no value in any world"):
            moments(tensor, 0)
        with pytest.raises(ExactnessError, match="a value in none of 18,496 random worlds"):
            sampled_moments([tensor], 0)


# -- counts --------------------------------------------------------------------------------

values = st.one_of(st.integers(-3, 3), st.sampled_from([Decimal("0.5"), Decimal("-1.25")]))
tensors = st.builds(
    Tensor, st.sampled_from(MONOIDS), st.lists(st.tuples(positive, values), max_size=3)
)
floats = st.builds(
    Tensor,
    st.sampled_from([SUM, MIN]),
    st.lists(st.tuples(positive, st.sampled_from([0.5, -1.0])), max_size=3),
)
compared = st.builds(
    compare,
    st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
    st.one_of(tensors, floats),
    st.one_of(tensors, st.integers(-3, 3)),
)
counted = st.one_of(
    positive,
    compared,
    st.builds(lambda a, b: Expression.of(a).monus(b), positive, positive),
    st.builds(lambda a, b, c: delta(a) * b + Expression.of(c) * c, positive, compared, positive),
    st.builds(lambda a: a * 2**40 * (a * 2**20), positive),
)


@given(counted)
def test_counts_are_those_of_each_world(annotation):
    every_world = list(worlds())
    there = {t: np.array([w[t] for w in every_world], dtype=bool) for t in TOKENS}
    counts = PossibleWorlds(there, len(every_world)).counts([annotation])[0]
    expected = [annotation.evaluate(Counting(), world) for world in every_world]
    assert counts.tolist() == expected
    assert max(expected) <= most(annotation)


@pytest.mark.parametrize("seed", range(25))
def test_sums_by_columns_are_sums_of_covariances(seed, monkeypatch):
    draws = random.Random(seed)
    tokens = [[Polynomial.token(Token(name, i)) for i in range(6)] for name in "abcd"]
    events = [delta(a + b * c) for a, b, c in zip(*tokens[1:], strict=True)][:3]
    events += [Expression.one().monus(delta(a + b)) for a, b in zip(*tokens[1:3], strict=True)][3:]

    counts = Tensor(
        COUNT, [(product, 1) for product in (tokens[1][0] * tokens[2][1], tokens[3][2])]
    )
    if seed % 2:  # events that depend on the same tuples
        events += [compare(op, counts, 1) for op in ("=", ">=")] + [tokens[1][0], tokens[3][2]]

    def annotation():
        made = math.prod(draws.sample(tokens[0], draws.randint(0, 3)), start=Polynomial.one())
        for event in draws.sample(events, draws.randint(0, 2)):
            made = made * event
        return made

    terms = [(annotation() + annotation(), draws.randint(-3, 4)) for _ in range(5)]
    tensor = Tensor(draws.choice([SUM, COUNT]), terms)
    weights = {token: draws.choice([0, 1, *[draws.random()] * 4]) for token in tensor.tokens}
    expected = moments(tensor, weights)
    monkeypatch.setattr(import_module("semiring.analysis.moments"), "_MANY", 0)
    found = moments(tensor, weights)
    assert (found.mean, found.variance) == pytest.approx((expected.mean, expected.variance))
    assert sum_moments(tensor, weights, 1000) == pytest.approx((found.mean, found.variance))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("monoid", [MIN, MAX, SUM, AVG])
def test_values_that_never_are_say_nothing(monoid: Monoid, bad: float) -> None:
    """A NaN or an infinity whose tuple is there in no world leaves the moments as they are."""
    a, b, c = (Polynomial.token(token) for token in TOKENS[:3])
    chances = {TOKENS[0]: 1.0, TOKENS[1]: 0.0, TOKENS[2]: 0.5}
    without = moments(Tensor(monoid, [(a, 1.0), (c, 3.0)]), chances)
    assert moments(Tensor(monoid, [(a, 1.0), (b, bad), (c, 3.0)]), chances) == without


def test_nan_behind_a_certain_value_is_never_the_least() -> None:
    a, b = (Polynomial.token(token) for token in TOKENS[:2])
    found = moments(Tensor(MIN, [(a, 1.0), (b, math.nan)]), {TOKENS[0]: 1.0, TOKENS[1]: 0.5})
    assert (found.mean, found.variance) == (1.0, 0.0)


def test_infinity_that_may_be_is_the_mean() -> None:
    a, b = (Polynomial.token(token) for token in TOKENS[:2])
    assert moments(Tensor(MAX, [(a, 1.0), (b, math.inf)]), 0.5).mean == math.inf


def test_no_value_at_all_is_null() -> None:
    with pytest.raises(CapabilityError, match="is NULL in every world"):
        moments(Tensor(MAX, []), 0.5)
