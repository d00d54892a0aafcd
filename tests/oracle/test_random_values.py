"""Random values under the deletion oracle without Spark: the captured ones stay as they are."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from rewriter.blocks import topological
from tests.oracle.captured import answer_without, blocks_of, capture, connected, members_of
from tests.oracle.database import Database, Deletion, Relation
from tests.oracle.duck import loosened
from tests.oracle.rows import assert_same_bag, from_arrow

ROWS = [(1, 1, 5), (2, 1, None), (3, 2, 7), (4, 2, 0), (5, None, 2), (6, None, None), (7, 3, 9)]
TABLE = pa.table(
    {
        name: pa.array([row[number] for row in ROWS], pa.int64())
        for number, name in enumerate(("id", "k", "x"))
    }
)
DATABASE = Database({"a": Relation("a", ("id",), "id bigint, k bigint, x bigint", TABLE)})
GONE = [(), (1,), (1, 2), (3, 5, 7), tuple(range(1, 8))]

QUERIES = {
    "SELECT id, r, r + 1 AS s FROM (SELECT id, rand() AS r FROM a) WHERE r < 0.7": (
        "SELECT id, drawn AS r, drawn + 1 AS s FROM chosen WHERE drawn < 0.7"
    ),
    "SELECT id FROM a ORDER BY rand() LIMIT 3": "SELECT id FROM chosen ORDER BY drawn LIMIT 3",
    "WITH s AS (SELECT id, rand() AS r FROM a) SELECT x.id, y.r FROM s AS x JOIN s AS y "
    "ON x.r = y.r": "SELECT id, drawn AS r FROM chosen",
    "SELECT rand() < 0.5 AS h, count(*) AS n, sum(x) AS s FROM a GROUP BY h": (
        "SELECT drawn < 0.5 AS h, count(*) AS n, sum(x)::BIGINT AS s FROM chosen GROUP BY 1"
    ),
    "SELECT k, count(*) AS n, rand() AS r FROM a GROUP BY k": (
        "SELECT k, n, drawn AS r FROM (SELECT k, count(*) AS n FROM remaining GROUP BY k) AS g "
        "JOIN chosen AS w ON w.b1_k_3 IS NOT DISTINCT FROM k"
    ),
    "SELECT y.id, z.r FROM a AS y LEFT JOIN (SELECT *, rand() AS r FROM a WHERE x > 1) AS z "
    "ON y.k = z.k AND z.r < 0.5": (
        "SELECT y.id, z.drawn AS r FROM remaining AS y LEFT JOIN chosen AS z "
        "ON y.k = z.k_2 AND z.drawn < 0.5"
    ),
}


@pytest.mark.parametrize("sql", QUERIES)
def test_drawn_values_stay(sql: str) -> None:
    root = blocks_of(sql, DATABASE)
    (once,) = (b for b in topological(root) if b.core is not None and b.core.once)
    with connected(DATABASE) as connection:
        capture(connection, root)
        for gone in GONE:
            left = f"WHERE NOT list_contains({list(gone)}::BIGINT[], id)"
            of_rows = once.core is not None and "id" in dict(once.core.select)
            written = f"SELECT * FROM {members_of(once)} {left if of_rows else ''}"
            views = f"chosen AS ({written}), remaining AS (SELECT * FROM a {left})"
            result: Any = connection.execute(f"WITH {views} {QUERIES[sql]}")
            expected = loosened(from_arrow(result.fetch_arrow_table()))
            deletion = Deletion("some", {"a": frozenset((key,) for key in gone)})
            actual = answer_without(connection, root, DATABASE, deletion)
            assert_same_bag(expected, actual, f"deleting {gone}\n{sql}")
