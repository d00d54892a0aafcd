"""After a deletion, what a graph says of every kind of query is what running again gives.

Without Spark, see :mod:`tests.lipstick.workflow.rerun`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from lipstick.workflow import Specification
from tests.lipstick.workflow.rerun import Bag, Left, Ran, Rows, deletions, relation


@dataclass(frozen=True, slots=True)
class Case:
    """A query and what is known of it after deletions.

    Parameters
    ----------
    stale
        Whether some deletion leaves rows of which something is not known.
    appears
        Whether some makes rows appear, for which the graph has no nodes.
    """

    columns: str
    sql: str
    stale: bool = False
    appears: bool = False


A = relation("id int, k int, x int")
B = relation("id int, k int, y int")
INPUTS: dict[str, Rows] = {
    "A": [(1, 1, 3), (2, 1, 5), (3, 2, 5), (4, 2, None), (5, 3, 1), (6, None, 2)],
    "B": [(1, 1, 5), (2, 2, 1), (3, 2, 3), (4, 4, 2)],
}
CHAIN = {
    "C": "SELECT k, count(*) AS n FROM A GROUP BY k",
    "S": "SELECT id, k, sum(x) OVER (PARTITION BY k) AS n FROM A",
    "D": "SELECT k, sum(y) AS t FROM B GROUP BY k",
}
NUMBERED = "SELECT *, row_number() OVER (PARTITION BY k ORDER BY x DESC) AS r FROM A"
BOTH = "SELECT k, n FROM C UNION ALL SELECT k, t FROM D"
SIDES = (
    "(SELECT k, count(*) AS n FROM A GROUP BY k) c FULL JOIN "
    "(SELECT k, sum(y) AS t FROM B GROUP BY k) d ON c.k = d.k"
)

CASES = {
    # grouping sets, bag differences, constants
    "rollup": Case(
        "k int, x int, s bigint", "SELECT k, x, sum(x) AS s FROM A GROUP BY ROLLUP(k, x)"
    ),
    "cube": Case("k int, x int, n bigint", "SELECT k, x, count(*) AS n FROM A GROUP BY CUBE(k, x)"),
    "grouping_sets": Case(
        "k int, g int, s bigint",
        "SELECT k, grouping(k) AS g, sum(x) AS s FROM A GROUP BY GROUPING SETS ((k), ())",
    ),
    "except_all": Case("k int", "SELECT k FROM A EXCEPT ALL SELECT k FROM B", True, True),
    "intersect_all": Case("k int", "SELECT k FROM A INTERSECT ALL SELECT k FROM B", True),
    "joined_copies": Case(
        "id int",
        "SELECT a.id FROM A a JOIN (SELECT k FROM A INTERSECT ALL SELECT k FROM B) c ON a.k = c.k",
        True,
    ),
    "values": Case("k int, z int", "SELECT * FROM VALUES (1, 10), (2, 20) AS v(k, z)"),
    "joined_values": Case(
        "id int, z int",
        "SELECT a.id, v.z FROM A a JOIN (VALUES (1, 10), (2, 20)) AS v(k, z) ON a.k = v.k",
    ),
    "pivot": Case(
        "one bigint, two bigint",
        "SELECT * FROM (SELECT k, x FROM A) PIVOT (sum(x) FOR k IN (1 AS one, 2 AS two))",
    ),
    # subqueries
    "exists": Case(
        "id int", "SELECT id FROM A a WHERE EXISTS (SELECT 1 FROM B b WHERE b.k = a.k AND y < a.x)"
    ),
    "not_exists": Case(
        "id int",
        "SELECT id FROM A a WHERE NOT EXISTS (SELECT 1 FROM B b WHERE b.k = a.k)",
        appears=True,
    ),
    "exists_or": Case(
        "id int",
        "SELECT id FROM A a WHERE x = 1 OR EXISTS (SELECT 1 FROM B b WHERE b.k = a.k)",
        True,
    ),
    "exists_shown": Case(
        "id int, e int",
        "SELECT id, EXISTS (SELECT 1 FROM B b WHERE b.k = a.k) AS e FROM A a",
        True,
    ),
    "scalar": Case("id int, m int", "SELECT id, (SELECT max(y) FROM B) AS m FROM A"),
    "scalar_compared": Case("id int", "SELECT id FROM A WHERE x > (SELECT avg(y) FROM B)", True),
    "scalar_in_having": Case(
        "k int, s bigint",
        "SELECT k, sum(x) AS s FROM A GROUP BY k HAVING sum(x) > (SELECT max(y) FROM B)",
        True,
        True,
    ),
    "scalar_of_rows": Case(
        "id int, m int", "SELECT id, (SELECT y FROM B ORDER BY y LIMIT 1) AS m FROM A", True
    ),
    "scalar_aggregated": Case(
        "s bigint", "SELECT sum(x - (SELECT min(y) FROM B)) AS s FROM A", True
    ),
    "correlated": Case(
        "id int, m int", "SELECT id, (SELECT max(y) FROM B b WHERE b.k = a.k) AS m FROM A a"
    ),
    "correlated_count": Case(
        "id int, m bigint",
        "SELECT id, (SELECT count(*) FROM B b WHERE b.k = a.k) AS m FROM A a",
        True,
    ),
    "lateral": Case(
        "id int, y int", "SELECT a.id, l.y FROM A a, LATERAL (SELECT y FROM B b WHERE b.k = a.k) l"
    ),
    "lateral_window": Case(
        "id int, r int",
        "SELECT a.id, l.r FROM A a, LATERAL "
        "(SELECT row_number() OVER (ORDER BY y) AS r FROM B b WHERE b.k = a.k) l",
    ),
    # aggregated values that decide
    "grouped_by_counts": Case(
        "n bigint, t bigint", "SELECT n, count(*) AS t FROM C GROUP BY n", True
    ),
    "distinct_counts": Case(
        "n bigint",
        "SELECT DISTINCT n FROM (SELECT k, count(*) AS n FROM A GROUP BY k)",
        True,
    ),
    "member_of_counts": Case("id int", "SELECT id FROM B WHERE y IN (SELECT n FROM C)", True),
    "counts_as_members": Case("k int", "SELECT k FROM C WHERE n IN (SELECT y FROM B)", True, True),
    "joined_to_counts": Case(
        "id int, n bigint", "SELECT b.id, c.n FROM B b JOIN C c ON b.y = c.n", True, True
    ),
    "computed_and_aggregated": Case(
        "t bigint, d bigint", "SELECT sum(n * 2) AS t, count(DISTINCT n) AS d FROM C", True
    ),
    "most": Case("k int, n bigint", "SELECT k, n FROM C ORDER BY n DESC, k LIMIT 2", True),
    "most_below": Case(
        "k int", "SELECT k FROM (SELECT k, n FROM C ORDER BY n DESC, k LIMIT 2) WHERE k > 0", True
    ),
    "offset": Case("id int", "SELECT id FROM A ORDER BY id LIMIT 2 OFFSET 1", True, True),
    "first": Case("id int", "SELECT id FROM A ORDER BY x, id LIMIT 2", appears=True),
    "union_of_counts": Case("m bigint", f"SELECT n + 1 AS m FROM ({BOTH}) WHERE n > 1", True),
    "most_of_union": Case(
        "n bigint", f"SELECT n FROM ({BOTH}) ORDER BY n DESC, k LIMIT 3", True, True
    ),
    "union_computed": Case(
        "m bigint",
        "SELECT n + 1 AS m FROM C UNION ALL SELECT k FROM B UNION ALL SELECT n FROM C",
        True,
    ),
    "union_filtered": Case("k int", "SELECT k FROM C WHERE n > 1 UNION ALL SELECT k FROM B", True),
    "union_grouped": Case(
        "m bigint, t bigint",
        "SELECT m, count(*) AS t FROM (SELECT n + 1 AS m FROM C UNION ALL SELECT k FROM B) "
        "GROUP BY m",
        True,
    ),
    "union_aggregated": Case(
        "t bigint",
        "SELECT sum(m) AS t FROM (SELECT n + 1 AS m FROM C UNION ALL SELECT k FROM B)",
        True,
    ),
    "union_distinct": Case("n bigint", "SELECT n FROM C UNION SELECT t FROM D", True),
    # outer joins
    "cogroup": Case(
        "k int, n bigint, t bigint",
        f"SELECT coalesce(c.k, d.k) AS k, c.n, d.t FROM {SIDES}",
    ),
    "sides": Case("k int, k2 int", f"SELECT c.k, d.k AS k2 FROM {SIDES}", True),
    "left_on_counts": Case(
        "id int, k int", "SELECT b.id, c.k FROM B b LEFT JOIN C c ON b.y = c.n", True, True
    ),
    # windows
    "sum_over": Case("id int, s bigint", "SELECT id, sum(x) OVER (PARTITION BY k) AS s FROM A"),
    "running": Case(
        "id int, s bigint",
        "SELECT id, sum(x) FILTER (WHERE x > 1) OVER (PARTITION BY k ORDER BY id) AS s FROM A",
    ),
    "computed": Case(
        "id int, s bigint",
        "SELECT id, sum(x) OVER (PARTITION BY k) + count(*) OVER () AS s FROM A",
        True,
    ),
    "row_number": Case("id int, r int", "SELECT id, row_number() OVER (ORDER BY x) AS r FROM A"),
    "rank": Case("id int, r int", "SELECT id, rank() OVER (ORDER BY x DESC) AS r FROM A"),
    "dense_rank": Case(
        "id int, r int", "SELECT id, dense_rank() OVER (ORDER BY x DESC) AS r FROM A", True
    ),
    "lag": Case("id int, l int", "SELECT id, lag(x, 2, 0) OVER (ORDER BY id) AS l FROM A", True),
    "last_value": Case(
        "id int, l int",
        "SELECT id, last_value(x) OVER (PARTITION BY k ORDER BY id) AS l FROM A",
        True,
    ),
    "counted_frame": Case(
        "id int, s bigint",
        "SELECT id, sum(x) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING) AS s FROM A",
        True,
    ),
    "frame_of_values": Case(
        "id int, s int",
        "SELECT id, max(x) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s "
        "FROM A",
    ),
    "ntile": Case("id int, n int", "SELECT id, ntile(2) OVER (ORDER BY id) AS n FROM A", True),
    "first_of_each": Case("id int", f"SELECT id FROM ({NUMBERED}) WHERE r = 1", appears=True),
    "first_two_of_each": Case(
        "id int, r int", f"SELECT id, r FROM ({NUMBERED}) WHERE r <= 2", True
    ),
    "over_groups": Case("k int, t bigint", "SELECT k, sum(sum(x)) OVER () AS t FROM A GROUP BY k"),
    "ranked_groups": Case(
        "k int, r int", "SELECT k, rank() OVER (ORDER BY count(*)) AS r FROM A GROUP BY k", True
    ),
    "partition_of_counts": Case(
        "k int, t bigint", "SELECT k, count(*) OVER (PARTITION BY n) AS t FROM C", True
    ),
    "over_computed": Case(
        "k int, t bigint", "SELECT k, sum(n * 2) OVER (ORDER BY k) AS t FROM C", True
    ),
    "greatest_of_windows": Case("k int, t bigint", "SELECT k, max(n) AS t FROM S GROUP BY k"),
    "grouped_by_windows": Case(
        "n bigint, t bigint", "SELECT n, count(*) AS t FROM S GROUP BY n", True, True
    ),
    "limited_window": Case(
        "id int, s bigint",
        "SELECT id, sum(x) OVER (ORDER BY id) AS s FROM A ORDER BY id LIMIT 2",
        appears=True,
    ),
}
SPECIFICATION = Specification(
    "s",
    {"A": A, "B": B},
    {name: relation(case.columns) for name, case in CASES.items()},
    CHAIN | {name: case.sql for name, case in CASES.items()},
)


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion leaves of every output, and what running again gives."""

    left: dict[str, Left]
    again: dict[str, Bag]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """All queries, with everything there."""
    return Ran.of(SPECIFICATION, INPUTS, tmp_path_factory.mktemp("rerun") / "run")


def _deleted(ran: Ran, chosen: Iterable[dict[str, list[int]]], folder: Path) -> list[Deleted]:
    deleted_parts = []
    for number, gone in enumerate(chosen):
        again = Ran.of(SPECIFICATION, ran.without(gone), folder / str(number))
        deleted_parts.append(Deleted(ran.left(gone), {name: again.answer(name) for name in CASES}))
    return deleted_parts


@pytest.fixture(scope="module")
def some(ran: Ran, tmp_path_factory: pytest.TempPathFactory) -> list[Deleted]:
    """A few deletions."""
    chosen = [{"A": [0]}, {"A": [2], "B": [0]}]
    return _deleted(ran, chosen, tmp_path_factory.mktemp("some"))


@pytest.fixture(scope="module")
def all_single(ran: Ran, tmp_path_factory: pytest.TempPathFactory) -> list[Deleted]:
    """Every deletion of one tuple, and some of two."""
    chosen = list(deletions(INPUTS, 1))
    pairs = [gone for gone in deletions(INPUTS) if gone not in chosen]
    chosen += random.Random(1).sample(pairs, 4)
    return _deleted(ran, chosen, tmp_path_factory.mktemp("all"))


@pytest.mark.many(3)
@pytest.mark.parametrize("name", CASES)
def test_what_is_known_is_what_running_again_gives(
    name: str, ran: Ran, some: list[Deleted]
) -> None:
    everything = ran.left({})[name]
    assert (everything.known, everything.stale) == (ran.answer(name), 0)
    for each in some:
        left, again = each.left[name], each.again[name]
        assert left.known <= again
        missing = sum((again - left.known).values())
        assert CASES[name].stale or not left.stale
        assert CASES[name].appears or missing <= left.stale


@pytest.mark.slow
def test_after_every_deletion(all_single: list[Deleted]) -> None:
    """One test, since each deletion runs the workflow for all queries at once."""
    appears = dict.fromkeys(CASES, False)
    for each, name in product(all_single, CASES):
        left, again = each.left[name], each.again[name]
        assert left.known <= again, name
        appears[name] |= sum((again - left.known).values()) > left.stale
    assert appears == {name: case.appears for name, case in CASES.items()}
    assert any(each.left[name].stale for each in all_single) == CASES[name].stale
