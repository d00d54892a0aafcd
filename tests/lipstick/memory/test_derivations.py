"""Evaluation on columns of tokens gives what evaluation of the annotations gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lipstick import LipstickError, semirings
from lipstick.capture.capture import Capture
from semiring.base import Semiring
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

A = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5], pa.int32()),
        "k": ["x", "x", None, "y", "y"],
        "x": pa.array([1, 2, 2, None, 1], pa.int32()),
    }
)
DATABASE = Database({"a": Relation("a", ("id",), "id int, k string, x int", A)})
QUERIES = {
    "rows of a self-join": "SELECT p.k, q.x FROM a p JOIN a q ON p.k = q.k",
    "groups of a self-join": "SELECT p.k, count(*) n FROM a p JOIN a q ON p.x = q.x GROUP BY p.k",
    "a union": "SELECT x FROM a UNION ALL SELECT p.x FROM a p JOIN a q ON p.id = q.x",
    "groups of a union": """SELECT x, count(*) n FROM
        (SELECT x FROM a UNION ALL SELECT p.x FROM a p JOIN a q ON p.id = q.x) u GROUP BY x""",
    "grouping sets": "SELECT k, x, count(*) n FROM a GROUP BY ROLLUP (k, x)",
    "one group": "SELECT count(*) n FROM a",
    "an inner grouping": "SELECT n FROM (SELECT k, count(*) n FROM a GROUP BY k) g",
    "EXCEPT ALL": "SELECT k FROM a EXCEPT ALL SELECT k FROM a WHERE x = 1",
    "no rows": "SELECT k, count(*) n FROM a WHERE x > 9 GROUP BY k",
    "ordered and limited": "SELECT k, count(*) n FROM a GROUP BY k ORDER BY n DESC, k LIMIT 2",
}
WRITERS = [one for one in semirings.ALL if one.writes_derivations]


@pytest.mark.parametrize("sql", QUERIES.values(), ids=QUERIES)
def test_values_and_refusals_are_those_of_the_annotations(sql: str, tmp_path: Path) -> None:
    capture = write_capture(sql, DATABASE, tmp_path / "c")
    for semiring in WRITERS:
        for merged in (False, True):
            found = _evaluated(capture, semiring, None, merged)
            expected = _evaluated(capture, semiring, semiring.default, merged)
            assert found == expected, semiring.name


def _evaluated(capture: Capture, semiring: Semiring[Any], given: Any, merged: bool) -> Any:
    ask = capture.k_relation if merged else capture.evaluate
    try:
        return ask(semiring, given).to_pylist()
    except LipstickError as error:
        return type(error)
