"""What a capture keeps beside the text of the query: value columns, supports, potential tuples."""

from __future__ import annotations

import pytest

from rewriter.analysis.value_columns import value_columns
from rewriter.blocks import Block, topological
from rewriter.emit import potential_query
from rewriter.emit.statements import (
    comparisons_sql,
    contributions_sql,
    rows_sql,
    supporting_aggregates,
)
from rewriter.scalars.text import text
from tests.rewriter.lower.catalog import blocks


def block(sql: str, name: str = "b0") -> Block:
    """Return a block of a query by its name."""
    return next(block for block in topological(blocks(sql)) if block.name == name)


def potential(sql: str, name: str) -> str:
    """Return the potential tuples of a block, on one line."""
    return text(potential_query(block(sql, name)))


def test_value_columns() -> None:
    """Only what nothing but aggregates reads is captured by reference."""
    assert value_columns(block("SELECT dealer, sum(price), max(model) FROM cars GROUP BY 1")) == (
        "price",
        "model",
    )
    assert value_columns(block("SELECT price, sum(price) FROM cars GROUP BY price")) == ()
    assert value_columns(block("SELECT sum(bid), sum(amount) FROM bids")) == ("amount",)
    assert value_columns(block("SELECT dealer FROM cars")) == ()
    assert value_columns(block("SELECT count(*) FROM cars GROUP BY dealer")) == ()
    assert value_columns(block("SELECT sum(price) FROM cars TABLESAMPLE (10 PERCENT)")) == ()


def test_value_columns_of_other_blocks() -> None:
    """Tuples of other blocks have no tokens by which values could be looked up."""
    groups = "SELECT dealer, max(price) AS p FROM cars GROUP BY dealer"
    assert value_columns(block(f"SELECT sum(p) FROM ({groups}) GROUP BY dealer")) == ()
    joined = f"SELECT sum(d.rating) FROM dealers d JOIN ({groups}) c ON c.dealer = d.dealer"
    assert value_columns(block(joined)) == ()
    assert value_columns(block("SELECT sum(x) FROM VALUES (1) AS t(x)")) == ()
    made = "SELECT sum(price) FROM cars LATERAL VIEW explode(array(1, 2)) g AS x"
    assert value_columns(block(made)) == ()


def test_value_columns_read_elsewhere() -> None:
    """A value that a condition or a membership reads is captured."""
    compared = "SELECT max(price) FROM cars WHERE price > (SELECT avg(amount) FROM bids)"
    assert value_columns(block(compared)) == ()
    member = "SELECT max(price) FROM cars WHERE price IN (SELECT amount FROM bids)"
    assert value_columns(block(member)) == ()
    looked_up = (
        "SELECT c.model, sum(c.price), max((SELECT count(*) FROM bids b WHERE b.amount = c.price))"
        " FROM cars c GROUP BY c.model"
    )
    assert value_columns(block(looked_up)) == ()


def test_supporting_aggregates() -> None:
    """SUM and AVG keep the count of values, AVG its sum, every grouping the number of members."""
    sql = (
        "SELECT sum(price), avg(price), min(price), count(price), sum(DISTINCT price) FROM cars"
        " GROUP BY dealer"
    )
    kept = {name: text(call) for name, call in supporting_aggregates(block(sql))}
    assert kept == {
        "_n": "COUNT(*)",
        "sum_price_2__count": "COUNT(m.`price`)",
        "avg_price_2__count": "COUNT(m.`price`)",
        "avg_price_2__sum": "SUM(m.`price`)",
    }
    assert supporting_aggregates(block("SELECT model FROM cars")) == ()


def test_supporting_aggregates_of_subqueries() -> None:
    """What supports an aggregate of a scalar subquery has the subquery too."""
    root = block("SELECT sum(price - (SELECT min(amount) FROM bids)) FROM cars GROUP BY dealer")
    assert "COUNT(m.`price` - (SELECT b1_value." in rows_sql(root, lambda inner: f"{inner.name}_m")


def test_contributions_of_nothing() -> None:
    """A row made of nothing still is a row."""
    sql, contributions = contributions_sql(block("SELECT 1 AS one"), lambda inner: inner.name)
    assert sql == "SELECT 1 AS `_row`"
    assert (contributions.tokens, contributions.references) == ((), ())


def test_comparisons() -> None:
    """What memberships compare stands side by side, outer value first; each has its place."""
    sql = (
        "SELECT city FROM dealers d WHERE d.dealer IN (SELECT c.dealer FROM cars c"
        " WHERE c.model = d.city GROUP BY c.dealer) AND EXISTS (SELECT 1 FROM bids)"
        " AND rating + 1 IN (SELECT amount FROM bids)"
    )
    (compared,) = comparisons_sql(blocks(sql))
    assert [(sql[span.start :][:6], n) for span, n in compared.places if span] == [
        ("IN (SE", 0),
        ("IN (SE", 1),
        ("IN (SE", 0),
    ]
    assert compared.sql.split("SELECT m.`dealer` AS `_left0`")[1] == (
        ", s0.`dealer_3` AS `_right0`, m.`city` AS `_left1`, s0.`model_2` AS `_right1`, "
        "m.`rating` + 1 AS `_left2`, s2.`k1` AS `_right2` FROM `b0_members` AS m, `b1` AS s0, "
        "`b2` AS s1, `b3` AS s2 WHERE FALSE"
    )
    assert comparisons_sql(blocks("SELECT city FROM dealers")) == ()


def test_potential_of_grouping() -> None:
    """The keys of all members, whatever HAVING says."""
    sql = "SELECT d.city FROM dealers d JOIN (SELECT dealer, max(price) AS p FROM cars GROUP BY 1"
    sql += " HAVING count(*) > 2) g ON d.dealer = g.dealer"
    assert potential(sql, "b1") == (
        "SELECT g.`dealer_4` AS `dealer_4`, g.`dealer_4` AS `dealer_3` FROM (SELECT m.`dealer_4` "
        "AS `dealer_4` FROM `b1_members` AS m GROUP BY m.`dealer_4`) AS g"
    )


def test_potential_keys_that_may_fail() -> None:
    """Of rows that may not be there a key is computed without errors."""
    sql = (
        "SELECT d.city FROM (SELECT DISTINCT 100 / price AS share FROM cars WHERE car_id IN"
        " (SELECT car_id FROM bids)) t JOIN dealers d ON d.rating = t.share"
    )
    assert "SELECT TRY_DIVIDE(100, m.`price`) AS" in potential(sql, "b2")


def test_potential_of_generated_rows() -> None:
    """Rows that are generated of constants are there whatever is deleted."""
    sql = "SELECT car_id FROM cars WHERE car_id IN (SELECT explode(array(1, 4)))"
    assert potential(sql, "b1") == (
        "SELECT g.`k1` AS `k1` FROM (SELECT generated.`col` AS `k1` LATERAL VIEW"
        " POSEXPLODE(ARRAY(1, 4)) generated AS `pos`, `col` GROUP BY generated.`col`) AS g"
    )


def test_potential_of_limit() -> None:
    """All members, whatever LIMIT says."""
    sql = "SELECT t.model FROM (SELECT model, dealer FROM cars ORDER BY price LIMIT 3) t"
    sql += " JOIN dealers d ON t.dealer = d.dealer"
    assert potential(sql, "b1") == (
        "SELECT m.`car_id` AS `car_id`, m.`model_3` AS `model_3`, m.`dealer_3` AS `dealer_3` "
        "FROM `b1_members` AS m"
    )


UNION = (
    "SELECT d.city FROM dealers d JOIN ({}) u ON d.dealer = u.x",
    "SELECT dealer AS x, max(price) AS p FROM cars GROUP BY dealer",
)


def test_potential_of_union() -> None:
    """The potential tuples of the branches, by the union's own names of its stable outputs."""
    sql = UNION[0].format(f"{UNION[1]} UNION ALL SELECT buyer, 0 FROM bids GROUP BY buyer")
    assert potential(sql, "b3") == (
        "SELECT u.`_branch` AS `_branch`, u.`_0_dealer_3` AS `_0_dealer_3`, "
        "u.`_1_buyer_3` AS `_1_buyer_3`, u.`x` AS `x_2` FROM ("
        "SELECT 0 AS `_branch`, t.`dealer_3` AS `_0_dealer_3`, NULL AS `_1_buyer_3`, "
        "t.`x` AS `x` FROM `b1_potential` AS t UNION ALL "
        "SELECT 1 AS `_branch`, NULL AS `_0_dealer_3`, t.`buyer_3` AS `_1_buyer_3`, "
        "t.`buyer_2` AS `x` FROM `b2_potential` AS t) AS u"
    )


def test_potential_of_aggregate_without_keys() -> None:
    """Its one row is there, with what is constant of it."""
    sql = UNION[0].format(f"{UNION[1]} UNION ALL SELECT 'x', max(amount) FROM bids")
    assert potential(sql, "b2") == "SELECT 'x' AS `x_2`"
    sql = UNION[0].format(f"{UNION[1]} UNION ALL SELECT max(buyer), max(amount) FROM bids")
    assert potential(sql, "b2") == "SELECT 1 AS `_row`"


def test_potential_over_blocks() -> None:
    """Tuples of other blocks that are not known only repeat those of this one."""
    sql = (
        "SELECT d.city FROM dealers d JOIN (SELECT g.dealer FROM "
        "(SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer HAVING dealer <> 'x') g, "
        "(SELECT avg(price) AS a FROM cars) t WHERE g.p > t.a GROUP BY g.dealer) h "
        "ON d.dealer = h.dealer"
    )
    assert potential(sql, "b3") == (
        "SELECT g.`dealer_7` AS `dealer_7`, g.`dealer_7` AS `dealer_6` FROM (SELECT "
        "b1.`dealer_3` AS `dealer_7` FROM `b1_potential` AS b1 GROUP BY b1.`dealer_3`) AS g"
    )


def test_potential_is_not_known() -> None:
    """Groups by an aggregated value are not known without evaluating it."""
    sql = "SELECT n FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) g GROUP BY n"
    with pytest.raises(ValueError, match="potential tuples of block b0 are not known"):
        potential(sql, "b0")


def test_union_lowers_each_branch_once() -> None:
    """The names of blocks show that no branch is lowered twice, however deep unions nest."""
    sql = "SELECT dealer FROM cars GROUP BY dealer"
    for _ in range(12):
        sql = f"SELECT * FROM ({sql} UNION ALL SELECT city FROM dealers GROUP BY city) t"
    assert len(topological(blocks(sql))) == 25
    assert {inner.name for inner in topological(blocks(sql))} == {f"b{n}" for n in range(25)}


def test_temporary_operators_are_kept() -> None:
    """Blocks are found by the identity of operators: one made on the way must outlive them."""
    semi = (
        "SELECT city FROM {} LEFT SEMI JOIN (SELECT dealer, sum(price) AS p FROM cars"
        " GROUP BY dealer) g ON g.dealer = d.dealer AND g.p > {}"
    )
    sql = "dealers d"
    for number in range(8):
        sql = f"(SELECT * FROM ({semi.replace('city', 'd.*').format(sql, number)}) d) d"
    blocks_of_union = topological(blocks(f"SELECT city FROM {sql}"))
    havings = [text(condition) for inner in blocks_of_union for condition in inner.having]
    assert sorted(having.split(" > ")[1] for having in havings) == [str(n) for n in range(8)]
