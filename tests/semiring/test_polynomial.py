"""Polynomials: arithmetic, text, evaluation, sympy."""

from __future__ import annotations

import pickle
from decimal import Decimal

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TOKENS, elements, polynomials

from semiring import AnnotationError, Polynomial, Token, ValuationError
from semiring.semirings import ALL, Boolean, Counting, Polynomials, Why

C2, C3, R1 = Token("cars", "C2"), Token("cars", "C3"), Token("req", "R1")
P = Polynomial.token


def test_text():
    """Terms and factors are in the order of tokens, with coefficients and exponents."""
    p = P(C3) ** 2 + P(R1) * 2 * P(C2)
    assert str(p) == "2·cars:C2·req:R1 + cars:C3²"
    assert p._repr_latex_() == r"$2 \cdot \mathrm{cars:C2} \cdot \mathrm{req:R1}" + (
        r" + \mathrm{cars:C3}^{2}$"
    )
    assert p._repr_html_() == "<code>2·cars:C2·req:R1 + cars:C3²</code>"
    assert str(Polynomial.zero()) == "0"
    assert str(P(C2) + 1) == "1 + cars:C2"


def test_truncated():
    """Bounded text says how many terms are left out; repr is bounded."""
    p = Polynomial.sum(P(Token("r", n)) for n in range(100))
    assert p.truncated(2) == "r:0 + r:1 + … (98 more terms)"
    assert p.truncated(99).endswith("… (1 more term)")
    assert "80 more" in repr(p)
    assert "80" in p._repr_latex_()


def test_canonical():
    """Equality is that of N[X]."""
    x, y = P(C2), P(C3)
    assert (x + y) ** 2 == x * x + 2 * x * y + y * y
    assert x * 0 == Polynomial.zero() == 0
    assert hash(x + y) == hash(y + x)
    assert hash(Polynomial.constant(3)) == hash(3)
    assert (x + y) ** 0 == Polynomial.one()


def test_facts():
    """Tokens, degree and terms are read off the canonical form."""
    p = P(C2) ** 2 * P(R1) + 3
    assert p.tokens == {C2, R1}
    assert p.degree == 3
    assert p.terms == (((), 3), (((C2, 2), (R1, 1)), 1))
    assert p.delete([R1]) == 3


def test_immutable():
    """A polynomial cannot be changed, only pickled and copied."""
    p = P(C2) + 1
    with pytest.raises(AttributeError, match="immutable"):
        p.x = 1
    assert pickle.loads(pickle.dumps(p)) == p


def test_negative_is_refused():
    """N[X] has neither negative coefficients nor negative powers."""
    with pytest.raises(AnnotationError, match="non-negative"):
        Polynomial.constant(-1)
    with pytest.raises(AnnotationError, match="negative powers"):
        P(C2) ** -1


def test_evaluate():
    """A polynomial is evaluated by a mapping, a function, or the semiring's default."""
    p = P(C2) * P(R1) * 2 + P(C3)
    assert p.evaluate(Counting(), {C2: 2, R1: 3, C3: 0}) == 12
    assert p.evaluate(Boolean(), lambda token: token != C2) is True
    assert p.evaluate(Counting()) == 3
    assert p.evaluate(Why()) == {frozenset({C2, R1}), frozenset({C3})}


def test_missing_value():
    """A token without a value, or with one outside the carrier, is an error that names it."""
    with pytest.raises(ValuationError, match="no value for cars:C2"):
        P(C2).evaluate(Counting(), {})
    with pytest.raises(ValuationError, match="no value for cars:C2"):
        P(C2).evaluate(Counting(), lambda token: {}[token])
    with pytest.raises(ValuationError, match="not a value of Counting"):
        P(C2).evaluate(Counting(), {C2: -1})


@pytest.mark.parametrize("semiring", ALL, ids=lambda semiring: semiring.name)
def test_homomorphism(semiring):
    """Evaluation respects +, ·, 0 and 1."""

    @settings(max_examples=30, deadline=None)
    @given(polynomials, polynomials, st.lists(elements(semiring), min_size=6, max_size=6))
    def check(p, q, values):
        valuation = dict(zip(TOKENS, values, strict=True))
        a, b = p.evaluate(semiring, valuation), q.evaluate(semiring, valuation)
        assert (p + q).evaluate(semiring, valuation) == semiring.plus(a, b)
        assert (p * q).evaluate(semiring, valuation) == semiring.times(a, b)
        assert Polynomial.zero().evaluate(semiring, valuation) == semiring.zero
        assert Polynomial.one().evaluate(semiring, valuation) == semiring.one

    check()


@settings(max_examples=50, deadline=None)
@given(polynomials, st.sets(st.sampled_from(TOKENS)))
def test_delete_is_evaluation(p, deleted):
    """Deleting tokens is evaluating them at 0."""
    valuation = {t: Polynomial.zero() if t in deleted else P(t) for t in TOKENS}
    assert p.delete(deleted) == p.evaluate(Polynomials(), valuation)


@settings(max_examples=50, deadline=None)
@given(polynomials)
def test_sympy_round_trip(p):
    """To sympy and back is the identity."""
    assert Polynomial.from_sympy(p.to_sympy(), TOKENS) == p


def test_sympy_refusals():
    """What is not a polynomial over the tokens is refused."""
    x = sympy.Symbol("cars:C2")
    for wrong in (x / 2, -x, 1 / x, sympy.Symbol("other"), sympy.sin(x), x**x):
        with pytest.raises(AnnotationError):
            Polynomial.from_sympy(wrong, [C2])
    assert Polynomial.from_sympy((x + 1) ** 2, [C2]) == (P(C2) + 1) ** 2


def test_ambiguous_tokens():
    """Two tokens with the same text cannot both become symbols."""
    with pytest.raises(AnnotationError, match="both written r:1;"):
        (P(Token("r", 1)) + P(Token("r", Decimal(1)))).to_sympy()
