"""Outer joins: captures answer deletions without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.test_subqueries import hold

LETTERS = "(SELECT k FROM a UNION ALL SELECT y FROM b UNION ALL SELECT k FROM c)"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.id, b.y FROM a LEFT JOIN b ON a.k = b.k AND a.x > 1 AND b.y < 5",
        "SELECT a.id, b.id FROM a FULL JOIN b ON a.k <=> b.k OR a.x = b.y",
        f"SELECT q.j, p.k FROM {LETTERS} p RIGHT JOIN"
        " (SELECT x AS j FROM a UNION ALL SELECT k FROM b) q ON p.k = q.j",
        "SELECT a.id, g.n FROM a LEFT JOIN (SELECT k, count(*) AS n FROM b GROUP BY k) g"
        " ON g.k = a.k AND g.n < a.x",
        "SELECT a.id, b.y, c.z FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON c.z = b.y",
    ],
)
def test_outer_join(sql: str, tmp_path: Path) -> None:
    hold(sql, tmp_path)
