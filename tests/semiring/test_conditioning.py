"""Conditional probability and exclusive tuples, held against sums over all worlds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

from semiring.analysis import moments, probability, sampled_probabilities
from semiring.analysis.distribution import distribution
from semiring.errors import CapabilityError, ExactnessError, ValuationError
from semiring.expression import Expression, compare
from semiring.monoid import AVG, COUNT, MAX, MIN, SUM, Monoid
from semiring.semirings import Counting
from semiring.tensor import Tensor
from semiring.token import Token
from tests.semiring.formal import applied

TOKENS = [Token(relation, (key,)) for relation in ("r", "s") for key in range(4)]
BLOCKS = {token: token.key[0] % 2 for token in TOKENS if token.relation == "s"}
"""Two blocks of two tuples of s; tuples of r are independent."""
WEIGHTS = dict(zip(TOKENS, (0.5, 0.3, 0.9, 0.2, 0.25, 0.5, 0.7, 0.4), strict=True))


def worlds(blocks: Mapping[Token, Any]) -> Iterator[tuple[dict[Token, bool], float]]:
    """Every world with its probability: of independent tuples, and one or none of each block."""
    choices: list[list[tuple[tuple[Token, ...], float]]] = []
    members: dict[Any, list[Token]] = {}
    for token in TOKENS:
        if token in blocks:
            members.setdefault(blocks[token], []).append(token)
        else:
            choices.append([((token,), WEIGHTS[token]), ((), 1 - WEIGHTS[token])])
    for alternatives in members.values():
        some = [((token,), WEIGHTS[token]) for token in alternatives]
        choices.append([*some, ((), 1 - sum(chance for _, chance in some))])
    for chosen in product(*choices):
        there = {token for tokens, _ in chosen for token in tokens}
        weight = float(np.prod([chance for _, chance in chosen]))
        yield {token: token in there for token in TOKENS}, weight


def value_in(formal: Any, world: Mapping[Token, bool]) -> Any:
    return formal.evaluate(Counting(), world)


def holds_in(annotation: Any, world: Mapping[Token, bool]) -> bool:
    return annotation.evaluate(Counting(), world) > 0


def drawn(rng: random.Random, depth: int = 3) -> Expression:
    """A random annotation with every operation."""
    if not depth or rng.random() < 0.25:
        return Expression.token(rng.choice(TOKENS))
    kind = rng.choice(["sum", "product", "delta", "absent", "compare"])
    if kind == "sum":
        return drawn(rng, depth - 1) + drawn(rng, depth - 1)
    if kind == "product":
        return drawn(rng, depth - 1) * drawn(rng, depth - 1)
    if kind == "delta":
        return drawn(rng, depth - 1).delta()
    if kind == "absent":
        return Expression.one().monus(drawn(rng, depth - 1).delta())
    return compare(rng.choice([">", "=", "<"]), tensor(rng, rng.choice([SUM, COUNT, MAX])), 2)


def tensor(rng: random.Random, monoid: Monoid) -> Tensor:
    terms = [(Expression.token(token), rng.randrange(-1, 4)) for token in rng.sample(TOKENS, 4)]
    a, b = rng.sample(TOKENS, 2)
    return Tensor(monoid, [*terms, (Expression.token(a) * Expression.token(b), 2)])


@pytest.mark.parametrize("blocks", [{}, BLOCKS], ids=["independent", "blocks"])
@pytest.mark.parametrize("seed", range(30))
def test_conditional_probability(seed: int, blocks: Mapping[Token, Any]) -> None:
    rng = random.Random(seed)
    wanted, given = drawn(rng), [drawn(rng) for _ in range(seed % 3)]
    both = whole = 0.0
    for world, weight in worlds(blocks):
        if all(holds_in(annotation, world) for annotation in given):
            whole += weight
            both += weight * holds_in(wanted, world)
    if whole < 1e-12:
        with pytest.raises(CapabilityError, match="evidence has probability 0"):
            probability(wanted, WEIGHTS, given=given, blocks=blocks)
        return
    known = {"given": given, "blocks": blocks or None}
    assert probability(wanted, WEIGHTS, **known).value == pytest.approx(both / whole, abs=1e-12)  # type: ignore[arg-type]
    estimate = sampled_probabilities([wanted], WEIGHTS, 0.05, 0.9999, **known)[0]  # type: ignore[arg-type]
    assert abs(estimate.value - both / whole) <= estimate.error


class Rule:
    """CASE WHEN a > 1 THEN b ELSE 0 END."""

    name = "rule"

    def text(self, operands: Sequence[str]) -> str:
        return f"CASE WHEN {operands[0]} > 1 THEN {operands[1]} ELSE 0 END"

    def __call__(self, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [b if a is not None and a > 1 else 0 for a, b in cases]


@pytest.mark.many(4)
@pytest.mark.parametrize("blocks", [{}, BLOCKS], ids=["independent", "blocks"])
@pytest.mark.parametrize("monoid", [SUM, COUNT, MIN, MAX, AVG], ids=str)
@pytest.mark.parametrize("seed", range(6))
def test_expected_values_given_evidence(
    seed: int, monoid: Monoid, blocks: Mapping[Token, Any]
) -> None:
    rng = random.Random(seed)
    aggregated = tensor(rng, monoid)
    case = applied(Rule(), [tensor(rng, COUNT), aggregated])
    given = drawn(rng) if seed % 2 else Expression.one()
    for formal in (aggregated, case):
        cases = [(value_in(formal, w), p) for w, p in worlds(blocks) if holds_in(given, w)]
        whole = sum(p for _, p in cases)
        if whole < 1e-12:
            continue
        if formal is aggregated and monoid in (SUM, COUNT):
            cases = [(value or 0, p) for value, p in cases]
        known = [(float(value), p) for value, p in cases if value is not None]
        presence = sum(p for _, p in known)
        mean = sum(value * p for value, p in known) / presence
        variance = sum((value - mean) ** 2 * p for value, p in known) / presence
        found = moments(formal, WEIGHTS, given=given, blocks=blocks or None)
        assert (found.mean, found.variance) == pytest.approx((mean, variance), abs=1e-9)
        assert found.presence == pytest.approx(presence / whole)


def test_distribution_of_many_tuples_is_that_of_few_put_together() -> None:
    """Sixty tuples, whose worlds nobody could look at one by one."""
    tokens = [Token("r", (number,)) for number in range(60)]
    count = Tensor(COUNT, [(Expression.token(t), 1) for t in tokens])
    total = Tensor(SUM, [(Expression.token(t), 2) for t in tokens])
    case = applied(Rule(), [count, total])
    found = moments(case, 0.5)
    one_or_none = 61 * 0.5**60
    assert found.mean == pytest.approx(60 - 2 * 60 * 0.5**60, rel=1e-12)
    assert found.exact
    cases = dict(distribution(case, dict.fromkeys(tokens, 0.5), Expression.one(), 0))
    assert cases[0] == pytest.approx(one_or_none)
    assert sum(cases.values()) == pytest.approx(1.0)


def test_states_that_are_too_many_are_refused() -> None:
    terms = [(Expression.token(Token("r", (n,))), 3**n) for n in range(20)]
    count = Tensor(COUNT, [(k, 1) for k, _ in terms])
    with pytest.raises(ExactnessError, match="more than 20,000 values together"):
        moments(applied(Rule(), [count, Tensor(SUM, terms)]), 0.5)


def test_blocks_of_more_than_certainty_are_refused() -> None:
    a, b = (Expression.token(token) for token in TOKENS[:2])
    with pytest.raises(ValuationError, match=r"'x' of r add up to more than 1: r:0 0\.6, r:1"):
        probability(a + b, 0.6, blocks=lambda token: "x")
    assert probability(a * b, 0.5, blocks=lambda token: "x").value == 0.0
    assert probability(a + b, 0.5, blocks=lambda token: "x").value == 1.0
    assert probability(a + b, 0.5, blocks=lambda token: None).value == 0.75


def test_evidence_that_is_no_annotation_is_refused() -> None:
    with pytest.raises(CapabilityError, match="Evidence is annotations"):
        probability(Expression.token(TOKENS[0]), 0.5, given=["r:1"])  # type: ignore[list-item]


def test_evidence_that_is_rare_is_not_sampled() -> None:
    a, b = (Expression.token(token) for token in TOKENS[:2])
    with pytest.raises(ExactnessError, match="holds in none of"):
        sampled_probabilities([a], {TOKENS[0]: 0.5, TOKENS[1]: 1e-12}, 0.2, given=b)
