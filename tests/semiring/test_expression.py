"""Expressions: canonical form, text, evaluation."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TOKENS, expressions, polynomials

from semiring import (
    COUNT,
    MAX,
    SUM,
    AnnotationError,
    CapabilityError,
    Expression,
    Polynomial,
    Tensor,
    Token,
    compare,
    delta,
    monus,
    simplify,
)
from semiring.expression import product_of, sum_of
from semiring.semirings import Boolean, Counting, Expressions, Polynomials, Tropical

C2, C3, R1 = Token("cars", "C2"), Token("cars", "C3"), Token("req", "R1")
P, E = Polynomial.token, Expression.token
COUNTED = Tensor(COUNT, [(P(C2), 1), (P(C3), 1)])


def test_text():
    """An expression is written with δ, ⊖ and comparisons; parentheses only where needed."""
    having = delta(P(C2) + P(C3)) * compare(">", COUNTED, 1)
    assert str(having) == "δ(cars:C2 + cars:C3)·[COUNT(cars:C2⊗1 + cars:C3⊗1) > 1]"
    assert str(P(R1) * monus(1, delta(C2))) == "req:R1·(1 ⊖ δ(cars:C2))"
    assert str(monus(P(C2) + P(C3), monus(C2, C3))) == ("(cars:C2 + cars:C3) ⊖ (cars:C2 ⊖ cars:C3)")
    assert str(2 * delta(C2) + 3) == "3 + 2·δ(cars:C2)"
    assert r"\delta(\mathrm{cars:C2})" in delta(C2)._repr_latex_()
    assert delta(C2)._repr_html_() == "<code>δ(cars:C2)</code>"


def test_truncated():
    """Sums within are truncated too."""
    d = delta(Polynomial.sum(P(Token("r", n)) for n in range(100)))
    assert d.truncated(1) == "δ(r:0 + … (99 more terms))"
    assert "80 more" in repr(d)


def test_delta_laws():
    """δ(0) = 0, δ(n) = 1, δ(δ(x)) = δ(x), and comparisons are 0 or 1."""
    c = compare(">", COUNTED, 1)
    assert delta(0) == Expression.zero()
    assert delta(3) == Expression.one()
    assert delta(delta(C2)) == delta(C2)
    assert delta(c) == c == c * c
    assert delta(E(C2) * c) == delta(C2) * c


def test_monus_laws():
    """x ⊖ 0 = x, 0 ⊖ x = 0, x ⊖ x = 0; never coefficient by coefficient."""
    assert monus(C2, 0) == E(C2)
    assert monus(0, C2) == Expression.zero()
    assert monus(P(C2) + P(C3), P(C3) + P(C2)) == Expression.zero()
    assert monus(1, 2) == Expression.zero()
    kept = monus(P(C2) + P(C3), C2)
    assert kept != E(C3)
    assert kept.evaluate(Boolean(), {C2: True, C3: True}) is False
    assert kept.evaluate(Counting(), {C2: 1, C3: 1}) == 1


def test_canonical():
    """Sums and products are flattened, sorted and merged; integers come out in front."""
    x, y = E(C2), E(C3)
    assert (x + y) + (y + x) == 2 * (x + y) == 2 * x + 2 * y
    assert (2 * x) * y == 2 * (x * y)
    assert (2 * x + 2 * y) * x == 2 * ((x + y) * x)
    assert x * x == x**2
    assert x * 1 == x == x + 0
    assert (x * 0).is_zero
    assert hash(x + y) == hash(y + x)


def test_constants_compare_at_once():
    """A comparison of constants, or of an empty tensor, is known."""
    assert compare("<", 1, 2) == Expression.one()
    assert compare("=", None, 2) == Expression.zero()
    assert compare("<=>", None, None) == Expression.one()
    assert compare(">", Tensor(COUNT), 0) == Expression.zero()
    assert compare("<=>", Tensor(SUM), None) == Expression.one()
    assert str(compare("<", 1, COUNTED)) == "[COUNT(cars:C2⊗1 + cars:C3⊗1) > 1]"
    with pytest.raises(AnnotationError, match="not a comparison operator"):
        compare("~", 1, 2)


def test_facts():
    """Tokens inside tensors count; degree looks through δ."""
    e = delta(P(R1) * P(C2)) * compare(">", COUNTED, 1)
    assert e.tokens == {C2, C3, R1}
    assert e.degree == 2
    assert not e.is_polynomial
    with pytest.raises(CapabilityError, match="not a polynomial"):
        e.to_polynomial()


def test_having():
    """A HAVING annotation after a deletion."""
    e = delta(P(C2) + P(C3)) * compare(">", COUNTED, 1)
    assert e.evaluate(Counting(), {C2: 1, C3: 1}) == 1
    assert e.evaluate(Counting(), {C2: 0, C3: 1}) == 0
    assert str(e.delete([C2])) == "δ(cars:C3)·[COUNT(cars:C3⊗1) > 1]"
    assert e.delete([C2, C3]).is_zero


def test_capabilities():
    """What a semiring lacks is an error that says so."""
    with pytest.raises(CapabilityError, match="COUNT has no value in semiring Boolean"):
        COUNTED.evaluate(Boolean())
    with pytest.raises(CapabilityError, match="neither 0 nor 1"):
        compare(">", COUNTED, 1).evaluate(Tropical(), {C2: 2, C3: 0})
    assert compare(">", COUNTED, 1).evaluate(Boolean(), {C2: True, C3: True})
    assert not compare(">", COUNTED, 1).evaluate(Boolean(), {C2: True, C3: False})
    with pytest.raises(CapabilityError, match="does not commute"):
        monus(C2, C3).evaluate(Polynomials())
    with pytest.raises(CapabilityError, match="not a polynomial"):
        delta(C2).evaluate(Polynomials())
    best = Tensor(MAX, [(P(C2), 1), (P(C3), 5)])
    inf = float("inf")
    assert best.evaluate(Tropical(), {C2: 1, C3: 2}) == 5
    assert compare(">", best, 3).evaluate(Tropical(), {C2: 0, C3: 0}) == 0.0
    assert compare(">", best, 3).evaluate(Tropical(), {C2: 0, C3: inf}) == inf


@settings(max_examples=40, deadline=None)
@given(polynomials)
def test_polynomial_round_trip(p):
    """A polynomial as an expression is the same polynomial."""
    expression = Expression.of(p)
    assert expression.is_polynomial
    assert expression.to_polynomial() == p == simplify(expression)


@settings(max_examples=40, deadline=None)
@given(expressions, st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_homomorphism(e, values):
    """Evaluating is the same before and after delete, symbolic evaluation and pickling."""
    valuation = dict(zip(TOKENS, values, strict=True))
    value = e.evaluate(Counting(), valuation)
    assert e.evaluate(Expressions()).evaluate(Counting(), valuation) == value
    gone = {token for token in TOKENS if valuation[token] == 0}
    assert e.delete(gone).evaluate(Counting(), valuation) == value
    assert pickle.loads(pickle.dumps(e)) == e
    if e.is_polynomial:
        assert e.to_polynomial().evaluate(Counting(), valuation) == value


@settings(max_examples=40, deadline=None)
@given(expressions, expressions, st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_operations_evaluate(e, f, values):
    """Simplification respects every operation."""
    n, valuation = Counting(), dict(zip(TOKENS, values, strict=True))
    a, b = e.evaluate(n, valuation), f.evaluate(n, valuation)
    assert (e + f).evaluate(n, valuation) == a + b
    assert (e * f).evaluate(n, valuation) == a * b
    assert e.delta().evaluate(n, valuation) == min(a, 1)
    assert e.monus(f).evaluate(n, valuation) == max(a - b, 0)


@settings(max_examples=40, deadline=None)
@given(expressions)
def test_text_and_sympy_work(e):
    """Every expression has text, LaTeX and a sympy form."""
    assert str(e)
    assert e._repr_latex_()
    e.to_sympy()


def test_sympy_functions():
    """δ and ⊖ become functions."""
    assert str(monus(C2, delta(C3)).to_sympy()) == "monus(cars:C2, delta(cars:C3))"


def test_comparisons_with_null_are_known_where_no_world_decides_them() -> None:
    k = Expression.token(Token("r", 1))
    assert compare("<=>", Tensor(COUNT, [(k, 1)]), None) == Expression.zero()
    assert compare("=", Tensor(SUM, [(k, 1)]), None) == Expression.zero()
    assert compare("<", None, Tensor(SUM, [(k, 1)])) == Expression.zero()
    assert str(compare("<=>", Tensor(SUM, [(k, 1)]), None)) == "[SUM(r:1⊗1) <=> NULL]"


@given(polynomials, expressions, expressions)
@settings(max_examples=60)
def test_products_and_sums_of_two_are_canonical(p, e, f):
    """Whatever is multiplied first, equal products are one and the same, with one hash."""
    algebra = Expressions()
    k, m = (simplify(each) for each in (e, f))
    for a, b in ((p, k), (k, p), (k, m)):
        product = algebra.times(a, b)
        expected = simplify(product_of(((Expression.of(a), 1), (Expression.of(b), 1))))
        assert product == expected
        assert hash(product) == hash(expected)
        assert algebra.sum([a, b]) == simplify(
            sum_of(((Expression.of(a), 1), (Expression.of(b), 1)))
        )
    assert Expression.of(p) == sum_of(
        (product_of((Expression.token(t), n) for t, n in monomial), c) for monomial, c in p.terms
    )
