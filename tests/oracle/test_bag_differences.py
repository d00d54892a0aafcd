"""What reads EXCEPT ALL and INTERSECT ALL, under both oracles without Spark."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.oracle.captured import check_captured
from tests.oracle.database import Database, Deletion
from tests.oracle.small import small
from tests.oracle.written import check_written

A = small("a", "id int, k int", [(1, 1), (2, 1), (3, 1), (4, None), (5, 2), (6, None)])
B = small("b", "id int, k int", [(1, 1), (2, None), (3, 7), (4, 2), (5, 2)])
C = small("c", "id int, k int", [(1, 1), (2, 1), (3, 3), (4, None)])
DATABASE = Database({relation.name: relation for relation in (A, B, C)})
EXCEPT = "SELECT k FROM a EXCEPT ALL SELECT k FROM b"
INTERSECT = "SELECT k FROM a INTERSECT ALL SELECT k FROM c"


def _deletions() -> list[Deletion]:
    draw = random.Random(3)
    deletions = [Deletion("nothing", {})]
    for share in (0.2, 0.2, 0.4, 0.4, 0.6, 0.8, 1.0):
        keys = {
            name: frozenset(
                (key,) for key in relation.data.column("id").to_pylist() if draw.random() < share
            )
            for name, relation in DATABASE.relations.items()
        }
        deletions.append(Deletion(f"{share}", keys))
    return deletions


READ = (
    f"({EXCEPT}) UNION ALL SELECT k FROM c",
    f"SELECT k FROM c UNION ALL ({INTERSECT}) UNION ALL ({EXCEPT})",
    f"SELECT t.k, c.id FROM ({EXCEPT}) t LEFT JOIN c ON t.k = c.k",
    f"SELECT t.k, c.id FROM ({INTERSECT}) t FULL JOIN c ON t.k = c.k AND c.id > 1",
    f"SELECT c.id, t.k FROM c LEFT JOIN ({INTERSECT}) t ON t.k = c.k",
)
"""What a capture answers without Spark."""

GROUPED = (
    f"SELECT k, count(*) AS n FROM (({EXCEPT}) UNION ALL SELECT k FROM c) GROUP BY k",
    f"SELECT k FROM ({EXCEPT}) UNION SELECT k FROM c",
    f"(({EXCEPT}) UNION ALL SELECT k FROM c) EXCEPT ALL SELECT k FROM b",
    f"SELECT x.k FROM (({EXCEPT}) UNION ALL SELECT k FROM c) x JOIN ({INTERSECT}) y ON x.k = y.k",
)


@pytest.mark.parametrize("sql", [*READ, *GROUPED])
def test_copies_in_unions_and_outer_joins(sql: str) -> None:
    """Each tuple is read once, and its row is there as often as its annotation says."""
    assert check_captured(sql, DATABASE, _deletions()) >= 3


@pytest.mark.parametrize("sql", READ)
def test_copies_in_memory(sql: str, tmp_path: Path) -> None:
    assert check_written(sql, DATABASE, _deletions(), tmp_path) >= 3
