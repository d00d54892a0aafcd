"""Annotations split into parts by whole columns, against every world and against circuits."""

from __future__ import annotations

import random
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from semiring import COUNT, MAX, MIN, SUM, Expression, Polynomial, Tensor, Token, compare, delta
from semiring.analysis import (
    banzhaf,
    compile_annotation,
    moments,
    probability,
    repairs,
    responsibility,
    shapley,
)
from semiring.boolean.decomposition import decompose
from semiring.boolean.tree import Tree
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.reading import CircuitReading
from semiring.semirings import Counting
from tests.oracle.brute_force import Game
from tests.semiring.formal import applied

COMPILATION = "semiring.boolean.compilation._SPLIT"
ENUMERATED = "semiring.analysis.responsibilities._ENUMERATED"


P = Polynomial.token


class Squared:
    """The square of a number, of NULL 1."""

    name = "squared"

    def text(self, operands):
        return f"squared({operands[0]})"

    def __call__(self, cases):
        return [1 if value is None else value * value for (value,) in cases]


def batched(items):
    return zip(items[::2], items[1::2], strict=True)


def annotation(seed, parts=3):
    """Sums and products of parts of all forms; some of them are alike but for their tuples."""
    chance = random.Random(seed)

    def token(name, copy):
        return Polynomial.token(Token("r", (name, copy)))

    def product(of, names, copy):
        chosen = of.sample(names, of.randint(1, 2))
        made = Polynomial.one()
        for name in chosen:
            made = made * token(name, copy)
        return made

    def total(of, names, copy):
        return Polynomial.sum(product(of, names, copy) for _ in range(of.randint(1, 3)))

    def part(of, copy):
        some = partial(total, of, "abc", copy)
        form = of.randrange(5)
        if form == 0:
            return some()
        if form == 1:
            return delta(some()) * some()
        if form == 2:
            return some() * Expression.one().monus(delta(some()))
        monoid = of.choice([SUM, COUNT, MIN, MAX])
        terms = [(of.choice([some, lambda: delta(some())])(), of.randint(-2, 3)) for _ in "123"]
        value = Tensor(monoid, terms)
        if monoid in (MIN, MAX) and of.random() < 0.5:
            value = applied(Squared(), [value])
        condition = compare(of.choice(["=", "<>", "<", ">"]), value, of.randint(-1, 3))
        return condition if form == 3 else delta(some()) * condition

    looks = chance.randrange(1 << 30)
    made = part(random.Random(looks), 0)
    for copy in range(1, parts):
        same = chance.random() < 0.5
        other = part(random.Random(looks if same else chance.randrange(1 << 30)), copy)
        made = made + other if chance.random() < 0.6 else made * other
    if chance.random() < 0.3:
        made = Polynomial.token(Token("s", 1)) * made
    return Expression.one().monus(delta(made)) if chance.random() < 0.2 else made


def game(of):
    tokens, counting = tuple(sorted(of.tokens)), Counting()
    worlds = (
        {token: number >> bit & 1 for bit, token in enumerate(tokens)}
        for number in range(1 << len(tokens))
    )
    return Game(tokens, np.array([of.evaluate(counting, world) > 0 for world in worlds]))


@pytest.mark.parametrize("seed", range(60))
def test_a_tree_answers_as_all_worlds_do(seed, monkeypatch):
    monkeypatch.setattr(COMPILATION, 0)
    monkeypatch.setattr(ENUMERATED, 0)
    formal = annotation(seed, parts=2 + seed % 2)
    if not formal.tokens:
        return
    worlds = game(formal)
    weights = {token: 0.1 + 0.8 * random.Random(str(token)).random() for token in formal.tokens}
    assert isinstance(compile_annotation(formal), Tree)
    assert probability(formal, weights).value == pytest.approx(worlds.probability(weights))
    for values, expected in ((shapley, worlds.shapley()), (banzhaf, worlds.banzhaf())):
        found = {token: estimate.value for token, estimate in values(formal).items()}
        assert found == pytest.approx(expected, abs=1e-9)
    assert frozenset(repairs(formal)) == worlds.repairs()
    shares = responsibility(formal)
    for token, share in worlds.responsibility().items():
        assert shares[token] == pytest.approx(share) or shares[token] < share <= shares.upper[token]


@pytest.mark.parametrize("seed", range(12))
def test_influences_in_a_tree_are_those_in_a_circuit(seed, monkeypatch):
    formal = annotation(seed, parts=4)
    weights = {token: random.Random(str(token)).choice((0.2, 0.7)) for token in formal.tokens}
    circuit = compile_annotation(formal)
    monkeypatch.setattr(COMPILATION, 0)
    tree = compile_annotation(formal)
    assert isinstance(tree, Tree)
    assert tree.influences(weights) == pytest.approx(circuit.influences(weights), abs=1e-12)


def test_comparisons_of_comparisons_are_attributed_as_in_all_worlds():
    """Sums that a decided tuple leaves known are of no tuple's chance, and aligned with others."""
    for seed in range(60):
        chance = random.Random(seed)

        def held(depth, of=chance):
            parts = [P(Token("r", of.choice("abcde"))) for _ in range(2 * of.randint(2, 4))]
            terms = [delta(a + b) if of.random() < 0.5 else a * b for a, b in batched(parts)]
            if depth:
                terms[0] = terms[0] * held(0)
            tensor = Tensor(of.choice([SUM, COUNT]), [(k, of.randint(1, 3)) for k in terms])
            return compare(of.choice(["<", "=", ">="]), tensor, of.randint(1, 6))

        formal = P(Token("r", chance.choice("abcde"))) * held(1)
        found = {token: estimate.value for token, estimate in shapley(formal).items()}
        assert found == pytest.approx(game(formal).shapley(), abs=1e-9), seed


def test_a_tree_of_many_parts_answers_as_a_circuit_does(monkeypatch):
    tokens = [[Polynomial.token(Token("t", (n, m))) for m in range(4)] for n in range(60)]
    made = Expression.zero()
    for number, (a, b, c, d) in enumerate(tokens):
        held = compare(">", Tensor(COUNT, [(a * b, 1), (a * c, 1), (a * d, 1)]), number % 2)
        made = made + delta(a * b + a * c + a * d) * held
    tree = compile_annotation(made)
    assert isinstance(tree, Tree)
    shares, tree_repairs, chance = shapley(made), repairs(made), probability(made, 0.3)
    monkeypatch.setattr(COMPILATION, 1000)
    circuit_shares = shapley(made)
    assert chance.value == pytest.approx(probability(made, 0.3).value, rel=1e-12)
    assert {t: s.value for t, s in shares.items()} == pytest.approx(
        {t: s.value for t, s in circuit_shares.items()}, rel=1e-9
    )
    assert len(tree_repairs[0]) == len(repairs(made)[0])


def test_parts_that_look_alike_are_compiled_once():
    made = Expression.zero()
    for number in range(100):
        a, b, c = (Polynomial.token(Token("t", (number, name))) for name in "abc")
        made = made + delta(a * b + b * c + a * c)
    (of_class,) = decompose(made).classes
    assert len(of_class.parts) == 100
    assert of_class.rows.shape == (100, 3)
    hierarchical = Polynomial.sum(
        Polynomial.token(Token("c", n // 10)) * Polynomial.token(Token("o", n)) for n in range(500)
    )
    assert not decompose(hierarchical).classes


def test_conjunctions_that_are_equal_but_for_exponents_are_one(monkeypatch):
    monkeypatch.setattr(COMPILATION, 0)
    a, b = (Polynomial.token(Token("t", name)) for name in "ab")
    assert probability(delta(a * b + a * a * b), 0.5).value == 0.25


def test_one_probability_of_all_needs_no_token_for_each():
    def refused(numbers):
        raise AssertionError(f"{len(numbers)} tokens are made")

    circuit = AnnotationCircuit(600)
    reading = CircuitReading(circuit, refused)
    gates = circuit.tokens(np.arange(600))
    pairs = circuit.times(gates[:300], gates[300:])
    (made,) = reading.annotations(circuit.delta(circuit.sum(pairs, np.array([0, 300]))))
    assert probability(made, 0.1).value == pytest.approx(1 - 0.99**300)
    (tensor,) = circuit.tensors(SUM, pairs, pa.array(range(300)), np.array([0, 300]))
    total = reading.tensor(int(tensor))
    assert moments(total, 0.1).mean == pytest.approx(0.01 * sum(range(300)))
