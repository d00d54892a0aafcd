"""Which blocks are captured for the groups alone that somebody asks for."""

from __future__ import annotations

import pytest

from rewriter.emit.statements import Groups, asked_groups_sql, members_sql
from rewriter.passes import CapturePlan, planned_capture
from rewriter.scalars.text import text
from tests.rewriter.lower.catalog import blocks


def _found(sql: str) -> list[tuple[str, str, list[tuple[str, str]], bool]]:
    reductions = planned_capture(blocks(sql), lambda _: False).reductions
    return [
        (
            name,
            reduction.reader.name,
            [(text(left), key) for left, key in reduction.pairs],
            reduction.prefilter,
        )
        for name, reduction in reductions.items()
    ]


@pytest.mark.parametrize(
    ("sql", "pairs", "prefilter"),
    [
        (
            "SELECT bid FROM bids WHERE amount > "
            "(SELECT avg(price) FROM cars WHERE cars.car_id = bids.car_id)",
            [("m.`car_id`", "car_id_3")],
            False,
        ),
        (
            "SELECT bid FROM bids WHERE NOT EXISTS "
            "(SELECT 1 FROM cars WHERE cars.car_id = bids.car_id AND cars.price = bids.amount)",
            [("m.`car_id`", "k1"), ("m.`amount`", "k2")],
            False,
        ),
        (
            "SELECT bid FROM bids WHERE amount > 3 AND EXISTS "
            "(SELECT 1 FROM cars WHERE cars.car_id = bids.car_id AND price > 5)",
            [("m.`car_id`", "k1")],
            True,
        ),
    ],
)
def test_groups_that_one_block_asks_for(
    sql: str, pairs: list[tuple[str, str]], prefilter: bool
) -> None:
    assert _found(sql) == [("b1", "b0", pairs, prefilter)]


@pytest.mark.parametrize(
    "sql",
    [
        # A join reads all tuples of the other block.
        "SELECT bid FROM bids JOIN (SELECT car_id, count(*) n FROM cars GROUP BY car_id) c "
        "ON c.car_id = bids.car_id",
        # Nothing says that few rows ask.
        "SELECT bid FROM bids WHERE car_id IN (SELECT car_id FROM cars WHERE price > 5)",
        # Nor is either of the two a scan.
        "SELECT bid FROM bids JOIN dealers ON dealer = buyer WHERE amount > 3 AND car_id IN "
        "(SELECT car_id FROM cars WHERE price > 5)",
        # Two blocks ask.
        "WITH c AS (SELECT model, max(price) p FROM cars GROUP BY model) "
        "SELECT bid FROM bids WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.model = buyer) UNION ALL "
        "SELECT car_id FROM cars WHERE NOT EXISTS (SELECT 1 FROM c WHERE c.model = dealer)",
        # A window sees other groups.
        "SELECT bid FROM bids WHERE amount < (SELECT max(r) FROM (SELECT model, "
        "rank() OVER (ORDER BY count(*)) r FROM cars GROUP BY model) c WHERE c.model = buyer)",
    ],
)
def test_groups_that_are_all_captured(sql: str) -> None:
    assert _found(sql) == []


def test_members_of_the_groups_that_members_ask_for() -> None:
    root = blocks(
        "SELECT bid FROM bids WHERE amount > 3 AND EXISTS "
        "(SELECT 1 FROM cars WHERE cars.car_id = bids.car_id AND price > 5)"
    )
    plan = planned_capture(root, lambda _: False)
    assert [block.name for block in CapturePlan(root, lambda _: False).order()] == ["b1", "b0"]
    outer, inner = plan.order()
    assert (outer.name, inner.name) == ("b0", "b1")
    bare = plan.captured(outer)
    assert "EXISTS" in members_sql(outer, lambda block: block.name)
    assert "EXISTS" not in members_sql(bare, lambda block: block.name)
    groups_statement = asked_groups_sql(
        plan.reductions["b1"], lambda block: f"{block.name}_written"
    )
    assert groups_statement == "SELECT m.`car_id` AS `k1` FROM `b0_written` AS m"
    members_statement = members_sql(
        inner, lambda block: block.name, kept=Groups("asked", ("k1",), False)
    )
    assert "EXISTS(SELECT 1 FROM `asked` AS k WHERE k.`k1` = " in members_statement
