"""Probabilities, attributions, witnesses and repairs, against enumeration of all worlds."""

from __future__ import annotations

import math
from decimal import Decimal
from importlib import import_module
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring import (
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
    ValuationError,
    compare,
    delta,
)
from semiring.analysis import (
    banzhaf,
    compile_annotation,
    found_repairs,
    found_witnesses,
    probability,
    repairs,
    responsibility,
    sampled_banzhaf,
    sampled_probabilities,
    sampled_shapley,
    shapley,
    witnesses,
    wsms,
)
from semiring.analysis.sampling import hoeffding, random_words
from semiring.expression import sum_of
from semiring.semirings import Counting
from semiring.support.budget import call_within, spent, within

TOKENS = [Token("r", name) for name in "abcde"]
WEIGHTS = dict(zip(TOKENS, [0.1, 0.9, 0.5, 0.25, 0.7], strict=True))

atoms = st.sampled_from(TOKENS).map(Polynomial.token)
positive = st.lists(st.lists(atoms, min_size=1, max_size=3), max_size=5).map(
    lambda terms: Polynomial.sum(math.prod(term, start=Polynomial.one()) for term in terms)
)
tensors = st.builds(
    Tensor,
    st.sampled_from([SUM, COUNT, MIN, MAX]),
    st.lists(
        st.tuples(st.one_of(atoms, positive, positive.map(delta)), st.integers(-2, 3)), max_size=4
    ),
)
compared = st.builds(
    compare,
    st.sampled_from(["=", "<>", "<", "<=", ">", ">="]),
    tensors,
    st.one_of(st.integers(-2, 3), st.just(Decimal("0.5"))),
)
annotations = st.one_of(
    positive,
    positive.map(delta),
    st.builds(lambda a, b: a * Expression.one().monus(delta(b)), positive, positive),
    compared,
    st.builds(lambda a, c: delta(a) * c, positive, compared),
    st.builds(lambda a, c: delta(a) * Expression.one().monus(c), positive, compared),
)


def worlds():
    """Every set of tuples, as a valuation in Counting."""
    for bits in product((0, 1), repeat=len(TOKENS)):
        yield dict(zip(TOKENS, bits, strict=True))


def chance(world, weights=WEIGHTS):
    return math.prod(weights[t] if there else 1 - weights[t] for t, there in world.items())


def holds(annotation, world):
    return annotation.evaluate(Counting(), world) > 0


def enumerated(annotation, weights=WEIGHTS):
    return sum(chance(world, weights) for world in worlds() if holds(annotation, world))


@given(annotations)
def test_probability_is_that_of_the_worlds(annotation):
    estimate = probability(annotation, WEIGHTS)
    assert estimate.exact
    assert float(estimate) == pytest.approx(enumerated(annotation), abs=1e-12)


@given(annotations)
def test_influences_are_differences(annotation):
    circuit = compile_annotation(annotation)
    for token, slope in circuit.influences(WEIGHTS).items():
        with_it, without = (enumerated(annotation, {**WEIGHTS, token: p}) for p in (1.0, 0.0))
        assert slope == pytest.approx(with_it - without, abs=1e-12)


@settings(max_examples=25)
@given(annotations)
def test_shapley_and_banzhaf_are_their_definitions(annotation):
    tokens = sorted(annotation.tokens)
    shares, tossed = shapley(annotation), banzhaf(annotation)
    totals = dict.fromkeys(tokens, 0)
    for order in permutations(tokens):
        world = dict.fromkeys(TOKENS, 0)
        before = holds(annotation, world)
        for token in order:
            world[token] = 1
            after = holds(annotation, world)
            totals[token] += after - before
            before = after
    for token in tokens:
        expected = totals[token] / math.factorial(len(tokens))
        assert shares[token].value == pytest.approx(expected, abs=1e-12)
        half = dict.fromkeys(TOKENS, 0.5)
        sides = [enumerated(annotation, {**half, token: p}) for p in (1.0, 0.0)]
        assert tossed[token].value == pytest.approx(sides[0] - sides[1], abs=1e-12)


def test_read_once_annotations_need_no_decisions():
    """Products of sums, multiplied out, are found again."""
    left = [Polynomial.token(Token("x", i)) for i in range(12)]
    right = [Polynomial.token(Token("y", i)) for i in range(12)]
    spread = Polynomial.sum(left) * Polynomial.sum(right) + Polynomial.token(TOKENS[0])
    circuit = compile_annotation(spread)
    assert circuit.decisions == 0
    assert probability(spread, 0.5).value == pytest.approx(1 - 0.5 * (1 - (1 - 0.5**12) ** 2))
    apart = Polynomial.sum(a * b for a, b in zip(left, right, strict=True))
    assert compile_annotation(apart).decisions == 0


def test_too_many_decisions_are_refused():
    grid = {(i, j): Polynomial.token(Token("g", (i, j))) for i in range(8) for j in range(8)}
    edges = Polynomial.sum(
        grid[i, j] * grid[k, m]
        for (i, j), (k, m) in product(grid, grid)
        if (k - i, m - j) == (0, 1)
    ) + Polynomial.sum(
        grid[i, j] * grid[k, m]
        for (i, j), (k, m) in product(grid, grid)
        if (k - i, m - j) == (1, 0)
    )
    with pytest.raises(ExactnessError, match="more than 50 decisions"):
        probability(edges, 0.5, decisions=50)
    assert sampled_probabilities([edges], 0.05, error=0.05)[0].error <= 0.05


@settings(max_examples=8)
@given(annotations)
def test_samples_are_within_their_error(annotation):
    """With a confidence that makes a failure of the test once in a million."""
    estimate = sampled_probabilities([annotation], WEIGHTS, error=0.05, confidence=1 - 1e-6)[0]
    assert abs(estimate.value - enumerated(annotation)) <= estimate.error <= 0.05
    assert estimate.samples > 0


@pytest.mark.parametrize("negated", [False, True])
def test_sampled_shapley(negated):
    a, b, c = (Polynomial.token(token) for token in TOKENS[:3])
    annotation = a * b + c
    if negated:
        annotation = Expression.one().monus(delta(annotation))
    exact, drawn = shapley(annotation), sampled_shapley(annotation, error=0.1, confidence=0.9999)
    for token, value in exact.items():
        assert abs(drawn[token].value - value.value) <= drawn[token].error <= 0.1
    assert sum(value.value for value in drawn.values()) == pytest.approx(-1 if negated else 1)
    again = sampled_shapley(annotation, error=0.1, confidence=0.9999)
    assert again == drawn
    assert sampled_shapley(annotation, error=0.1, confidence=0.9999, seed=1) != drawn


def test_sampled_banzhaf():
    annotation = delta(Polynomial.sum(map(Polynomial.token, TOKENS[:3]))) * compare(
        ">", Tensor(COUNT, [(Polynomial.token(t), 1) for t in TOKENS]), 2
    )
    exact = banzhaf(annotation)
    for token, sampled in sampled_banzhaf(annotation, 0.03, 0.999).items():
        assert abs(sampled.value - exact[token].value) <= sampled.error <= 0.031


def test_another_seed_draws_other_worlds():
    annotation = Polynomial.token(TOKENS[0])
    seeds = (0, 0, 1, 2)
    found = [sampled_probabilities([annotation], 0.5, seed=seed)[0].value for seed in seeds]
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_samples_of_a_difference_of_bags():
    """(a + b) ⊖ c is there where a and b are, whether or not c is."""
    a, b, c = (Polynomial.token(token) for token in TOKENS[:3])
    annotation = Expression.of(a + b).monus(c)
    estimate = sampled_probabilities([annotation], 0.5, error=0.02, confidence=1 - 1e-6)[0]
    assert probability(annotation, 0.5).value == pytest.approx(0.5)
    assert abs(estimate.value - 0.5) <= estimate.error <= 0.02


@pytest.mark.parametrize("constant", [0, 1])
def test_samples_of_constants(constant):
    annotation = Polynomial.constant(constant)
    assert sampled_probabilities([annotation], 0.5)[0].value == constant
    assert sampled_shapley(annotation) == {}


def test_many_samples_of_many_tuples():
    """Bits come in batches, and the error goes with their number."""
    tokens = [Polynomial.token(Token("t", i)) for i in range(2000)]
    annotation = Polynomial.sum(a * b for a, b in zip(tokens[::2], tokens[1::2], strict=True))
    estimate = sampled_probabilities([annotation], 0.02, error=0.01)[0]
    assert estimate.samples > 18_000
    assert abs(estimate.value - (1 - (1 - 0.0004) ** 1000)) <= estimate.error <= 0.01
    shares = sampled_shapley(annotation, error=0.2)
    assert sum(share.value for share in shares.values()) == pytest.approx(1)


def test_weights():
    """Functions, mappings and one number; what is not a probability is refused."""
    annotation = Polynomial.token(TOKENS[0])
    assert probability(annotation, lambda token: 0.5).value == 0.5
    assert probability(annotation, 0.25).value == 0.25
    with pytest.raises(ValuationError, match="No probability is given for r:a"):
        probability(annotation, {})
    with pytest.raises(ValuationError, match=r"1\.5"):
        probability(annotation, 1.5)


# -- witnesses, repairs, responsibility ----------------------------------------------------


above = st.builds(
    lambda terms, bound, factor: compare(">", Tensor(SUM, terms), bound) * factor,
    st.lists(st.tuples(positive, st.integers(1, 4)), min_size=1, max_size=4),
    st.integers(0, 6),
    positive,
)


@given(st.one_of(positive, above))
def test_witnesses_are_the_minimal_sets_that_suffice(annotation):
    enough = [
        frozenset(t for t, there in w.items() if there) for w in worlds() if holds(annotation, w)
    ]
    expected = {token_set for token_set in enough if not any(other < token_set for other in enough)}
    assert set(witnesses(annotation)) == expected


@given(annotations)
def test_repairs_are_the_least_deletions(annotation):
    tokens = sorted(annotation.tokens)
    expected = set()
    for size in range(len(tokens) + 1):
        for gone in combinations(tokens, size):
            world = {token: int(token not in gone) for token in TOKENS}
            if not holds(annotation, world):
                expected.add(frozenset(gone))
        if expected:
            break
    assert set(repairs(annotation)) == expected


@given(positive)
def test_responsibility_is_its_definition(annotation):
    everything = dict.fromkeys(TOKENS, 1)
    for token, share in responsibility(annotation).items():
        others_left = [t for t in sorted(annotation.tokens) if t != token]
        sizes = [
            size
            for size in range(len(others_left) + 1)
            for gone in combinations(others_left, size)
            if holds(annotation, {**everything, **dict.fromkeys(gone, 0)})
            and not holds(annotation, {**everything, **dict.fromkeys(gone, 0), token: 0})
        ]
        assert share == (1 / (1 + min(sizes)) if sizes else 0.0)


def test_repairs_of_many_rows_are_found_part_by_part():
    """Parts that share no tuple are not searched together, and single tuples not at all."""
    x, y, z = ([Polynomial.token(Token(name, i)) for i in range(3_000)] for name in "xyz")
    alone = delta(Polynomial.sum(x))
    assert repairs(alone) == [frozenset(Token("x", i) for i in range(3_000))]
    pairs = [x[i] * y[i // 3] for i in range(3_000)]
    assert repairs(delta(Polynomial.sum(pairs))) == [frozenset(Token("y", i) for i in range(1_000))]
    of_one = Polynomial.sum(k * z[0] for k in pairs)
    assert repairs(delta(of_one)) == [frozenset({Token("z", 0)})]
    several = delta(Polynomial.sum([*x[:100], y[0] * z[0], y[1] * z[1]]))
    assert len(repairs(several)) == 4
    either = repairs(delta(Polynomial.sum(a * b for a, b in zip(x, y, strict=True))))
    assert not either.complete
    assert {len(each) for each in either} == {3_000}


def test_a_budget_ends_whatever_runs_in_it():
    """The innermost budget that is spent says so, and nothing comes after it."""

    def outer():
        for _ in range(20):
            with pytest.raises(ExactnessError, match=r"budget of 0.01 seconds"):
                call_within(0.01, _never_end)
        with pytest.raises(ExactnessError, match=r"budget of 0.01 seconds"):
            call_within(0.01, _end_with_another_error)
        with pytest.raises(ZeroDivisionError):
            call_within(30.0, lambda: 1 / 0)
        with within(0.01):
            while not spent():
                pass
        return call_within(30.0, spent)

    assert not call_within(60.0, outer)


def _never_end():
    while True:
        pass


def _end_with_another_error():
    try:
        _never_end()
    finally:
        raise ZeroDivisionError


def test_questions_have_a_budget():
    """An exact answer that takes too long is an error, and samples say how many they are."""
    events = [Polynomial.token(Token("t", i)) for i in range(40)]
    hard = delta(Polynomial.sum(a * b for n, a in enumerate(events) for b in events[n + 1 :: 3]))
    compared = compare(">", Tensor(SUM, [(k, n) for n, k in enumerate(events)]), 300) * hard
    with within(0.0):
        with pytest.raises(ExactnessError, match="budget of 0 seconds"):
            probability(compared, 0.5)
        with within(60.0), pytest.raises(ExactnessError, match="budget of 0 seconds"):
            repairs(compared)
        fewer = sampled_probabilities([compared], 0.5, error=0.0005)[0]
    assert fewer.samples
    assert fewer.error > 0.0005


def test_searches_are_bounded():
    annotation = math.prod(
        (Polynomial.token(Token("x", i)) + Polynomial.token(Token("y", i)) for i in range(6)),
        start=Polynomial.one(),
    )
    assert len(repairs(annotation)) == 6
    pairs = Polynomial.sum(
        Polynomial.token(Token("x", i)) * Polynomial.token(Token("x", j))
        for i, j in combinations(range(15), 2)
    )
    shares = responsibility(pairs, steps=0)
    assert not shares.complete
    assert all(shares[token] <= 1 / 14 <= upper for token, upper in shares.upper.items())
    (found,) = found_repairs(pairs)
    assert len(found) == 14
    assert found_repairs(pairs).at_least <= 14
    with within(0.2):
        some = found_witnesses(pairs)
    assert not some.complete
    assert set(some) <= set(witnesses(pairs))
    count = Tensor(COUNT, [(Polynomial.token(Token("x", n)), 1) for n in range(40)])
    with pytest.raises(ExactnessError, match="over 40 tuples has too many minimal witnesses"):
        witnesses(compare(">", count, 2))
    with within(1.0):
        assert {len(witness) for witness in found_witnesses(compare(">", count, 2))} == {3}
    assert witnesses(Expression.one().monus(delta(annotation))) == []
    with pytest.raises(CapabilityError, match="40 tuples that may both add and remove the row"):
        witnesses(compare("=", count, 2))


def annotations_of_all_signs(tokens):
    def combined(inner):
        pairs = st.tuples(inner, inner)
        total = pairs.map(lambda p: Tensor(COUNT, [(p[0], 1), (p[1], 1)]))
        return (
            pairs.map(lambda p: p[0] * p[1])
            | pairs.map(lambda p: p[0] + p[1])
            | pairs.map(lambda p: p[0].monus(p[1]))
            | pairs.map(lambda p: p[0] * Expression.one().monus(delta(p[1])))
            | st.tuples(st.sampled_from([">", "=", "<"]), total).map(lambda p: compare(*p, 1))
        )

    return st.recursive(st.sampled_from(list(map(Expression.token, tokens))), combined)


@pytest.mark.parametrize("enumerated", [0, 12])
@settings(max_examples=50)
@given(data=st.data())
def test_witnesses_suffice_whatever_else_is_there(enumerated, data):
    """Also below ⊖ and comparisons: the smallest sets of all whose extensions have the result."""
    tokens = [Token("t", n) for n in range(4)]
    annotation = data.draw(annotations_of_all_signs(tokens))
    sets = [frozenset(s) for size in range(5) for s in combinations(tokens, size)]
    held = {s for s in sets if annotation.evaluate(Counting(), lambda t, s=s: int(t in s))}
    sufficient = [s for s in sets if all(more in held for more in sets if s <= more)]
    minimal = {s for s in sufficient if not any(less < s for less in sufficient)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("semiring.analysis.witnesses"), "_ENUMERATED", enumerated)
        try:
            assert set(witnesses(annotation)) == minimal
        except (CapabilityError, ExactnessError):
            assert not enumerated


@pytest.mark.parametrize("weight", [0.0, 2.0**-60, 0.1, 0.25, 0.5, 1 - 2.0**-53, 1.0])
def test_random_bits_have_their_weight(weight):
    drawn = random_words(np.random.default_rng(2), np.array([0.5, weight, 1.0]), 20_000)
    assert drawn.shape == (3, 20_000)
    bits = np.unpackbits(drawn.view(np.uint8), axis=1)
    wrong = hoeffding(bits.shape[1], 1 - 1e-9)
    assert bits.mean(axis=1) == pytest.approx([0.5, weight, 1.0], abs=wrong)
    if weight in (0.0, 1.0):
        assert bits[1].min() == bits[1].max() == weight


def test_a_threshold_of_many_parts_is_exact_and_sampled():
    """Of 20 parts, each its own tuple and one of two, more than 15: by symmetry, and by orders."""
    parts = [
        Polynomial.token(Token("c", i))
        * delta(Polynomial.token(Token("o", 2 * i)) + Polynomial.token(Token("o", 2 * i + 1)))
        for i in range(20)
    ]
    many = delta(sum_of((Expression.of(k), 1) for k in parts)) * compare(
        ">", Tensor(COUNT, [(k, 1) for k in parts]), 15
    )
    chance = 0.9 * (1 - 0.1 * 0.1)
    tail = sum(math.comb(20, k) * chance**k * (1 - chance) ** (20 - k) for k in range(16, 21))
    assert float(probability(many, 0.9)) == pytest.approx(tail, rel=1e-12)
    shares = shapley(many)
    assert sum(map(float, shares.values())) == pytest.approx(1.0, abs=1e-12)
    assert len({round(float(share), 12) for share in shares.values()}) == 2
    drawn = sampled_shapley(many, 0.05, 0.9999)
    assert all(abs(float(drawn[t]) - float(share)) <= 0.05 for t, share in shares.items())
    removed = repairs(many)
    assert not removed.complete
    for deleted in removed:
        assert len(deleted) == 5
        assert not holds(many, {token: token not in deleted for token in many.tokens})


def test_a_sum_that_never_comes_to_a_number_needs_no_repair():
    never = compare("=", Tensor(SUM, [(Polynomial.token(TOKENS[0]), -1)]), Decimal("0.5"))
    assert repairs(never) == [frozenset()]


@given(positive)
def test_weighted_sums_share_witnesses(annotation):
    """Each minimal witness is shared among its tuples; larger sets with it count for nothing."""
    smallest = witnesses(annotation)
    sums = wsms(annotation)
    assert sum(sums.values()) == pytest.approx(sum(1 for each in smallest if each))
    assert wsms(annotation, lambda size: 1.0) == {
        token: sum(token in each for each in smallest) for token in annotation.tokens
    }
