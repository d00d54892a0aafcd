"""Queries that never have two rows, whatever the data."""

from __future__ import annotations

import pytest

from rewriter.analysis.cardinality import at_most_one_row
from rewriter.bind import Environment, bind_query
from tests.rewriter.lower.catalog import CATALOG

ONE = "(SELECT max(price) AS p FROM cars)"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT 1", True),
        ("SELECT count(*) FROM cars HAVING count(*) > 1", True),
        ("SELECT dealer, count(*) FROM cars GROUP BY dealer", False),
        ("SELECT count(*) FROM cars GROUP BY GROUPING SETS ((), ())", False),
        ("SELECT model FROM cars LIMIT 1", True),
        ("SELECT model FROM cars LIMIT 0", True),
        ("SELECT model FROM cars LIMIT 2", False),
        (f"SELECT p, rank() OVER (ORDER BY p) FROM {ONE} WHERE p > 1 ORDER BY p", True),
        (f"SELECT p FROM {ONE} SORT BY p", True),
        (f"SELECT p, (SELECT count(*) FROM cars) FROM {ONE}", True),
        ("SELECT model FROM cars", False),
        (f"SELECT p FROM {ONE} WHERE p IN (SELECT price FROM cars)", True),
        (f"SELECT p FROM {ONE} WHERE p NOT IN (SELECT price FROM cars)", True),
        (f"SELECT a.p FROM {ONE} a JOIN {ONE} b", True),
        (f"SELECT a.p FROM {ONE} a JOIN cars b", False),
        (f"SELECT a.p FROM {ONE} a LEFT JOIN {ONE} b ON a.p = b.p", True),
        (f"SELECT a.p FROM {ONE} a FULL JOIN {ONE} b ON a.p = b.p", False),
        (f"SELECT p FROM {ONE} UNION ALL SELECT 1", False),
    ],
)
def test_at_most_one_row(sql: str, expected: bool) -> None:
    assert at_most_one_row(bind_query(sql, Environment(CATALOG, levels={})).root) is expected
