"""Blocks whose potential tuples are all there."""

from __future__ import annotations

import pytest

from rewriter.analysis.cardinality import is_certain
from tests.rewriter.lower.catalog import blocks

GROUPS = "SELECT dealer, max(price) AS p FROM cars GROUP BY dealer"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT model FROM cars WHERE price > 1", True),
        ("SELECT model FROM cars LIMIT 1", False),
        (GROUPS, True),
        (f"{GROUPS} HAVING count(*) > 1", False),
        (f"SELECT p, count(*) FROM ({GROUPS}) GROUP BY p", True),
        (f"SELECT p, count(*) FROM ({GROUPS} HAVING count(*) > 1) GROUP BY p", False),
        (f"SELECT d.city FROM dealers d JOIN ({GROUPS}) c ON c.dealer = d.dealer", True),
        (f"SELECT d.city FROM dealers d JOIN ({GROUPS}) c ON c.p = d.rating", False),
        ("SELECT city FROM dealers WHERE dealer IN (SELECT dealer FROM cars)", False),
        (f"{GROUPS} UNION ALL SELECT dealer, rating FROM dealers", True),
        (f"{GROUPS} HAVING count(*) > 1 UNION ALL SELECT dealer, rating FROM dealers", False),
        ("SELECT max(price) FROM cars WHERE price > (SELECT avg(amount) FROM bids)", True),
    ],
)
def test_certain(sql: str, expected: bool) -> None:
    assert is_certain(blocks(sql)) is expected


def test_copies_are_not_certain() -> None:
    """A group of both sides of EXCEPT ALL is there only where the left side has more rows."""
    (lookup,) = blocks("SELECT dealer FROM cars EXCEPT ALL SELECT dealer FROM dealers").joined
    assert not is_certain(lookup.block)
