"""Formal values: functions, choices, aggregates and window functions of them, and conditions."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from semiring import (
    COUNT,
    MAX,
    SUM,
    CapabilityError,
    Expression,
    Polynomial,
    Tensor,
    Token,
    compare,
)
from semiring.analysis import moments, probability, repairs, responsibility, sampled_probabilities
from semiring.boolean.compilation import compile_annotation
from semiring.circuit.possible_worlds import PossibleWorlds
from semiring.circuit.values import CircuitApplied
from semiring.comparison import compare_values
from semiring.expression import condition, delta
from semiring.semirings import Boolean, Counting, Tropical
from tests.semiring.formal import aggregated, applied, choice, windowed

A, B, C = (Token("r", (name,)) for name in "abc")
TOKENS = (A, B, C)


P = Polynomial.token


class Minus:
    """A difference, NULL where one side is."""

    name = "minus"

    def text(self, operands: Sequence[str]) -> str:
        return " - ".join(operands)

    def __call__(self, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [None if None in case else case[0] - case[1] for case in cases]


class Above:
    """Whether a number is above a bound; fails for None, as a cast would."""

    def __init__(self, bound: int) -> None:
        self.name = f"above {bound}"
        self.bound = bound

    def text(self, operands: Sequence[str]) -> str:
        return f"{operands[0]} > {self.bound}"

    def __call__(self, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [None if value is None else value > self.bound for (value,) in cases]


class Struct:
    """A struct of one field, as computed values are: a dict."""

    name = "struct"

    def text(self, operands: Sequence[str]) -> str:
        return f"struct({operands[0]})"

    def __call__(self, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
        return [{"n": value} for (value,) in cases]


class Longest:
    """The number of rows."""

    name = label = "rows"

    def __call__(self, bags: Sequence[Sequence[tuple[Any, ...]]]) -> list[Any]:
        return [sum(value or 0 for (value,) in bag) for bag in bags]


class Place:
    """Where a row comes by its only operand."""

    name = label = "place"

    def __call__(self, relations: Sequence[Sequence[tuple[Any, ...]]]) -> list[list[Any]]:
        return [[sorted(rows).index(row) + 1 for row in rows] for rows in relations]


LARGEST = Tensor(MAX, [(P(A), 10), (P(B), 1)])
TOTAL = Tensor(SUM, [(P(A), 10), (P(B), 1)])
RANGE = applied(Minus(), [LARGEST, 1])
AMONG = [(P(A), [3]), (P(B), [1]), (P(C), [2])]
VALUES = [
    LARGEST,
    RANGE,
    choice([(delta(P(A)), LARGEST), (P(B), 7)]),
    aggregated(Longest(), [(P(A), [LARGEST]), (P(B) * P(C), [2])]),
    windowed(Place(), AMONG, 0),
]


def worlds() -> list[dict[Token, int]]:
    """All worlds of three tuples."""
    return [{t: (n >> i) & 1 for i, t in enumerate(TOKENS)} for n in range(8)]


def without_tuples(value: Any, gone: Sequence[Token]) -> Any:
    """A value once tuples are deleted and all others are known to be there."""
    left = value.delete(gone)
    if not hasattr(left, "tokens"):
        return left
    return left.evaluate(Counting(), dict.fromkeys(left.tokens, 1))


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_deleting_is_evaluating_in_a_world(value: Any) -> None:
    """A value without some tuples is that of the world without them, and has a text."""
    for world in worlds():
        gone = [token for token, there in world.items() if not there]
        assert without_tuples(value, gone) == value.evaluate(Counting(), world)
    assert pickle.loads(pickle.dumps(value)) == value
    assert str(value)
    assert value.tokens <= set(TOKENS)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_all_worlds_at_once(value: Any) -> None:
    """Arrays of worlds have what each world alone has."""
    at_once = PossibleWorlds.every(TOKENS).values([value])[0]
    assert list(at_once) == [value.evaluate(Counting(), world) for world in worlds()]


def test_values_by_hand() -> None:
    """What the values are in a few worlds."""
    only_a = {A: 1, B: 0, C: 0}
    assert RANGE.evaluate(Counting(), only_a) == 9
    assert RANGE.evaluate(Counting(), {A: 0, B: 0}) is None
    assert VALUES[2].evaluate(Counting(), {A: 0, B: 1}) == 7
    assert VALUES[3].evaluate(Counting(), {A: 1, B: 1, C: 1}) == 12
    assert VALUES[4].evaluate(Counting(), {A: 1, B: 1, C: 1}) == 3
    assert VALUES[4].evaluate(Counting(), {A: 0, B: 1, C: 1}) is None


def test_what_is_known_is_plain() -> None:
    """Functions of plain values, and choices that are certain, are plain values."""
    assert applied(Minus(), [5, 2]) == 3
    assert choice([(Polynomial.one(), 4), (P(A), 5)]) == 4
    assert choice([(Polynomial.zero(), 4)]) is None
    assert applied(Minus(), [Tensor(COUNT), 2]) == -2
    assert RANGE.delete([A, B]) is None
    assert isinstance(RANGE.delete([A]), CircuitApplied)


def test_equal_values_are_one() -> None:
    """Keys are those of functions and operands: not of texts."""
    assert applied(Minus(), [LARGEST, 1]) == RANGE
    assert applied(Minus(), [LARGEST, 2]) != RANGE
    assert applied(Above(1), [LARGEST]) != applied(Above(2), [LARGEST])
    assert len({RANGE, applied(Minus(), [LARGEST, 1]), LARGEST}) == 2
    with pytest.raises(AttributeError):
        RANGE.operands = ()


HELD = condition(applied(Above(5), [RANGE]))


def test_conditions_are_factors() -> None:
    """[φ] is 1 where φ is true, and 0 where it is false or NULL; it is a truth value."""
    assert str(delta(P(A) + P(B)) * HELD) == ("δ(r:a + r:b)·[MAX(r:b⊗1 + r:a⊗10) - 1 > 5]")
    assert HELD * HELD == HELD
    assert HELD.delta() == HELD
    assert [HELD.evaluate(Counting(), world) for world in worlds()] == [0, 1, 0, 1] * 2
    assert HELD.delete([A]).evaluate(Counting()) == 0
    assert str(HELD.to_sympy()) == "[MAX(r:b⊗1 + r:a⊗10) - 1 > 5]"
    assert "MAX" in Expression.of(HELD)._repr_latex_()
    assert condition(True).constant_value() == 1
    assert condition(None).constant_value() == 0


def test_conditions_ask_which_tuples_are_there() -> None:
    """They have a value in every semiring where tuples are valued 0 and 1, and no others."""
    assert HELD.evaluate(Boolean(), {A: True, B: False})
    infinite = float("inf")
    assert HELD.evaluate(Tropical(), {A: 0.0, B: infinite}) == 0.0
    assert HELD.evaluate(Tropical(), {A: infinite, B: 0.0}) == infinite
    row = Expression.of(P(C)) * HELD
    assert row.evaluate(Tropical(), {A: 0.0, B: 0.0, C: 3.0}) == 3.0
    with pytest.raises(CapabilityError, match="neither 0 nor 1"):
        HELD.evaluate(Tropical(), {A: 2.0, B: 0.0})
    assert compare(">", TOTAL, 10).evaluate(Boolean(), {A: True, B: True})
    twice = windowed(Place(), AMONG, 0)
    with pytest.raises(CapabilityError, match="comes 2 times"):
        twice.evaluate(Counting(), {A: 2, B: 1, C: 1})


def test_comparisons_of_formal_values() -> None:
    """They are compared as plain values are, in each world."""
    both = compare("<", RANGE, TOTAL)
    for world in worlds():
        left, right = (side.evaluate(Counting(), world) for side in (RANGE, TOTAL))
        expected = int(left is not None and right is not None and left < right)
        assert both.evaluate(Counting(), world) == expected
    assert PossibleWorlds.every(TOKENS).counts([both])[0].tolist() == [
        both.evaluate(Counting(), world) for world in worlds()
    ]


def test_structs_are_compared_by_their_fields() -> None:
    """What is computed is a dict, and constants are kept as tuples."""
    largest = compare("=", applied(Struct(), [LARGEST]), {"n": 10})
    without = {A: 0, B: 1}
    assert largest.evaluate(Counting(), lambda token: 1) == 1
    assert largest.evaluate(Counting(), without.__getitem__) == 0
    assert PossibleWorlds.every(TOKENS).counts([largest])[0].tolist() == [
        largest.evaluate(Counting(), world) for world in worlds()
    ]
    assert compare_values("<=>", {"n": [1, None]}, ((1, None),))
    assert compare_values("<", {"n": 1, "m": 2}, (1, 3))
    assert not compare_values("=", [1, 2], (2, 1))


def test_analyses_of_conditions() -> None:
    """Chances, repairs and blame are by worlds; few tuples are tabulated, not decided."""
    row = delta(P(A) + P(B)) * HELD
    assert probability(row, 0.5).value == 0.5
    assert abs(sampled_probabilities([row], 0.5, error=0.05)[0].value - 0.5) < 0.05
    assert repairs(row) == [frozenset({A})]
    assert responsibility(row) == {A: 1.0, B: 0.0}
    assert compile_annotation(HELD).decisions == 0
    result = moments(RANGE, 0.5)
    assert result.presence == pytest.approx(0.75)
    assert result.mean == pytest.approx((9 * 0.5 + 0 * 0.25) / 0.75)
    many = applied(Minus(), [Tensor(COUNT, [(P(Token("r", (n,))), 1) for n in range(30)]), 1])
    assert moments(many, 0.5).mean == pytest.approx(15 - 1)


def test_counts_that_do_not_fit() -> None:
    """Counts beyond 64 bits are Python's integers; decimals are compared exactly."""
    large = Polynomial.constant(2**40) * P(A) * Polynomial.constant(2**40)
    there = {A: np.array([True, False])}
    assert PossibleWorlds(there, 2).counts([large]).tolist() == [[2**80, 0]]
    fine = Tensor(SUM, [(P(A), Decimal("0.1")), (P(B), Decimal("0.2"))])
    assert compare("=", fine, Decimal("0.3")).evaluate(Counting(), {A: 1, B: 1}) == 1
    third = compare("=", fine, Decimal("0.3"))
    assert PossibleWorlds.every((A, B)).counts([third]).tolist() == [[0, 0, 0, 1]]
