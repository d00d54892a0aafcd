"""`follow`: whether changing values of a relation are only shown, or decide something."""

import pytest

from rewriter.analysis.data_flow import Followed, follow
from tests.rewriter.lower.catalog import blocks

SHOWN = [
    ("SELECT model, price FROM cars", {1}),
    ("SELECT model, price + 1 AS p, 2 AS two FROM cars WHERE model = 'a'", {1}),
    ("SELECT c.price, d.city FROM cars c JOIN dealers d ON c.dealer = d.dealer", {0}),
    ("SELECT p FROM (SELECT price AS p, model FROM cars) WHERE model = 'a'", {0}),
    ("SELECT price FROM cars UNION ALL SELECT rating FROM dealers", {0}),
    ("SELECT rating FROM dealers UNION ALL SELECT price FROM cars", {0}),
    ("SELECT price FROM cars ORDER BY price", {0}),
    ("SELECT city, rating FROM dealers", set()),
]
AGGREGATED = [
    ("SELECT model, sum(price) AS s FROM cars GROUP BY model", {1}),
    ("SELECT model, s FROM (SELECT model, sum(price) AS s FROM cars GROUP BY model)", {1}),
    ("SELECT d.city, (SELECT max(price) FROM cars) AS m FROM dealers d", {1}),
    ("SELECT model, sum(price) OVER (PARTITION BY model ORDER BY car_id) AS s FROM cars", {1}),
]
DECIDING = [
    "SELECT model FROM cars WHERE price > 3",
    "SELECT model FROM cars c JOIN rates r ON c.price = r.rate",
    "SELECT price, count(*) AS n FROM cars GROUP BY price",
    "SELECT DISTINCT price FROM cars",
    "SELECT model, sum(price) AS s FROM cars GROUP BY model HAVING sum(price) > 3",
    "SELECT model FROM (SELECT model, sum(price) AS s FROM cars GROUP BY model) WHERE s > 3",
    "SELECT city FROM dealers WHERE rating IN (SELECT price FROM cars)",
    "SELECT city FROM dealers WHERE rating > (SELECT max(price) FROM cars)",
    "SELECT city FROM dealers WHERE NOT EXISTS (SELECT 1 FROM cars WHERE price = rating)",
    "SELECT c.model FROM cars c LEFT JOIN dealers d ON c.price = d.rating",
    "SELECT model, price FROM cars ORDER BY price LIMIT 3",
    "SELECT price FROM cars EXCEPT SELECT rating FROM dealers",
    "SELECT price FROM cars EXCEPT ALL SELECT rating FROM dealers",
    "SELECT model FROM (SELECT model, price AS p FROM cars UNION ALL SELECT city, rating FROM "
    "dealers) WHERE p > 3",
    "SELECT city FROM dealers WHERE rating > "
    "(SELECT max(price) FROM cars WHERE cars.dealer = dealers.dealer)",
]


@pytest.mark.parametrize(("sql", "outputs"), SHOWN)
def test_shown(sql: str, outputs: set[int]) -> None:
    """The outputs that have the values, and nothing else depends on them."""
    followed = follow(blocks(sql), "cars", {"Price"})
    assert followed == Followed(frozenset(outputs), decides=False, aggregated=False)


@pytest.mark.parametrize(("sql", "outputs"), AGGREGATED)
def test_aggregated(sql: str, outputs: set[int]) -> None:
    """Aggregates of the values change with them, and which rows there are does not."""
    followed = follow(blocks(sql), "cars", {"price"})
    assert followed == Followed(frozenset(outputs), decides=False, aggregated=True)


@pytest.mark.parametrize("sql", DECIDING)
def test_deciding(sql: str) -> None:
    """Which rows there are depends on the values."""
    assert follow(blocks(sql), "cars", {"price"}).decides


def test_keys_of_groups_have_the_values_too() -> None:
    followed = follow(
        blocks("SELECT count(*) AS n, price FROM cars GROUP BY price"), "cars", ["price"]
    )
    assert followed.outputs == {1}


def test_no_columns() -> None:
    assert follow(blocks(DECIDING[0]), "cars", ()) == Followed(frozenset(), False, False)
