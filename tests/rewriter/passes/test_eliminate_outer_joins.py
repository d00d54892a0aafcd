"""Which outer joins are inner joins, by the conditions above them."""

from __future__ import annotations

import pytest

from rewriter.algebra import InnerJoin, OuterJoin, walk
from rewriter.bind import Environment, bind_query
from rewriter.passes.eliminate_outer_joins import eliminate_outer_joins
from tests.rewriter.lower.catalog import CATALOG

FROM = "FROM dealers d {} JOIN cars c ON d.dealer = c.dealer"


@pytest.mark.parametrize(
    ("join", "condition", "kept"),
    [
        ("LEFT", "c.price > 1", None),
        ("LEFT", "2 * (c.price - d.rating) <> 1", None),
        ("LEFT", "c.model IN ('a', 'b')", None),
        ("LEFT", "c.model NOT IN ('a', 'b')", None),
        ("LEFT", "c.price BETWEEN d.rating AND 7", None),
        ("LEFT", "c.model LIKE 'a%' OR CAST(c.model AS string) = d.city", None),
        ("LEFT", "c.price IS NOT NULL AND d.rating IS NULL", None),
        ("LEFT", "NOT c.price = 1", None),
        ("LEFT", "d.rating > 1", "LEFT"),
        ("LEFT", "c.price IS NULL", "LEFT"),
        ("LEFT", "c.price > 1 OR d.rating > 1", "LEFT"),
        ("LEFT", "coalesce(c.price, 2) > 1", "LEFT"),
        ("LEFT", "c.price <=> 1", "LEFT"),
        ("LEFT", "NOT (c.price > 1 AND d.rating > 1)", "LEFT"),
        ("LEFT", "(c.price > 1) IS NULL", "LEFT"),
        ("LEFT", "d.rating BETWEEN 1 AND c.price", "LEFT"),
        ("LEFT", "d.rating IN (1, c.price)", "LEFT"),
        ("LEFT", "CASE WHEN c.price > 1 THEN TRUE ELSE TRUE END", "LEFT"),
        ("RIGHT", "d.rating > 1", None),
        ("RIGHT", "c.price > 1", "RIGHT"),
        ("FULL", "c.price > 1", "RIGHT"),
        ("FULL", "d.rating > 1", "LEFT"),
        ("FULL", "d.rating > c.price", None),
    ],
)
def test_condition(join: str, condition: str, kept: str | None) -> None:
    """Of any shape; one that may be true of a padded row leaves the join as it is."""
    sides = _sides(f"SELECT d.city {FROM.format(join)} WHERE {condition}")
    assert sides == ([] if kept is None else [kept])


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        (
            "SELECT 1 FROM dealers d LEFT JOIN cars c ON d.dealer = c.dealer"
            " LEFT JOIN bids b ON b.car_id = c.car_id WHERE b.amount > 1",
            [],
        ),
        (
            "SELECT 1 FROM dealers d LEFT JOIN cars c ON d.dealer = c.dealer"
            " JOIN bids b ON b.car_id = c.car_id",
            [],
        ),
        (
            "SELECT 1 FROM dealers d LEFT JOIN (cars c LEFT JOIN bids b ON b.car_id = c.car_id)"
            " ON d.dealer = b.amount",
            ["LEFT"],
        ),
        (
            "SELECT p FROM (SELECT c.price + 1 AS p FROM dealers d LEFT JOIN cars c"
            " ON d.dealer = c.dealer) WHERE p = 2",
            [],
        ),
        (
            "SELECT p FROM (SELECT c.price AS p FROM dealers d LEFT JOIN cars c"
            " ON d.dealer = c.dealer UNION ALL SELECT price FROM cars) WHERE p = 2",
            [],
        ),
        (
            "SELECT c.model FROM dealers d LEFT JOIN cars c ON d.dealer = c.dealer"
            " GROUP BY c.model HAVING c.model <> 'a'",
            [],
        ),
        (
            "SELECT d.city FROM dealers d LEFT JOIN cars c ON d.dealer = c.dealer"
            " GROUP BY d.city HAVING sum(c.price) > 1",
            ["LEFT"],
        ),
        (
            "SELECT p FROM (SELECT c.price AS p FROM dealers d LEFT JOIN cars c"
            " ON d.dealer = c.dealer ORDER BY d.city LIMIT 3) WHERE p = 2",
            ["LEFT"],
        ),
        (
            "SELECT p FROM (SELECT c.price AS p, row_number() OVER (ORDER BY d.city, c.price) AS n"
            " FROM dealers d LEFT JOIN cars c ON d.dealer = c.dealer) WHERE p = 2",
            ["LEFT"],
        ),
        (
            "WITH j AS (SELECT d.city, c.price AS p FROM dealers d LEFT JOIN cars c"
            " ON d.dealer = c.dealer) SELECT a.p FROM j a JOIN j b ON a.city = b.city"
            " WHERE a.p = 2",
            ["LEFT"],
        ),
        (
            "SELECT d.city FROM dealers d LEFT JOIN cars c ON d.dealer = c.dealer"
            " WHERE EXISTS (SELECT 1 FROM bids b WHERE b.car_id = c.car_id)",
            [],
        ),
        (
            "SELECT d.city FROM dealers d LEFT JOIN cars c ON d.dealer = c.dealer"
            " WHERE NOT EXISTS (SELECT 1 FROM bids b WHERE b.car_id = c.car_id)",
            ["LEFT"],
        ),
    ],
)
def test_place(sql: str, kept: list[str]) -> None:
    """What is asked reaches an outer join through what keeps or renames its rows."""
    assert _sides(sql) == kept


def _sides(sql: str) -> list[str]:
    root = bind_query(sql, Environment(CATALOG, levels={})).root
    before = [o for o in walk(root) if isinstance(o, OuterJoin)]
    after = eliminate_outer_joins(root)
    assert [a.id for a in after.attributes] == [a.id for a in root.attributes]
    sides = [o.side.value for o in walk(after) if isinstance(o, OuterJoin)]
    inner = sum(isinstance(o, InnerJoin) for o in walk(after))
    assert inner - sum(isinstance(o, InnerJoin) for o in walk(root)) == len(before) - len(sides)
    return sides
