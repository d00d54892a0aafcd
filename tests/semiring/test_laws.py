"""The axioms, over every semiring."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import elements, polynomials

from semiring.laws import LAWS, LawError, claimed_absorption, semimodule_axioms
from semiring.laws import tensor_specialisation as specialisation
from semiring.monoid import AVG, COUNT, MAX, MIN, SUM
from semiring.semirings import ALL, Boolean, Counting

MONOIDS = [SUM, COUNT, MIN, MAX, AVG]


@pytest.mark.many(3)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("semiring", ALL, ids=lambda semiring: semiring.name)
def test_law(semiring, law):
    """The law holds for any three values."""

    @settings(max_examples=15, deadline=None)
    @given(elements(semiring), elements(semiring), elements(semiring))
    def check(a, b, c):
        law(semiring, a, b, c)

    check()


@pytest.mark.parametrize("monoid", MONOIDS, ids=str)
@settings(max_examples=15, deadline=None)
@given(k=polynomials, m=polynomials, values=st.lists(st.integers(-3, 3), min_size=2, max_size=2))
def test_semimodule(monoid, k, m, values):
    """Tensors over N[X] are a semimodule."""
    semimodule_axioms(monoid, k, m, values)


@pytest.mark.parametrize("monoid", MONOIDS, ids=str)
@pytest.mark.parametrize("semiring", ALL, ids=lambda semiring: semiring.name)
def test_specialisation(semiring, monoid):
    """Where tensors have values, merging equal values does not change them."""

    @settings(max_examples=15, deadline=None)
    @given(elements(semiring), elements(semiring), st.integers(-3, 3))
    def check(a, b, value):
        specialisation(semiring, monoid, a, b, [value])

    check()


def test_a_broken_claim_is_found():
    """A semiring that claims a law it does not have fails it."""

    class Wrong(Counting):
        absorptive = True

    with pytest.raises(LawError, match=r"1 \+ a = 1 fails"):
        claimed_absorption(Wrong(), 2, 0, 0)


def test_boolean_has_no_sums():
    """SUM in B would break the semimodule law, which is why B does not claim it."""

    class Wrong(Boolean):
        capabilities = frozenset({"SUM"})

        def multiplicity(self, a):
            return int(a)

    with pytest.raises(LawError, match="SUM"):
        specialisation(Wrong(), SUM, True, True, [3])
