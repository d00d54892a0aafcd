"""Tokens: text, equality, order."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring import AnnotationError, Token

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=4),
    st.binary(max_size=3),
    st.decimals(allow_nan=False),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (("C2",), "r:C2"),
        ((1, 3), "r:1|3"),
        (("1",), "r:'1'"),
        (("-1.5e3",), "r:'-1.5e3'"),
        (("a|b",), "r:'a|b'"),
        (("a:b",), "r:'a:b'"),
        (("it's",), "r:'it''s'"),
        (("two words",), "r:'two words'"),
        (("C3²",), "r:'C3²'"),
        (("NULL", None), "r:'NULL'|NULL"),
        (("",), "r:''"),
        ((), "r:()"),
        ((True, b"\x0a"), "r:true|x'0A'"),
        ((Decimal("1.50"), date(2024, 1, 2)), "r:1.50|2024-01-02"),
        ((datetime(2024, 1, 2, 3, 4),), "r:2024-01-02T03:04:00"),
        (((1, "a"),), "r:(1,a)"),
    ],
)
def test_text(key, text):
    """A token is written as its relation and key, quoted where it would be ambiguous."""
    assert str(Token("r", key)) == text


def test_relation_is_quoted():
    """A relation whose name could be misread is quoted."""
    assert str(Token("db.cars", "C2")) == "db.cars:C2"
    assert str(Token("a:b", "c")) == "`a:b`:c"
    assert str(Token("C²", "c")) == "`C²`:c"


@given(st.tuples(st.text(max_size=4), st.text(max_size=4)), st.tuples(st.text(), st.text()))
def test_text_is_injective(left, right):
    """Two tokens with string keys have the same text only if they are equal."""
    a, b = Token("r", left), Token("r", right)
    assert (str(a) == str(b)) == (a == b)


@given(st.lists(VALUES, min_size=3, max_size=3))
def test_order_is_total(values):
    """Any tokens are ordered, consistently with equality and hash."""
    a, b, c = (Token("r", (value,)) for value in values)
    assert (a < b) + (a == b) + (a > b) == 1
    assert not (a <= b <= c) or a <= c
    assert a != b or hash(a) == hash(b)
    assert sorted([a, b, c]) == sorted([c, a, b])


def test_types_are_told_apart():
    """Values that Python takes for equal are different keys if their types differ."""
    assert len({Token("r", (value,)) for value in (1, 1.0, True, Decimal(1), "1")}) == 5


def test_normal_form():
    """Keys are normal: numpy scalars, -0.0 and NaN, lists."""
    assert Token("r", (np.int64(3),)) == Token("r", 3)
    assert Token("r", -0.0) == Token("r", 0.0)
    assert Token("r", math.nan) == Token("r", float("nan"))
    assert Token("r", [1, [2]]) == Token("r", (1, (2,)))
    assert Token("r", Decimal("1.0")) == Token("r", Decimal("1.00"))


def test_relation_is_checked():
    """A token needs a relation."""
    with pytest.raises(AnnotationError, match="non-empty string"):
        Token("", (1,))
