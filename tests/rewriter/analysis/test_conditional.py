"""Queries whose annotations have conditions."""

from __future__ import annotations

import pytest

from rewriter.analysis.conditional import conditional
from tests.rewriter.lower.catalog import blocks

GROUPS = "SELECT dealer, max(price) AS p FROM cars GROUP BY dealer"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT model FROM cars WHERE price > 1 ORDER BY price LIMIT 2", False),
        ("SELECT model FROM cars ORDER BY price LIMIT 2 OFFSET 1", True),
        ("SELECT model, rank() OVER (ORDER BY price) AS r FROM cars ORDER BY r LIMIT 2", True),
        ("SELECT model FROM (SELECT model, price FROM cars LIMIT 3) ORDER BY price", True),
        (f"{GROUPS} HAVING dealer > 'a' ORDER BY dealer LIMIT 2", False),
        (f"{GROUPS} ORDER BY p LIMIT 2", True),
        (f"SELECT c.p FROM dealers d JOIN ({GROUPS}) c USING (dealer) ORDER BY c.p LIMIT 1", True),
        (
            f"SELECT c.p FROM dealers d JOIN ({GROUPS}) c USING (dealer) ORDER BY city LIMIT 1",
            False,
        ),
        (f"{GROUPS} HAVING max(price) > 3", True),
        (f"{GROUPS} UNION ALL SELECT dealer, rating FROM dealers", False),
        (f"{GROUPS} UNION ALL SELECT dealer, rating FROM dealers ORDER BY 1 LIMIT 2", True),
        ("SELECT city FROM dealers WHERE dealer NOT IN (SELECT dealer FROM cars)", False),
        (
            "SELECT city FROM dealers WHERE dealer NOT IN (SELECT dealer FROM cars)"
            " ORDER BY city LIMIT 1",
            True,
        ),
        (f"SELECT city FROM dealers WHERE rating > (SELECT max(p) FROM ({GROUPS}))", True),
        (f"SELECT city FROM dealers WHERE rating IN (SELECT p FROM ({GROUPS}))", True),
        (f"SELECT p, count(*) FROM ({GROUPS}) GROUP BY p", True),
    ],
)
def test_conditional(sql: str, expected: bool) -> None:
    assert conditional(blocks(sql)) is expected
