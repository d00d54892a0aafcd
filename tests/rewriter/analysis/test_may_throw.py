"""Which scalars may raise an error, and what is written in their place."""

from __future__ import annotations

import pytest

from rewriter import dialect
from rewriter.algebra import Scalar
from rewriter.analysis.may_throw import (
    _TOTAL_FUNCTIONS,
    _TRIED_FUNCTIONS,
    may_raise,
    may_raise_of_nulls,
    without_errors,
)
from rewriter.dialect import AGGREGATES, SparkSQL
from rewriter.scalars.functions import SCALAR_FUNCTIONS


def scalar(text: str) -> Scalar:
    """Return the tree of an expression over ``a.x``, ``a.s`` and the columns of ``b``."""
    query = dialect.parse(f"SELECT {text} FROM q")
    first: Scalar = query.expressions[0]
    return first


@pytest.mark.parametrize(
    "text",
    [
        "10 / a.x",
        "a.x % b.y",
        "10 div a.x",
        "CAST(a.s AS int)",
        "a.s::int",
        "a.s[1]",
        "to_date(a.s)",
        "abs(a.x)",
        "CASE WHEN a.x <> 0 THEN 10 / a.x END",
        "coalesce(10 / a.x, 0) > 1",
        "registered(a.x)",
        "transform(a.s, e -> a.x / e)",
    ],
)
def test_may_raise(text: str) -> None:
    """Divisions, casts, elements, and functions that are not known to have a value always."""
    assert may_raise(scalar(text), overflows=False)


@pytest.mark.parametrize(
    "text",
    [
        "a.x",
        "1 / 0",
        "a.x / 2",
        "a.x % 7 = 3",
        "a.x IS NULL OR a.x IN (1, 2) AND a.s LIKE 'a%'",
        "CAST(a.x AS string)",
        "TRY_CAST(a.s AS int)",
        "DATE '2020-01-31' < a.s",
        "try_divide(1, a.x)",
        "upper(trim(a.s)) || concat(a.s, 'x')",
        "CASE WHEN a.x > 0 THEN a.s ELSE coalesce(b.s, 'none') END",
        "a.x & 3",
        "extract(year FROM a.s)",
    ],
)
def test_never_raises(text: str) -> None:
    """What has a value for every row, or is no matter of the row."""
    assert not may_raise(scalar(text))


@pytest.mark.parametrize("text", ["a.x + 1", "a.x * b.y", "-a.x", "a.x - b.y > 1"])
def test_overflows_count_if_asked(text: str) -> None:
    """Sums, differences, products and negations overflow, which callers may leave aside."""
    assert may_raise(scalar(text))
    assert not may_raise(scalar(text), overflows=False)


def test_nulls_do_not_divide() -> None:
    """Where the columns of b are NULL, a division by them is NULL too, unless they are replaced."""
    padded = frozenset({"b"})
    assert not may_raise_of_nulls(scalar("10 / b.y > a.x"), padded)
    assert not may_raise_of_nulls(scalar("10 / a.x > 1"), padded)
    assert may_raise_of_nulls(scalar("10 / coalesce(b.y, 0) > 1"), padded)
    assert may_raise_of_nulls(scalar("registered(b.y)"), padded)
    assert not may_raise_of_nulls(scalar("10 / coalesce(a.x, 0) > b.y"), padded)


@pytest.mark.parametrize(
    ("text", "tried"),
    [
        ("10 / (a.x - b.y)", "TRY_DIVIDE(10, TRY_SUBTRACT(a.x, b.y))"),
        ("(a.x + 1) * b.y % 3", "TRY_MOD(TRY_MULTIPLY(TRY_ADD(a.x, 1), b.y), 3)"),
        ("CAST(a.s AS int)", "TRY_CAST(a.s AS INT)"),
        ("a.s::date", "TRY_CAST(a.s AS DATE)"),
        ("CAST(a.x AS string)", "CAST(a.x AS STRING)"),
        ("DATE '2020-01-31'", "DATE '2020-01-31'"),
        ("element_at(a.s, 1)", "TRY_ELEMENT_AT(a.s, 1)"),
        ("CASE WHEN a.x > 0 THEN 1 / a.x END", "CASE WHEN a.x > 0 THEN TRY_DIVIDE(1, a.x) END"),
    ],
)
def test_without_errors(text: str, tried: str) -> None:
    """Every operation that has a form that is NULL where it fails is written in it."""
    given = scalar(text)
    before = given.copy()
    assert without_errors(given).sql(dialect=SparkSQL) == tried
    assert given == before


def test_functions_are_spark_s() -> None:
    """The functions named are functions of one row."""
    named = _TOTAL_FUNCTIONS | _TRIED_FUNCTIONS.keys() | set(_TRIED_FUNCTIONS.values())
    assert named <= SCALAR_FUNCTIONS
    assert not named & AGGREGATES
