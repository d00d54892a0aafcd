"""Statements of questions to a capture: extents of windows, contributions, rows computed anew."""

from __future__ import annotations

import pytest

from rewriter.blocks import Block, topological
from rewriter.emit import Extent
from rewriter.emit.statements import (
    answer_sql,
    contributions_sql,
    extents_sql,
    potential_sql,
    rows_sql,
)
from tests.rewriter.lower.catalog import blocks


def members(block: Block) -> str:
    return f"{block.name} members"


def values(block: Block) -> str:
    return f"{block.name} values"


def block(sql: str, name: str) -> Block:
    """Return a block of a query by its name."""
    return next(block for block in topological(blocks(sql)) if block.name == name)


@pytest.mark.parametrize(
    ("order", "frame", "read"),
    [
        (
            "price` DESC",
            "",
            "ORDER BY p.`_k0_0` DESC RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        ),
        (
            "price`",
            "RANGE BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING",
            "ORDER BY p.`_k0_0` RANGE BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING",
        ),
        (
            "car_id`",
            "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
            "ORDER BY p.`_at0` ASC ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING",
        ),
    ],
)
def test_extents_of_windows(order: str, frame: str, read: str) -> None:
    """Rows are placed, and then the first and the last place of a frame are read over it."""
    window = f"PARTITION BY dealer ORDER BY `{order} {frame}"
    root = blocks(f"SELECT sum(price) OVER ({window}) AS s FROM cars")
    sql, (extent,) = extents_sql(root, members, {})
    assert extent == Extent(("_p0_0",), "_at0", "_start0", "_stop0")
    over = f"OVER (PARTITION BY p.`_p0_0` {read})"
    assert f"MIN(p.`_at0`) {over} AS `_start0`, MAX(p.`_at0`) {over} AS `_stop0`" in sql
    assert f"ROW_NUMBER() OVER (PARTITION BY m.`dealer` ORDER BY m.`{order}) AS `_at0`" in sql
    assert "`b0_members` AS (SELECT * FROM `b0 members`)" in sql


def test_extent_of_an_offset() -> None:
    """LAG reads the row before, of rows without a partition that an order by the key settles."""
    sql, _ = extents_sql(
        blocks("SELECT lag(price) OVER (ORDER BY price) AS l FROM cars"), members, {}
    )
    assert "ORDER BY p.`_at0` ASC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW" in sql
    assert "ROW_NUMBER() OVER (ORDER BY m.`price`, (m.`car_id`) ASC) AS `_at0`" in sql


def test_rows_of_members_that_are_not_captured() -> None:
    """The core is run again where members are captured by reference."""
    grouped = blocks("SELECT dealer, sum(price) FROM cars WHERE price > 3 GROUP BY dealer")
    captured = rows_sql(grouped, members)
    assert captured.startswith("WITH `b0_members` AS (SELECT * FROM `b0 members`) SELECT")
    again = rows_sql(grouped, members, from_sources=True)
    assert again.startswith(
        "WITH `b0_members` AS (SELECT cars.`car_id` AS `car_id`, cars.`dealer` AS `dealer_3`,"
        " cars.`price` AS `price` FROM `cars` AS cars WHERE cars.`price` > 3) SELECT"
    )
    assert again.partition(") SELECT")[2] == captured.partition(") SELECT")[2]


def test_answer_of_captured_rows() -> None:
    """In the order of the query, and without rows that are not in the answer."""
    root = blocks("SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 2 ORDER BY dealer")
    assert answer_sql(root, "the rows", ("_n",)) == (
        "SELECT r.`dealer_2`, r.`_n` FROM `the rows` AS r WHERE r.`_present` ORDER BY r.`_o0` ASC"
    )


def test_one_potential_tuple() -> None:
    """A block has no tuples in any world where this has no row."""
    sql = potential_sql(blocks("SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 2"))
    assert sql is not None
    assert sql.endswith("SELECT 1 FROM `b0_potential` AS p LIMIT 1")
    counts = "(SELECT dealer, count(*) AS n FROM cars GROUP BY dealer)"
    assert potential_sql(blocks(f"SELECT n FROM {counts} GROUP BY n")) is None


def test_partners_of_generated_rows() -> None:
    """A LATERAL VIEW comes after joins: what they compare, and when, are columns of its rows."""
    array = "(SELECT dealer, array(sum(price), max(price)) AS a FROM cars GROUP BY dealer)"
    sql = (
        f"SELECT g.x, c.city FROM (SELECT dealer, x FROM {array} LATERAL VIEW explode(a) v AS x) g"
        " LEFT JOIN dealers c ON c.dealer = g.dealer AND g.dealer > 'c'"
    )
    statement, contributions = contributions_sql(block(sql, "b4"), members, values)
    assert "b1_3.`dealer_3` AS `_s0_0`" in statement
    assert "COALESCE((b1_3.`dealer_3` > 'c'), FALSE) AS `_s0_guard`" in statement
    assert statement.endswith("AS s0 ON m.`_s0_guard` AND s0.`k1` = m.`_s0_0`")
    assert [(each.block, each.negated) for each in contributions.references] == [
        ("b1", False),
        ("b2", True),
    ]
