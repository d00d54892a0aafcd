"""Hypothesis strategies for tokens, annotations and elements of every semiring."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from semiring import COUNT, MAX, SUM, Expression, Polynomial, Tensor, Token, compare
from semiring.base import Semiring
from semiring.semirings import (
    AccessControl,
    Boolean,
    BooleanPolynomials,
    Clearance,
    Counting,
    Fuzzy,
    Integers,
    Lukasiewicz,
    MaxPlus,
    Polynomials,
    PosBool,
    Sensitivity,
    Sorp,
    Trio,
    Tropical,
    Validity,
    Viterbi,
    Weight,
    Which,
    Why,
    Worlds,
)

TOKENS = [Token("r", (name,)) for name in "abcd"] + [Token("s", (1, 2)), Token("s", (1, None))]

tokens = st.sampled_from(TOKENS)

polynomials = st.recursive(
    st.one_of(st.integers(0, 3).map(Polynomial.constant), tokens.map(Polynomial.token)),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
    ),
    max_leaves=6,
)


def tensors(annotations: st.SearchStrategy[Any]) -> st.SearchStrategy[Tensor]:
    """Tensors over SUM, COUNT and MAX with small integer values."""
    return st.builds(
        Tensor,
        st.sampled_from([SUM, COUNT, MAX]),
        st.lists(st.tuples(annotations, st.integers(-3, 3)), max_size=3),
    )


def _steps(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda pair: pair[0] + pair[1]),
        pairs.map(lambda pair: pair[0] * pair[1]),
        pairs.map(lambda pair: pair[0].monus(pair[1])),
        inner.map(lambda x: x.delta()),
        st.builds(compare, st.sampled_from(["<", "=", ">="]), tensors(inner), st.integers(-2, 4)),
    )


expressions = st.recursive(
    st.one_of(st.integers(0, 3).map(Expression.constant), tokens.map(Expression.token)),
    _steps,
    max_leaves=6,
)

_token_sets = st.frozensets(tokens, max_size=3)
# Powers of two, whose sums and products are exact as doubles.
_halves = st.integers(0, 64).map(lambda n: n / 64)
_moments = st.one_of(st.none(), st.integers(0, 6))
_spans = st.tuples(_moments, _moments).filter(
    lambda span: span[0] is None or span[1] is None or span[0] < span[1]
)
_ELEMENTS: dict[type[Semiring[Any]], st.SearchStrategy[Any]] = {
    Counting: st.one_of(st.integers(0, 5), st.integers(2**61, 2**65)),
    Boolean: st.booleans(),
    Why: st.frozensets(_token_sets, max_size=3),
    Which: st.one_of(st.none(), _token_sets),
    Tropical: st.one_of(st.integers(0, 100).map(float), st.just(float("inf"))),
    Viterbi: st.one_of(st.integers(0, 30).map(lambda n: 2.0**-n), st.just(0.0)),
    AccessControl: st.sampled_from(list(Clearance)),
    Polynomials: polynomials,
    Integers: st.one_of(st.integers(-5, 5), st.integers(-(2**65), 2**65)),
    PosBool: st.frozensets(_token_sets, max_size=3).map(PosBool().check),
    BooleanPolynomials: polynomials.map(BooleanPolynomials().check),
    Trio: polynomials.map(Trio().check),
    Sorp: polynomials.map(Sorp().check),
    MaxPlus: st.one_of(st.integers(-50, 50).map(float), st.just(-float("inf"))),
    Fuzzy: _halves,
    Lukasiewicz: _halves,
    Validity: st.lists(_spans, max_size=3).map(Validity().check),
    Worlds: st.integers(0, 2**64 - 1),
    Sensitivity: st.builds(
        lambda value, slopes: Weight(
            float(value),
            tuple(sorted(((t, float(s)) for t, s in slopes.items() if s), key=lambda i: i[0])),
        ),
        st.integers(-4, 4),
        st.dictionaries(tokens, st.integers(-4, 4), max_size=2),
    ),
}


def elements(semiring: Semiring[Any]) -> st.SearchStrategy[Any]:
    """Elements of a semiring's carrier."""
    return _ELEMENTS[type(semiring)]
