"""What each semiring makes of two derivations, and what it refuses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from semiring import (
    SUM,
    CapabilityError,
    Expression,
    LipstickError,
    Polynomial,
    Token,
    ValuationError,
)
from semiring.encodings.folds import fold, product
from semiring.encodings.valuation import Valuation
from semiring.laws import LawError
from semiring.semirings import (
    ALL,
    BooleanPolynomials,
    Formula,
    Fuzzy,
    Integers,
    Lukasiewicz,
    MaxPlus,
    PosBool,
    Sensitivity,
    Sorp,
    Trio,
    Validity,
    Viterbi,
    Worlds,
    define,
)

X, Y = Token("r", "x"), Token("r", "y")
x, y = Polynomial.token(X), Polynomial.token(Y)
ANNOTATION = x * x + 2 * x * y

CASES = [
    (PosBool(), None, "{{r:x}}"),
    (BooleanPolynomials(), None, "r:x² + r:x·r:y"),
    (Trio(), None, "r:x + 2·r:x·r:y"),
    (Sorp(), None, "r:x² + r:x·r:y"),
    (MaxPlus(), {X: 3, Y: -1}, "6.0"),
    (Fuzzy(), {X: 0.5, Y: 0.25}, "0.5"),
    (Lukasiewicz(), {X: 0.5, Y: 0.75}, "0.25"),
    (Viterbi(), {X: 0.5, Y: 0.75}, "0.375"),
    (Integers(), {X: -1, Y: 3}, "-5"),
    (Validity(), {X: (1, 5), Y: [(0, 2), (9, None)]}, "[1, 5)"),
    (Formula(), {X: "Civic", Y: "bid"}, "Civic² + 2·Civic·bid"),
    (Sensitivity(), None, "3 + 4·d(r:x) + 2·d(r:y)"),
]


@pytest.mark.parametrize(("semiring", "valuation", "shown"), CASES, ids=lambda c: str(c)[:24])
def test_evaluation(semiring, valuation, shown):
    element = ANNOTATION.evaluate(semiring, valuation)
    assert semiring.render(element) == shown


@pytest.mark.parametrize("semiring", [s for s in ALL if not s.has_monus], ids=lambda s: s.name)
def test_no_monus(semiring):
    """Scalars and arrays are refused, with the reason."""
    with pytest.raises(CapabilityError, match=f"semiring {semiring.name} has no monus"):
        Expression.token(X).monus(y).evaluate(semiring)
    with pytest.raises(CapabilityError, match=semiring.no_monus[:20]):
        semiring.monus_array(semiring.ones(2), semiring.ones(2))


@pytest.mark.parametrize("semiring", ALL, ids=lambda s: s.name)
def test_aggregates_that_have_no_value(semiring):
    for monoid in {"SUM", "COUNT", "AVG", "MIN", "MAX"} - semiring.capabilities:
        with pytest.raises(CapabilityError, match=f"over {monoid} has no value"):
            semiring.require(monoid)


def test_what_is_not_positive_claims_no_extremes():
    """A member may be 0 though none of its tuples is."""
    for semiring in ALL:
        assert semiring.positive or not semiring.capabilities & {"MIN", "MAX"}


@pytest.mark.parametrize(
    ("semiring", "value"),
    [
        (MaxPlus(), float("inf")),
        (MaxPlus(), float("nan")),
        (Fuzzy(), 1.5),
        (Integers(), 0.5),
        (Validity(), (3, 1)),
        (Validity(), "1990"),
        (Worlds(), -1),
        (Worlds(), 2**64),
        (Sensitivity(), "1"),
        (PosBool(), "x"),
        (Sorp(), -1),
        (Trio(), 1.5),
    ],
    ids=str,
)
def test_values_outside_the_carrier(semiring, value):
    with pytest.raises(ValuationError, match=repr(value)[:6]):
        semiring.check(value)


def test_sums_in_z_follow_additions_and_deletions():
    kept = Integers()
    assert kept.delta(-3) == 0
    assert SUM.aggregate([(2, 10), (-1, 4)]) == 16
    assert SUM.aggregate([(1, 10), (-1, 10)]) is None


# -- one's own -----------------------------------------------------------------------------


class Bottleneck:
    """Carrying capacity: the widest path."""

    zero, one = 0.0, float("inf")
    idempotent = absorptive = True
    plus, times = staticmethod(max), staticmethod(min)


class FastBottleneck(Bottleneck):
    """The same, vectorised."""

    dtype = "float64"
    plus_array, times_array = np.maximum, np.minimum


class Modular:
    """A sum that is not a ufunc, to be folded by halves."""

    zero, one = 0, 1
    positive = False
    dtype = "int64"

    @staticmethod
    def plus(a, b):
        return (a + b) % 7

    @staticmethod
    def times(a, b):
        return (a * b) % 7

    plus_array, times_array = plus, times

    @staticmethod
    def delta(a):
        return int(a != 0)


@pytest.mark.parametrize("definition", [Bottleneck, FastBottleneck])
def test_defined(definition):
    capacity = define("Capacity", definition, samples=[1.0, 2.5, 4.0])
    assert ANNOTATION.evaluate(capacity, {X: 3.0, Y: 5.0}) == 3.0
    valuation = Valuation.compile(capacity, "r", {"x": 3.0, "y": 5.0})
    factors = [valuation.lookup([pa.array(keys)]) for keys in (["x", "x", "y"], ["x", "y", "y"])]
    sums = fold(capacity, product(capacity, factors), np.array([0, 2, 2, 3]))
    assert capacity.unpack(sums) == [3.0, 0.0, 5.0]
    assert capacity != define("Capacity", Modular, samples=[3])


def test_defined_sums_are_folded():
    modular = define("Modular", Modular, samples=[3, 5])
    values, offsets = np.arange(20) % 7, np.array([0, 0, 1, 8, 8, 20])
    expected = [values[a:b].sum() % 7 for a, b in pairwise(offsets)]
    assert modular.sum_segments(values, offsets).tolist() == expected


class NoSemiring(Bottleneck):
    """min over - does not distribute."""

    @staticmethod
    def times(a, b):
        return a - b


class NoZero:
    one = 1


class HalfVectorised(Bottleneck):
    plus_array = np.maximum


@pytest.mark.parametrize(
    ("definition", "error", "text"),
    [
        (NoSemiring, LawError, "Bad: .* fails"),
        (NoZero, LipstickError, "has no plus, times, zero"),
        (HalfVectorised, LipstickError, "needs all three"),
    ],
)
def test_definitions_that_are_none(definition, error, text):
    with pytest.raises(error, match=text):
        define("Bad", definition, samples=[1.0, 2.0])


def test_defined_without_monus():
    with pytest.raises(CapabilityError, match="its definition has no monus"):
        define("Capacity", Bottleneck, samples=[]).monus(1.0, 1.0)
