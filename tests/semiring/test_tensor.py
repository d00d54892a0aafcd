"""Tensors and monoids."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal

import pytest

from semiring import (
    AVG,
    COUNT,
    MAX,
    MIN,
    SUM,
    AnnotationError,
    CapabilityError,
    Monoid,
    Polynomial,
    Tensor,
    Token,
    delta,
    monus,
)
from semiring.semirings import Boolean, Counting, Expressions, Polynomials, Viterbi, Why

C2, C3, R1 = Token("cars", "C2"), Token("cars", "C3"), Token("req", "R1")
P = Polynomial.token
D = Decimal


def test_dealer_example():
    """COUNT of Civics has tensors of C2 and C3; deleting C2 leaves that of C3, value 1."""
    count = Tensor(COUNT, [(P(C2), 1), (P(C3), 1)])
    assert str(count) == "cars:C2⊗1 + cars:C3⊗1"
    assert count.simple_tensors == ((P(C2), 1), (P(C3), 1))
    assert count.evaluate(Counting()) == 2
    left = count.delete([C2])
    assert left == Tensor(COUNT, [(P(C3), 1)])
    assert left.evaluate(Counting()) == 1
    assert count.evaluate(Counting(), {C2: 0, C3: 1}) == 1


def test_canonical():
    """Equal values are merged, zeros and NULLs dropped."""
    merged = Tensor(SUM, [(P(C2), 5), (P(C3), 5), (Polynomial.zero(), 7), (P(R1), None)])
    assert merged.terms == ((P(C2) + P(C3), 5),)
    assert merged == Tensor(SUM, [(P(C3), 5)]) + Tensor(SUM, [(P(C2), 5)])
    assert hash(merged) == hash(Tensor(SUM, [(P(C2) + P(C3), 5)]))
    assert merged != Tensor(MAX, merged.terms)
    assert P(R1) * merged == Tensor(SUM, [(P(R1) * P(C2) + P(R1) * P(C3), 5)])
    assert pickle.loads(pickle.dumps(merged)) == merged
    with pytest.raises(AnnotationError, match="cannot be added"):
        merged + Tensor(MAX)


def test_text():
    """Annotations with ⊖ are bracketed; long tensors are cut."""
    t = Tensor(SUM, [(monus(C2, C3), 5), (P(R1) * P(C2) * 2, D("1.50")), (delta(C2), "x")])
    assert str(t) == "2·cars:C2·req:R1⊗1.50 + (cars:C2 ⊖ cars:C3)⊗5 + δ(cars:C2)⊗x"
    assert str(Tensor(SUM)) == "0"
    long = Tensor(SUM, [(P(Token("r", n)), n) for n in range(30)])
    assert long.truncated(1) == "r:0⊗0 + … (29 more terms)"
    assert repr(long).endswith("(10 more terms))")
    assert "SUM" in long._repr_html_()


@pytest.mark.parametrize(
    ("monoid", "values", "expected"),
    [
        (SUM, [1, 2, 2], 5),
        (COUNT, [1, 2, 2], 3),
        (MIN, [3, 1, 2], 1),
        (MAX, [3, 1, 2], 3),
        (AVG, [1, 2], 1.5),
        (SUM, [D("0.10"), D("0.20")], D("0.30")),
        (AVG, [D("0.10"), D("0.20"), D("0.20")], D("0.166667")),
        (SUM, [10**40, 1], 10**40 + 1),
        (SUM, [D(10) ** 37, D("0.1")], D("10000000000000000000000000000000000000.1")),
        (MAX, [1.0, math.inf, math.nan], math.nan),
        (MIN, [1.0, math.nan], 1.0),
        (SUM, [None], None),
        (AVG, [], None),
        (MIN, [], None),
        (COUNT, [None], 0),
    ],
)
def test_counting(monoid, values, expected):
    """Aggregates in N are exact and NULL as in SQL."""
    tensor = Tensor(monoid, [(P(Token("r", n)), value) for n, value in enumerate(values)])
    count = tensor.evaluate(Counting())
    assert count == expected or (count != count and expected != expected)
    assert type(count) is type(expected)


def test_multiplicities():
    """k copies count k times."""
    t = Tensor(AVG, [(P(C2) * 3, 2), (P(C3), 6)])
    assert t.evaluate(Counting()) == 3.0
    assert Tensor(SUM, [(P(C2), D("1.1"))]).evaluate(Counting(), {C2: 10**30}) == D("1.1") * 10**30


def test_negative_average_rounds_half_up():
    """A decimal average is rounded away from zero at a half, as Spark does."""
    t = Tensor(AVG, [(P(C2), D("-0.00001")), (P(C3), D("0.00000"))])
    assert t.evaluate(Counting()) == D("-0.000005")
    custom = AVG.finishing(lambda total, count: (total, count))
    assert Tensor(custom, t.terms).evaluate(Counting()) == (D("-0.00001"), 2)


def test_idempotent_semirings():
    """MIN and MAX have values wherever + is idempotent; SUM, COUNT, AVG only in N."""
    best = Tensor(MAX, [(P(C2), 1), (P(C3), 5)])
    assert best.evaluate(Boolean(), {C2: True, C3: False}) == 1
    assert best.evaluate(Viterbi(), {C2: 0.5, C3: 0}) == 1
    assert best.evaluate(Why()) == 5
    assert best.evaluate(Boolean(), {C2: False, C3: False}) is None
    for monoid in (SUM, COUNT, AVG):
        with pytest.raises(CapabilityError, match="evaluate it in Counting"):
            Tensor(monoid, best.terms).evaluate(Boolean())
    with pytest.raises(CapabilityError, match="only formally"):
        best.evaluate(Polynomials())
    assert best.evaluate(Expressions(), lambda t: 0 if t == C3 else t) == best.delete([C3])


def test_unknown_monoid():
    """Only SQL's aggregates are monoids here."""
    with pytest.raises(AnnotationError, match="unknown monoid"):
        Monoid("MEDIAN")
