"""Deletion over generated queries without Spark: captured members in DuckDB, and what is left."""

from __future__ import annotations

import random
import re

import duckdb
import pyarrow as pa
import pytest

from tests.oracle.captured import check_captured
from tests.oracle.database import Database, Deletion, Relation
from tests.oracle.deletion import deletion_sets
from tests.oracle.generator import generate

SEEDS = range(1_000_000, 1_000_024)
ROUNDED = re.compile(r"AVG|/|STDDEV|VAR")
"""Rounded otherwise by DuckDB."""
GENERATORS = re.compile(r"EXPLODE|INLINE")
"""Not translated for DuckDB, LATERAL VIEW OUTER least of all."""

R = Relation(
    "r",
    ("id",),
    "id int, a int",
    pa.table({"id": pa.array([1, 2, 3], pa.int32()), "a": pa.array([7, 7, None], pa.int32())}),
)
DATABASE = Database({"r": R})


def chosen(*keys: int) -> Deletion:
    """Return the deletion of some rows of ``r``."""
    return Deletion("chosen", {"r": frozenset((key,) for key in keys)})


def test_rows_that_appear_are_found() -> None:
    sql = "SELECT a FROM r WHERE NOT EXISTS (SELECT 1 FROM r AS s WHERE s.a = r.a AND s.id < r.id)"
    assert check_captured(sql, DATABASE, [chosen(), chosen(1), chosen(3)]) == 1
    assert check_captured("SELECT a FROM r", DATABASE, [chosen(1), chosen(2, 3)]) == 2


def test_what_duckdb_does_not_know_is_its_error() -> None:
    with pytest.raises(duckdb.Error):
        check_captured("SELECT id FROM r WHERE (a, id) IN (SELECT id, a FROM r)", DATABASE, [])


def test_generated_queries() -> None:
    """Every generated query that DuckDB knows; these are most of them."""
    known = asked = changed = 0
    for seed in SEEDS:
        case = generate(seed)
        if ROUNDED.search(case.sql) or GENERATORS.search(case.sql):
            continue
        deletions = deletion_sets(
            random.Random(seed),
            case.database,
            {},
            count=5,
            compared=case.compared,
            subtracted=case.subtracted,
        )
        try:
            changed += check_captured(case.sql, case.database, deletions)
        except duckdb.Error:
            continue
        known += 1
        asked += sum(len(deletion) > 0 for deletion in deletions)
    assert known >= len(SEEDS) // 3
    assert 3 * changed >= asked
