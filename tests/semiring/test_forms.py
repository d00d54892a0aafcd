"""Annotations in other forms mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from strategies import expressions, polynomials

from semiring import AnnotationError, CapabilityError, Expression, Polynomial, Token, delta
from semiring.expression import Compare
from semiring.forms import equivalent, factored, from_sympy, latex
from semiring.semirings import BooleanPolynomials, PosBool, Sorp, Trio, Why

X, Y, Z, W = (Token("r", name) for name in "xyzw")
x, y, z, w = map(Polynomial.token, (X, Y, Z, W))


@given(polynomials)
def test_factored_multiplies_out_to_the_same(polynomial):
    assert factored(polynomial).to_polynomial() == polynomial


@pytest.mark.parametrize(
    ("polynomial", "shown"),
    [
        (x * z + y * z, "r:z·(r:x + r:y)"),
        ((x + y) * (z + w), "(r:w + r:z)·(r:x + r:y)"),
        (2 * x * x + 4 * x * y, "2·r:x·(r:x + 2·r:y)"),
        (x * y + x * z + w, "r:w + r:x·(r:y + r:z)"),
        (x * y + z * w, "r:w·r:z + r:x·r:y"),
        (Polynomial.constant(6), "6"),
        (Polynomial.zero(), "0"),
    ],
    ids=str,
)
def test_factored(polynomial, shown):
    assert str(factored(polynomial)) == shown


def test_read_once_polynomials_are_found_again():
    sums = [Polynomial.sum(Polynomial.token(Token(c, i)) for i in range(8)) for c in "abc"]
    assert factored(sums[0] * sums[1] * sums[2]) == (
        Expression.of(sums[0]) * Expression.of(sums[1]) * Expression.of(sums[2])
    )


@given(expressions)
def test_sympy_and_back(expression):
    """But for comparisons, which sympy has as symbols."""
    if not any(isinstance(part, Compare) for part in _all(expression)):
        again = Expression.of(from_sympy(expression.to_sympy(), expression.tokens))
        assert equivalent_in_naturals(again, expression)


def equivalent_in_naturals(a, b):
    from semiring.semirings import Counting

    tokens = sorted(a.tokens | b.tokens)
    return all(
        a.evaluate(Counting(), dict(zip(tokens, values, strict=True)))
        == b.evaluate(Counting(), dict(zip(tokens, values, strict=True)))
        for values in (range(len(tokens)), [1] * len(tokens), range(len(tokens), 0, -1))
    )


def _all(expression):
    yield expression
    for child in expression.children:
        yield from _all(child)


def test_what_sympy_may_not_have():
    import sympy

    for text in ("x - 1", "sin(x)", "x/2", "q"):
        with pytest.raises(AnnotationError, match="is not an annotation"):
            from_sympy(sympy.sympify(text), [])


def test_latex():
    annotation = delta(x + y * y)
    assert latex(annotation) == (r"\delta(\mathrm{r:x} + \mathrm{r:y}^{2})")
    assert "3" in latex(x + y + z + w, limit=1)


def test_equal_up_to_laws():
    assert equivalent((x + y) * z, x * z + y * z)
    assert not equivalent(x + x, x)
    assert equivalent(x + x, x, BooleanPolynomials())
    assert equivalent(x * x, x, Trio())
    assert not equivalent(x + x, x, Trio())
    assert equivalent(x * x + x, x, Why())
    assert equivalent(x + x * y, x, Sorp())
    assert not equivalent(x * x, x, Sorp())
    assert equivalent(x + x * y * y, x * x, PosBool())
    with pytest.raises(CapabilityError):
        equivalent(delta(x), x)


def test_printing_is_bounded():
    many = Polynomial.sum(Polynomial.token(Token("t", i)) for i in range(1_500))
    assert str(many).endswith("… (500 more terms)")
    assert str(delta(many)).endswith("… (500 more terms))")
    assert many.truncated(None).count(" + ") == 1_499
