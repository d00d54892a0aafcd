"""Scalars that fail: errors of the rows that are there, and none of those that are not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from lipstick.errors import CaptureError, NeedsSparkError
from semiring.semirings import Tropical
from tests.oracle.database import Database, Deletion
from tests.oracle.small import small
from tests.oracle.written import check_written, write_capture, written

LEFT = small("l", "id int, k int, x int", [(1, 1, 5), (2, 2, 4), (3, 3, 0), (4, 1, 2)])
RIGHT = small("r", "rid int, k int, y int", [(1, 1, 5), (2, 2, 3), (3, 3, 7), (4, 0, 1)])
DATABASE = Database({"l": LEFT, "r": RIGHT})
PADDED = "SELECT l.id FROM l LEFT JOIN r ON l.k = r.k WHERE 10 / coalesce(r.y, 0) > 1"


def without(**keys: list[int]) -> Deletion:
    """Return a deletion of tuples by their keys."""
    gone = {name: frozenset((key,) for key in of_relation) for name, of_relation in keys.items()}
    return Deletion("chosen", gone)


@pytest.mark.parametrize(
    ("sql", "deletion"),
    [
        (PADDED, without(l=[1])),
        ("SELECT id FROM l WHERE x > (SELECT min(x) FROM l) AND 10 / x > 2", without(l=[1, 4])),
        ("SELECT k, max(y) AS m FROM r GROUP BY k HAVING max(y) > 1 AND 10 / (max(y) - 1) > 2",
         without(r=[1])),
        ("SELECT k, count(*) AS n FROM (SELECT l.k, r.y FROM l LEFT JOIN r ON l.k = r.k) t"
         " WHERE 10 / coalesce(y, 0) > 1 GROUP BY k", without(l=[1])),
    ],
)  # fmt: skip
def test_no_error_of_rows_that_are_not_there(sql: str, deletion: Deletion, tmp_path: Path) -> None:
    """A condition is asked of the rows that the conditions before it leave."""
    assert check_written(sql, DATABASE, [deletion], tmp_path) == 1


def test_an_error_of_a_row_that_appears(tmp_path: Path) -> None:
    """The padded row of a tuple whose partner is deleted divides by zero."""
    memory = written(PADDED, DATABASE, tmp_path)
    with pytest.raises(CaptureError, match=r"fails on these rows"):
        memory.what_if({"r": pa.table({"rid": pa.array([3], pa.int32())})})


def test_a_condition_on_members_is_no_comparison_of_aggregates(tmp_path: Path) -> None:
    """Rows that it drops are not part of an annotation, and any semiring has values for others."""
    capture = write_capture(PADDED, DATABASE, tmp_path)
    evaluated = capture.algebra.evaluate(Tropical(), {"l": {1: 2.0, 3: 4.0}, "r": {3: 1.0}})
    assert sorted(evaluated.to_pandas().itertuples(index=False)) == [(1, 2), (2, 0), (3, 5), (4, 0)]
    sql = f"SELECT count(*) AS n FROM ({PADDED.replace('> 1', '> 2.5')}) t GROUP BY id > 0"
    ((row, annotation),) = write_capture(sql, DATABASE, tmp_path / "grouped").polynomials()
    assert row["n"] == 1
    assert str(annotation) == "δ(l:2·r:2)"


def test_a_group_that_appears_with_a_key_that_only_spark_computes(tmp_path: Path) -> None:
    """What is not known of a row that is not there yet is asked for when it appears."""
    words = small("w", "id int, s string", [(1, "\u0561"), (2, "b")])
    other_rows = small("o", "oid int, id int", [(1, 1), (2, 2)])
    sql = """SELECT upper(s) AS u, count(*) AS n FROM w
        WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.id = w.id) GROUP BY upper(s)"""
    memory = written(sql, Database({"w": words, "o": other_rows}), tmp_path)
    assert memory.answer().num_rows == 0
    with pytest.raises(NeedsSparkError, match="UPPER"):
        memory.what_if({"o": pa.table({"oid": pa.array([1], pa.int32())})})
