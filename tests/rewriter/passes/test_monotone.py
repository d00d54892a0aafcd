"""Conditions of HAVING that a deletion can only make false."""

from __future__ import annotations

import pytest

from rewriter.passes.capture_plan import monotone_having
from rewriter.scalars.text import text
from tests.rewriter.lower.catalog import blocks


@pytest.mark.parametrize(
    ("having", "non_negative"),
    [
        ("count(*) > 2", []),
        ("count(price) >= 2", []),
        ("count(DISTINCT model) > 1", []),
        ("2 < count(*)", []),
        ("max(price) > 5", []),
        ("5 <= max(price)", []),
        ("min(price) < 5", []),
        ("5 >= min(price)", []),
        ("sum(price) > 5", ["m.`price`"]),
        ("sum(price * 2) >= 5", ["m.`price` * 2"]),
        ("sum(price) FILTER (WHERE model = 'x') > 5", ["m.`sum_price_filter_where_model_x`"]),
        ("count(*) > 2 AND (max(price) > 5 OR sum(price) > 9)", ["m.`price`"]),
        ("(count(*)) > (1 + 1)", []),
    ],
)
def test_sound(having: str, non_negative: list[str]) -> None:
    """COUNT, MAX and SUM bounded from below, MIN from above: facts on SUM are asked for."""
    monotone = monotone_having(blocks(f"SELECT dealer FROM cars GROUP BY dealer HAVING {having}"))
    assert monotone is not None
    assert [text(scalar) for scalar in monotone.non_negative] == non_negative


@pytest.mark.parametrize(
    "having",
    [
        "avg(price) > 2",
        "sum(DISTINCT price) > 2",
        "count(*) = 2",
        "count(*) <=> 2",
        "count(*) <> 2",
        "count(*) < 2",
        "max(price) < 2",
        "min(price) > 2",
        "sum(price) <= 2",
        "count(*) > max(price)",
        "count(*) + 1 > 2",
        "sum(price) IS NOT NULL",
        "count(*) BETWEEN 1 AND 2",
        "NOT count(*) < 2",
        "count(*) > 2 OR avg(price) > 2",
        "count(*) > 2 AND min(price) > 2",
        "count(*) > 2 OR dealer > 'x'",
        "count(*) > (SELECT count(*) FROM bids)",
        "count(*) > 2 AND dealer IN (SELECT dealer FROM dealers)",
    ],
)
def test_refused(having: str) -> None:
    """Any other condition may become true by a deletion, or its members may."""
    root = blocks(f"SELECT dealer FROM cars GROUP BY dealer HAVING {having}")
    assert monotone_having(root) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT dealer FROM cars GROUP BY dealer",
        "SELECT dealer FROM cars",
        "SELECT max(price) FROM cars HAVING count(*) > 2",
        "SELECT d.city FROM dealers d JOIN (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer)"
        " g ON d.dealer = g.dealer GROUP BY d.city HAVING count(*) > 2",
        "SELECT dealer FROM cars WHERE model IN (SELECT city FROM dealers)"
        " GROUP BY dealer HAVING count(*) > 2",
        "SELECT dealer FROM cars WHERE price > (SELECT avg(price) FROM cars)"
        " GROUP BY dealer HAVING count(*) > 2",
        "SELECT n FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) g"
        " GROUP BY n HAVING count(*) > 2",
    ],
)
def test_refused_blocks(sql: str) -> None:
    """There must be a HAVING over groups of members that no other block decides about."""
    assert monotone_having(blocks(sql)) is None


def test_condition_on_keys_is_no_having() -> None:
    """A condition on the key filters members, and leaves the rest of HAVING monotone."""
    sql = "SELECT dealer FROM cars GROUP BY dealer HAVING dealer > 'x' AND count(*) > 2"
    assert monotone_having(blocks(sql)) is not None
