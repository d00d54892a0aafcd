"""The deletion oracle without Spark: captured members in DuckDB, and what is left of them."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

from tests.oracle.captured import check_captured
from tests.oracle.database import Database, Deletion, Relation

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
        check_captured("SELECT HYPOT(id, a) FROM r", DATABASE, [])
