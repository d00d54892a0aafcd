"""ROLLUP, CUBE and GROUPING SETS: a member is in a group of every grouping set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.oracle.small import Oracles, annotated, oracles, small, token

pytestmark = pytest.mark.classic

SALES = small(
    "sales",
    "id int, shop string, item string, price int",
    [
        (1, "x", "p", 10),
        (2, "x", "q", 20),
        (3, "x", None, 30),
        (4, None, "p", 5),
        (5, "y", "p", None),
        (6, "x", "p", 10),
    ],
)
SHOPS = small("shops", "shop_id int, shop string", [(1, "x"), (2, None), (3, "z")])
MEASURES = small("m", "id int, d double", [(1, 0.0), (2, -0.0), (3, float("nan")), (4, None)])


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Sales with NULL keys, NULL values and duplicates, shops, and doubles."""
    with oracles(spark, SALES, SHOPS, MEASURES) as both:
        yield both


@pytest.mark.many
@pytest.mark.parametrize(
    ("sql", "grouping"),
    [
        (
            "SELECT s.shop, s.n, s.g, t.shop_id FROM (SELECT shop, count(*) AS n, sum(price) AS p,"
            " grouping(shop) AS g FROM sales JOIN shops USING (shop) GROUP BY ROLLUP (shop)"
            " HAVING count(*) > 1) AS s JOIN shops AS t ON s.shop <=> t.shop WHERE s.p < 99",
            False,
        ),
        (
            "SELECT shop, item, sum(price) AS p, sum(length(item)) AS l, grouping_id() AS g"
            " FROM sales GROUP BY shop, CUBE (item) ORDER BY g, shop, p",
            True,
        ),
        (
            "SELECT shop, item, count(DISTINCT price) AS n, avg(price), grouping(item) AS g"
            " FROM sales GROUP BY shop, item GROUPING SETS ((item), (shop, item), (item), ())"
            " HAVING g = 1 OR item = 'p'",
            True,
        ),
        ("SELECT d, count(*), grouping(d), 'c' AS c FROM m GROUP BY d, 'c' WITH ROLLUP", True),
        (
            "SELECT n, count(*) FROM (SELECT shop, count(*) AS n FROM sales GROUP BY 1)"
            " GROUP BY CUBE (n)",
            True,
        ),
    ],
)
def test_grouping_sets(on: Oracles, sql: str, grouping: bool) -> None:
    gone = {"sales": [4, 5], "shops": [2], "m": [2, 3]}
    everything = {"sales": range(1, 7), "shops": range(1, 4), "m": range(1, 5)}
    names = sorted(on.ls.sql(sql).plan.relations)
    deletions = [{name: keys[name] for name in names} for keys in (gone, everything)]
    on.hold(sql, *deletions, {names[0]: [1]}, grouping=grouping)


def test_members_are_captured_once(on: Oracles) -> None:
    q = on.ls.sql("SELECT shop, item, count(*) FROM sales GROUP BY CUBE (shop, item)")
    assert q.capture.manifest.counts["b0"]["members"] == 6
    assert len(q.df.collect()) == q.capture.manifest.counts["b0"]["rows"]


@pytest.mark.engines("spark")
def test_a_group_of_each_set_is_annotated_with_its_members(on: Oracles) -> None:
    q = on.hold(
        "SELECT shop, count(*) AS n FROM sales WHERE id < 5 GROUP BY ROLLUP (shop)",
        {"sales": [1, 2, 3, 4]},
        grouping=True,
    )
    sales = {number: token("sales", number) for number in range(1, 5)}
    x = sales[1] + sales[2] + sales[3]
    assert annotated(q) == Counter(
        {
            (("x", 3), x.delta()): 1,
            ((None, 1), sales[4].delta()): 1,
            ((None, 4), (x + sales[4]).delta()): 1,
        }
    )
