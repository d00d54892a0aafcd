"""Outer joins: matched rows, and rows padded while their partners are absent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.oracle.small import Oracles, absent, annotated, oracles, small, token

pytestmark = pytest.mark.classic

LEFT = small(
    "l", "id int, k int, v string", [(1, 1, "a"), (2, 1, "b"), (3, 2, "c"), (4, None, "d")]
)
RIGHT = small("r", "rid int, k int, w int", [(1, 1, 10), (2, 1, 20), (3, None, 30), (4, 7, 40)])
EMPTY = small("e", "eid int, k int, u int", [])
PARTNERS: Mapping[str, Sequence[Any]] = {"r": [1, 2]}
"""Without these, the rows of ``l`` with k = 1 are padded."""
MIXED: Mapping[str, Sequence[Any]] = {"l": [1, 2], "r": [4]}
ROWS: Mapping[str, Sequence[Any]] = {"l": [1, 4]}


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Two relations with duplicate and NULL keys, and an empty one."""
    with oracles(spark, LEFT, RIGHT, EMPTY) as both:
        yield both


@pytest.mark.many
@pytest.mark.parametrize("side", ["LEFT", "RIGHT", "FULL"])
def test_equality(on: Oracles, side: str) -> None:
    """A NULL key has no partner; duplicates multiply."""
    on.hold(f"SELECT l.id, l.v, r.w FROM l {side} JOIN r ON l.k = r.k", PARTNERS, MIXED)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "join"),
    [
        ("l.id, r.w", "l LEFT JOIN r ON l.k < r.k"),
        ("l.id, r.w", "l RIGHT JOIN r ON l.k + 1 >= r.k OR l.v = 'd'"),
        ("l.id, r.w", "l FULL JOIN r ON l.k <=> r.k"),
        ("l.id, r.w", "l LEFT JOIN r ON l.k = r.k AND l.v <> 'a' AND r.w > 10"),
        ("k, l.k, r.k, id, w", "l FULL JOIN r USING (k)"),
        ("k, r.k, id, w", "l RIGHT JOIN r USING (k)"),
        ("*", "l NATURAL LEFT JOIN r"),
    ],
)
def test_condition(on: Oracles, columns: str, join: str) -> None:
    """Of any shape, on one side or on both."""
    on.hold(f"SELECT {columns} FROM {join}", PARTNERS, MIXED)


@pytest.mark.many
@pytest.mark.parametrize("condition", ["TRUE", "r.w > 100"])
def test_all_rows_match_or_none(on: Oracles, condition: str) -> None:
    """A condition may mention one side, or nothing."""
    sql = f"SELECT l.id, r.rid FROM l FULL JOIN r ON {condition}"
    on.hold(sql, MIXED, {"r": [1, 2, 3, 4]})


@pytest.mark.many
@pytest.mark.parametrize("join", ["l LEFT JOIN e", "e FULL JOIN l"])
def test_empty_side(on: Oracles, join: str) -> None:
    """Every row of the other is padded."""
    q = on.hold(f"SELECT l.id, e.u FROM {join} ON l.k = e.k", ROWS)
    assert annotated(q) == Counter({((n, None), token("l", n)): 1 for n in (1, 2, 3, 4)})


def test_padded_row_asks_for_the_absence_of_its_partners(on: Oracles) -> None:
    """Matched rows are products; a row without any partner at all is its own tuple."""
    q = on.hold("SELECT l.id, r.w FROM l LEFT JOIN r ON l.k = r.k WHERE l.id <> 2", PARTNERS)
    left, first, second = token("l", 1), token("r", 1), token("r", 2)
    rows = annotated(q)
    assert rows[(1, 10), left * first] == 1
    assert rows[(1, 20), left * second] == 1
    assert rows[(3, None), token("l", 3)] == 1
    assert rows[(4, None), token("l", 4)] == 1
    potential = {key for key in rows if key[0] == (1, None)}
    assert potential <= {((1, None), left * absent(first, second))}


@pytest.mark.slow
def test_chain(on: Oracles) -> None:
    """A padded row is an ordinary row to the next join."""
    sql = (
        "SELECT l.id, r.rid, s.id AS other, e.u FROM l LEFT JOIN r ON l.k = r.k"
        " FULL JOIN l s ON s.k = r.k AND s.id <> l.id LEFT JOIN e ON e.k = s.k"
    )
    on.hold(sql, PARTNERS, MIXED)


KEYED = " LEFT JOIN ".join(
    ["l", "r ON r.rid = l.id", "l a ON a.id = r.w - 9", "r b ON b.rid = a.k", "l c ON c.id = b.k"]
)
"""Each row has at most one partner, as keys tell."""


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT l.id, r.w, a.v, b.w AS x, c.v AS y FROM {KEYED}",
        f"SELECT c.v, count(*) AS n, sum(b.w) AS s FROM {KEYED} WHERE coalesce(b.w, 11) > 10"
        " GROUP BY c.v",
    ],
)
def test_many_keyed(on: Oracles, sql: str) -> None:
    """More than two in a row find their partners in the tail: rows do not double each time."""
    q = on.hold(sql, PARTNERS, MIXED, {"r": [1]}, grouping="GROUP" in sql)
    assert q.capture.manifest.counts["b0"]["members"] <= 4 * len(LEFT.data)


@pytest.mark.many
@pytest.mark.parametrize(
    ("sql", "most"),
    [
        ("SELECT l.id, r.w FROM l LEFT JOIN r ON l.k = r.k WHERE r.w >= 10", 4),
        ("SELECT l.id, r.w FROM l FULL JOIN r ON l.k = r.k WHERE r.w IS NOT NULL", 8),
        ("SELECT r.w FROM l LEFT JOIN r ON l.k = r.k JOIN l s ON s.id = r.rid", 4),
        ("SELECT r.w, count(*) AS n FROM l LEFT JOIN r ON l.k = r.k GROUP BY 1 HAVING r.w < 20", 4),
    ],
)
def test_rejected(on: Oracles, sql: str, most: int) -> None:
    """Padded rows that a condition above rejects are not captured."""
    q = on.hold(sql, PARTNERS, MIXED, grouping="GROUP" in sql)
    assert q.capture.manifest.counts["b0"]["members"] <= most


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT l.id, g.n, g.s FROM l LEFT JOIN"
        " (SELECT k, count(*) AS n, sum(w) AS s FROM r GROUP BY k) g ON l.k = g.k",
        "SELECT l.id, g.k FROM l FULL JOIN"
        " (SELECT k FROM r GROUP BY k HAVING count(*) < 2) g ON l.k = g.k",
        "SELECT l.id, d.k FROM l RIGHT JOIN (SELECT DISTINCT k FROM r) d ON l.k = d.k",
        "SELECT l.id, d.n FROM l LEFT JOIN (SELECT count(*) AS n FROM r) d ON d.n > l.k",
    ],
)
def test_derived_and_grouped_side(on: Oracles, sql: str) -> None:
    on.hold(sql, PARTNERS, MIXED, offline=False)


@pytest.mark.slow
def test_full_join_of_two_groupings(on: Oracles) -> None:
    """One row per key of either side."""
    sql = (
        "SELECT coalesce(a.k, b.k) AS k, a.n, b.s FROM"
        " (SELECT k, count(*) AS n FROM l GROUP BY k) a FULL JOIN"
        " (SELECT k, sum(w) AS s FROM r GROUP BY k) b ON a.k = b.k"
    )
    on.hold(sql, PARTNERS, {"l": [1, 2], "r": [1, 4]}, offline=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sql", "grouping"),
    [
        ("SELECT l.id FROM l LEFT JOIN r ON l.k = r.k WHERE r.rid IS NULL", False),
        (
            "SELECT l.v, count(r.w) AS n, sum(r.w) AS s FROM l LEFT JOIN r ON l.k = r.k GROUP BY 1",
            1,
        ),
        ("SELECT DISTINCT r.k FROM l RIGHT JOIN r ON l.k = r.k", True),
        ("SELECT count(*) AS n, max(l.id) AS m FROM l FULL JOIN r ON l.k = r.k", True),
    ],
)
def test_what_follows_an_outer_join(on: Oracles, sql: str, grouping: bool) -> None:
    """Filters, expressions and groupings see the NULLs of padded rows."""
    on.hold(sql, PARTNERS, MIXED, grouping=grouping, offline=False)
