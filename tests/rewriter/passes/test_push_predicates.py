"""Which members are captured of a block whose readers keep some of its groups only."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rewriter.blocks import Block
from rewriter.emit.statements import members_sql
from rewriter.passes import CapturePlan
from rewriter.passes.push_predicates import push_predicates
from rewriter.scalars.text import text
from tests.rewriter.lower.catalog import blocks

GROUPS = "WITH c AS (SELECT model, dealer, max(price) AS p FROM cars GROUP BY model, dealer) "
CHANNELS = (
    "WITH c AS (SELECT dealer AS d, city AS n, 's' AS t FROM dealers GROUP BY dealer, city"
    " UNION ALL SELECT buyer, bid, 'c' FROM bids GROUP BY buyer, bid) "
)


def _found(sql: str, *, alike: bool = True) -> dict[str, str]:
    plan = CapturePlan(blocks(sql), lambda columns: alike and bool(columns))
    pushed = push_predicates(plan)
    assert (pushed is plan) == (not pushed.conditions)
    return {name: text(condition) for name, condition in pushed.conditions.items()}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (
            GROUPS + "SELECT a.p FROM c a, c b WHERE a.model = 'x' AND b.model = 'y' AND a.p < b.p",
            {"b1": "cars.`model` = 'x' OR cars.`model` = 'y'"},
        ),
        # What readers agree on is asked once.
        (
            GROUPS + "SELECT a.p FROM c a, c b WHERE a.model = 'x' AND b.model = 'x'",
            {"b1": "cars.`model` = 'x'"},
        ),
        # What is equal to a number: in a join, in memberships, in the keys of an outer join.
        (
            GROUPS + "SELECT a.p FROM c a JOIN dealers d USING (dealer) WHERE a.dealer = 7",
            {"b1": "cars.`dealer` = 7"},
        ),
        (
            "SELECT bid FROM bids WHERE buyer = 7 AND NOT EXISTS"
            " (SELECT 1 FROM cars WHERE cars.dealer = bids.buyer)",
            {"b1": "cars.`dealer` = 7"},
        ),
        (
            "SELECT d.city, g.n FROM dealers d LEFT JOIN (SELECT dealer, count(*) AS n FROM cars"
            " GROUP BY dealer) g ON d.dealer = g.dealer WHERE d.dealer = 7",
            {"b1": "cars.`dealer` = 7"},
        ),
        # One of some numbers, and what is equal to it.
        (
            GROUPS + "SELECT a.p FROM c a JOIN dealers d USING (dealer) WHERE d.dealer IN (7, 8)",
            {"b1": "cars.`dealer` = 7 OR cars.`dealer` = 8"},
        ),
        # Partitions of a window: of every window, where there are several.
        (
            "SELECT * FROM (SELECT model, dealer, rank() OVER (PARTITION BY model ORDER BY price)"
            " AS r, max(price) OVER (PARTITION BY dealer, model) AS m FROM cars)"
            " WHERE model = 'x' AND dealer = 7 AND r = 1",
            {"b1": "cars.`model` = 'x'"},
        ),
        # Through a union, and through a block that has no members of its own.
        (
            CHANNELS + "SELECT a.n FROM c a, c b WHERE a.t = 's' AND b.t = 'c' AND a.d = 1"
            " AND b.d = 2",
            {
                "b1": "('s' = 's' AND dealers.`dealer` = 1) OR"
                " ('s' = 'c' AND dealers.`dealer` = 2)",
                "b2": "('c' = 's' AND bids.`buyer` = 1) OR ('c' = 'c' AND bids.`buyer` = 2)",
            },
        ),
        (
            CHANNELS + "SELECT g.m FROM (SELECT d, max(n) AS m FROM c GROUP BY d) g, cars"
            " WHERE g.d = 4 AND g.m = cars.dealer",
            {"b1": "dealers.`dealer` = 4", "b2": "bids.`buyer` = 4"},
        ),
    ],
)
def test_members_that_readers_ask_for(sql: str, expected: dict[str, str]) -> None:
    """Conditions on keys become conditions of the core, one of each reader."""
    assert _found(sql) == expected


@pytest.mark.parametrize(
    "sql",
    [
        # One reader has no condition on a key.
        GROUPS + "SELECT a.p FROM c a, c b WHERE a.model = 'x' AND b.p = 3",
        GROUPS + "SELECT a.p, (SELECT max(p) FROM c) AS m FROM c a WHERE a.model = 'x'",
        # A window, and LIMIT, see the groups beside; so do grouping sets.
        "SELECT * FROM (SELECT model, rank() OVER (ORDER BY max(price)) AS r FROM cars"
        " GROUP BY model) WHERE model = 'x'",
        "SELECT * FROM (SELECT model, max(price) AS p FROM cars GROUP BY model ORDER BY p LIMIT 3)"
        " WHERE model = 'x'",
        "SELECT * FROM (SELECT model, dealer, max(price) AS p FROM cars GROUP BY ROLLUP (model,"
        " dealer)) WHERE model = 'x'",
        # CHAR is padded where it is compared with a text, not where it is with a STRING.
        "SELECT bid FROM bids WHERE buyer = 'm' AND NOT EXISTS"
        " (SELECT 1 FROM cars WHERE cars.dealer = bids.buyer)",
        # A condition that may fail is left to those rows that there are.
        GROUPS + "SELECT a.p FROM c a, c b WHERE 1 / a.model > 2 AND b.model = 'x'",
    ],
)
def test_members_that_are_all_captured(sql: str) -> None:
    """Where some reader may use any group, or rows depend on each other, all are captured."""
    assert _found(sql) == {}


def test_columns_of_several_types() -> None:
    """Of what a union converts nothing is known; literals are known."""
    sql = (
        CHANNELS + "SELECT a.n FROM c a, c b WHERE a.t = 's' AND b.t = 's' AND a.d = 1 AND b.d = 2"
    )
    assert _found(sql, alike=False) == {"b1": "'s' = 's'", "b2": "'c' = 's'"}
    columns_asked: list[list[str]] = []

    def alike(columns: Sequence[tuple[Block, str]]) -> bool:
        columns_asked.append([f"{block.name}.{name}" for block, name in columns])
        return True

    push_predicates(CapturePlan(blocks(sql), alike))
    assert {tuple(columns) for columns in columns_asked} == {("b1.dealer", "b2.buyer")}


def test_the_core_that_is_captured() -> None:
    root = blocks(GROUPS + "SELECT bid FROM c JOIN bids ON bid = p WHERE model IN ('x', 'y')")
    (block,) = (lookup.block for lookup in root.joined)
    plan = push_predicates(CapturePlan(root, lambda _: False))
    sql = members_sql(plan.captured(block), lambda b: b.name)
    assert sql.endswith("WHERE cars.`model` IN ('x', 'y')")
    assert plan.captured(root) is root
