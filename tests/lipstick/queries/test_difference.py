"""Rows that need others to be absent: anti joins, NOT EXISTS, NOT IN, EXCEPT; and INTERSECT."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.oracle.small import Oracles, absent, annotated, oracles, small, token

pytestmark = pytest.mark.classic

LEFT = small(
    "l", "id int, k int, g int", [(1, 1, 1), (2, 1, 2), (3, 2, 1), (4, None, 2), (5, 5, 1)]
)
RIGHT = small("r", "rid int, k int, w int", [(1, 1, 10), (2, 1, 20), (3, 2, 30)])
NULLS = small("n", "nid int, k int, h int", [(1, 1, 1), (2, None, 1), (3, 5, 2)])
TEXTS = small(
    "t", "tid int, s string, u int", [(1, "1", 1), (2, "01", 1), (3, "2", 2), (4, "7", 1)]
)
EMPTY = small("e", "eid int, k int, u int", [])
SUBTRAHENDS: Mapping[str, Sequence[Any]] = {"r": [1, 2]}
MIXED: Mapping[str, Sequence[Any]] = {"l": [5], "r": [2, 3]}


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    """Relations with duplicate keys, with NULL keys, with keys as text, and without any row."""
    with oracles(spark, LEFT, RIGHT, NULLS, TEXTS, EMPTY) as both:
        yield both


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT l.id FROM l LEFT ANTI JOIN r ON l.k = r.k AND r.w > 10 AND l.g = 1",
        "SELECT l.id FROM l ANTI JOIN r ON l.k > r.k",
        "SELECT id FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.w >= l.k * 10 AND r.k <> l.g)",
        "SELECT id FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.w > 10 AND r.k < 2)",
        "SELECT id FROM l WHERE NOT EXISTS"
        " (SELECT k FROM r WHERE r.k = l.k GROUP BY k HAVING count(*) > 1)",
        # Computed from the key of a grouping that is read twice, and not that key.
        "WITH c AS (SELECT k FROM r GROUP BY k) SELECT id FROM l WHERE id NOT IN (SELECT k FROM c)"
        " AND NOT EXISTS (SELECT 1 FROM (SELECT k + 1 AS j FROM c) d WHERE d.j = l.k)",
    ],
)
def test_absence(on: Oracles, sql: str) -> None:
    """Deleting what is asked for to be absent makes rows appear."""
    on.hold(sql, SUBTRAHENDS, MIXED, offline=False)


@pytest.mark.engines("spark")
def test_annotation_is_monus(on: Oracles) -> None:
    """A row that is there is annotated by its tuple alone if nothing could be in its way."""
    q = on.hold("SELECT l.id FROM l LEFT ANTI JOIN r ON l.k = r.k", SUBTRAHENDS, MIXED)
    rows = annotated(q)
    assert all(rows[(n,), token("l", n)] == 1 for n in (4, 5))
    potential = {
        (n,): token("l", n) * absent(*(token("r", m) for m in partners))
        for n, partners in {1: (1, 2), 2: (1, 2), 3: (3,)}.items()
    }
    assert all(row in ((4,), (5,)) or potential[row] == a for row, a in rows)


@pytest.mark.engines("spark")
def test_nothing_to_subtract(on: Oracles) -> None:
    q = on.hold("SELECT l.id FROM l LEFT ANTI JOIN e ON l.k = e.k", {"l": [1]})
    assert annotated(q) == Counter({((n,), token("l", n)): 1 for n in (1, 2, 3, 4, 5)})


def test_everything_is_subtracted(on: Oracles) -> None:
    """All rows come back when the subtrahends go."""
    on.hold("SELECT l.id FROM l LEFT ANTI JOIN r ON r.w > 5", {"r": [1, 2]}, {"r": [1, 2, 3]})


@pytest.mark.many
@pytest.mark.parametrize(
    ("sql", "deletions"),
    [
        # One NULL among the values: no row is known to be different from all of them.
        ("SELECT id FROM l WHERE k NOT IN (SELECT k FROM n)", [{"n": [2]}, {"n": [1, 2]}]),
        ("SELECT id FROM l WHERE k NOT IN (SELECT k FROM n WHERE k IS NOT NULL)", [{"n": [1]}]),
        # Of no values at all every row is different, NULL too.
        ("SELECT id FROM l WHERE k NOT IN (SELECT k FROM r)", [{"r": [1, 2, 3]}, {"r": [3]}]),
        ("SELECT id FROM l WHERE k NOT IN (SELECT k FROM e)", [{"l": [4]}]),
        (
            "SELECT id FROM l WHERE k NOT IN (SELECT k FROM n WHERE n.h = l.g)",
            [{"n": [2]}, {"n": [3]}],
        ),
        ("SELECT id FROM l WHERE k NOT IN (SELECT k FROM n WHERE n.h > l.g)", [{"n": [3]}]),
        (
            "SELECT id FROM l WHERE (k, g) NOT IN (SELECT k, h FROM n)",
            [{"n": [1]}, {"n": [2]}, {"n": [1, 2, 3]}],
        ),
        (
            "SELECT id FROM l WHERE k NOT IN (SELECT k FROM r GROUP BY k HAVING sum(w) > 25)",
            [{"r": [1]}, {"r": [3]}],
        ),
    ],
)
def test_not_in_knows_null(
    on: Oracles, sql: str, deletions: Sequence[Mapping[str, Sequence[Any]]]
) -> None:
    on.hold(sql, *deletions, offline=False)


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, g FROM l EXCEPT SELECT k, h FROM n",
        "SELECT k FROM n MINUS SELECT k FROM l WHERE g = 2",
        "(SELECT k FROM l EXCEPT SELECT k FROM r) INTERSECT SELECT k FROM l WHERE g = 1",
        "SELECT k FROM l EXCEPT (SELECT k FROM r INTERSECT SELECT h FROM n)",
        "SELECT count(*) AS c FROM l GROUP BY k EXCEPT SELECT h FROM n WHERE k = 1",
    ],
)
def test_set_operation(on: Oracles, sql: str) -> None:
    """Rows count once, and NULL is a value."""
    deletion = {"r": [1, 2], "n": [2]}
    on.hold(sql, {"l": [2, 4]}, deletion, {"l": [1, 3], "n": [3]}, grouping=True, offline=False)


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k + 2147483647 AS v FROM (SELECT k FROM l EXCEPT SELECT CAST(k AS bigint) FROM r)",
        "SELECT k, g FROM l INTERSECT SELECT CAST(k AS string), h FROM n",
        "SELECT k, typeof(k) AS t FROM (SELECT k FROM l EXCEPT SELECT CAST(k AS bigint) FROM r"
        " EXCEPT SELECT CAST(h AS decimal(30, 2)) FROM n WHERE h > 1)",
    ],
)
def test_sides_of_different_types(on: Oracles, sql: str) -> None:
    """Both are converted to the types that Spark finds, before they are compared."""
    on.hold(sql, {"l": [1, 3, 5]}, {"l": [4], "n": [2], "r": [3]}, offline=False)


@pytest.mark.many
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT l.id, t.tid FROM l FULL JOIN t ON l.k = t.s",
        "SELECT id FROM l WHERE k NOT IN (SELECT s FROM t WHERE t.u = l.g)",
        "SELECT id, g IN (SELECT s FROM t) AS f, (SELECT count(*) FROM t WHERE t.s = l.k) AS n"
        " FROM l",
    ],
)
def test_values_equal_after_conversion(on: Oracles, sql: str) -> None:
    """Partners are those that the comparison finds, which converts '1' and '01' to 1."""
    on.hold(sql, {"t": [1]}, {"l": [3], "t": [1, 2]}, {"t": [1, 2, 3, 4]}, offline=False)


@pytest.mark.slow
def test_except_of_a_relation_with_itself(on: Oracles) -> None:
    """Nothing is left, whatever is deleted, and something is where the sides differ."""
    sql = "SELECT k FROM l EXCEPT SELECT k FROM l WHERE g = 2"
    on.hold(sql, {"l": [2]}, {"l": [4]}, {"l": [1, 2, 3, 4, 5]}, grouping=True)


def test_intersect_multiplies_the_sides(on: Oracles) -> None:
    """δ of each side; deletions only remove."""
    q = on.hold("SELECT k FROM l INTERSECT SELECT k FROM r", {"r": [1, 2]}, grouping=True)
    pairs = {1: ((1, 2), (1, 2)), 2: ((3,), (3,))}
    expected = Counter()
    for key, (left, right) in pairs.items():
        left_sum = sum((token("l", n) for n in left[1:]), token("l", left[0])).delta()
        other = sum((token("r", n) for n in right[1:]), token("r", right[0])).delta()
        expected[(key,), left_sum * other] += 1
    assert annotated(q) == expected
