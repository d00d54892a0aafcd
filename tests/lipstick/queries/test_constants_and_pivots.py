"""VALUES, range(), PIVOT, UNPIVOT and stack against both oracles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.oracle.small import Oracles, annotated, oracles, small, token
from tests.versions import of_newer_spark

pytestmark = pytest.mark.classic

SALES = small(
    "sales",
    "id int, shop string, item string, price int",
    [
        (1, "x", "p", 10),
        (2, "x", "p", 20),
        (3, "x", None, 30),
        (4, None, "q", None),
        (5, "y", "r", 5),
    ],
)


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Sales with NULLs among shops, items and prices."""
    with oracles(spark, SALES) as both:
        yield both


@pytest.mark.many
@pytest.mark.parametrize(
    ("sql", "grouping", "offline"),
    [
        (
            "SELECT v.rank, s.id, v.shop FROM VALUES ('x', 1), (NULL, 2), ('x', 3), ('z', NULL)"
            " AS v(shop, rank) LEFT JOIN sales AS s ON s.shop = v.shop",
            False,
            True,
        ),
        (
            "SELECT r.id, count(s.id) AS n FROM range(0, 40, 10) AS r JOIN sales AS s"
            " ON s.price >= r.id GROUP BY r.id",
            True,
            True,
        ),
        (
            "SELECT price FROM sales UNION ALL SELECT * FROM VALUES (10), (10) ORDER BY price",
            False,
            True,
        ),
        (
            "SELECT * FROM (SELECT shop, item, price FROM sales)"
            " PIVOT (sum(price) AS s, count(*) AS n FOR item IN ('p' AS pp, 'q', NULL))",
            True,
            True,
        ),
        (
            "SELECT t.p, t.`{x, q}` FROM (SELECT shop, item, price FROM sales)"
            " PIVOT (avg(price) FOR (shop, item) IN (('x', 'p') AS p, ('x', 'q'))) AS t",
            True,
            True,
        ),
        pytest.param(
            "SELECT * FROM (SELECT shop, item, price FROM sales)"
            " PIVOT (median(price) AS m, count(*) AS n, bool_or(price > 10) AS b"
            " FOR shop IN ('x', 'z'))",
            True,
            True,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "SELECT * FROM (SELECT shop, item, price FROM sales)"
            " PIVOT (max_by(item, price) AS m, count(price) AS n, collect_list(price) AS c"
            " FOR shop IN ('x', 'z'))",
            True,
            False,
            marks=pytest.mark.slow,
        ),
        (
            "SELECT * FROM (SELECT id, shop, item FROM sales)"
            " PIVOT (first(item) AS i, count(*) AS n FOR shop IN ('x', 'z', NULL))",
            True,
            True,
        ),
        (
            "SELECT * FROM (SELECT id, shop, item FROM sales)"
            " UNPIVOT (value FOR name IN (shop, item AS i)) WHERE id < 5",
            False,
            True,
        ),
        (
            "SELECT name, count(a), count(*) FROM sales UNPIVOT INCLUDE NULLS"
            " ((a, b) FOR name IN ((shop, item) AS u, (item, shop))) GROUP BY name",
            True,
            True,
        ),
        ("SELECT id, a, b FROM sales LATERAL VIEW stack(2, shop, id, item) s AS a, b", False, True),
        ("SELECT id, key, value FROM sales LATERAL VIEW explode(map('a', price)) m", False, True),
    ],
)
def test_shapes(on: Oracles, sql: str, grouping: bool, offline: bool) -> None:
    with of_newer_spark():
        on.plain.answer(sql)
    gone = [{"sales": [1, 4]}, {"sales": [2, 3, 5]}, {"sales": range(1, 6)}]
    on.hold(sql, *gone, grouping=grouping, offline=offline)


def test_rows_of_values_are_annotated_one(on: Oracles) -> None:
    q = on.ls.sql(
        "SELECT v.p, s.id FROM VALUES (10), (10), (7) AS v(p) JOIN sales s ON s.price = p"
    )
    assert annotated(q) == Counter({((10, 1), token("sales", 1)): 2})
    alone = on.ls.sql("VALUES (1, 'a'), (2, NULL)")
    assert [str(annotation) for _, annotation in alone.polynomials()] == ["1", "1"]
    assert [tuple(row) for row in alone.df.collect()] == [(1, "a"), (2, None)]
