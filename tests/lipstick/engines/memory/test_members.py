"""The members of an answer's rows, listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from lipstick.errors import CaptureError, NeedsSparkError
from tests.lipstick.engines.memory.test_failures import DATABASE
from tests.oracle.written import written

GROUPS = "(SELECT k, count(*) AS n FROM l GROUP BY k) g"


@pytest.mark.parametrize(
    ("sql", "columns", "rows"),
    [
        ("SELECT x FROM l WHERE k = 1 ORDER BY x", ["id", "x_2"], [(2, 4, 2), (5, 1, 5)]),
        (
            "SELECT k, sum(x) AS s FROM l GROUP BY k ORDER BY k",
            ["id", "k_3", "x"],
            [(1, 7, 1, 1, 5), (1, 7, 4, 1, 2), (2, 4, 2, 2, 4), (3, 0, 3, 3, 0)],
        ),
        (
            "SELECT count(*) AS n FROM l WHERE x > (SELECT min(y) FROM r) GROUP BY k ORDER BY k",
            ["id", "x", "k_3"],
            [(2, 1, 5, 1), (2, 4, 2, 1), (1, 2, 4, 2)],
        ),
        (
            f"SELECT g.n, r.y FROM {GROUPS} JOIN r ON g.k = r.k ORDER BY r.y",
            ["rid", "b1_k_3", "y_2"],
            [(1, 3, 2, 2, 3), (2, 5, 1, 1, 5), (1, 7, 3, 3, 7)],
        ),
        (f"SELECT max(g.n) AS m FROM {GROUPS} WHERE g.n < 2", ["b1_k_3"], [(1, 2), (1, 3)]),
        (
            "SELECT k, 0 AS b FROM l WHERE x > 4 UNION ALL SELECT max(k), y FROM r GROUP BY y"
            " ORDER BY b",
            ["_branch", "_0_id", "_1_y_3"],
            [
                (1, 0, 0, 1, None),
                (0, 1, 1, None, 1),
                (2, 3, 1, None, 3),
                (1, 5, 1, None, 5),
                (3, 7, 1, None, 7),
            ],
        ),
    ],
)
def test_members(sql: str, columns: list[str], rows: list[tuple[Any, ...]], tmp_path: Path) -> None:
    """The answer's columns, then what tells members apart, then what is captured of them."""
    memory = written(sql, DATABASE, tmp_path)
    listed = memory.members()
    shown = memory.answer().column_names
    assert listed.column_names == [*shown, *columns]
    found = [tuple(row.values()) for row in listed.to_pylist()]
    assert found == rows
    assert memory.members(2).to_pylist() == listed.to_pylist()[:2]


def test_rows_are_found_by_their_identity(tmp_path: Path) -> None:
    memory = written("SELECT k, sum(x) AS s FROM l GROUP BY k ORDER BY k DESC", DATABASE, tmp_path)
    identity = [pa.array([1, 3], pa.int32())]
    assert [str(of) for of in memory.annotations_of(identity, 2)] == ["δ(l:1 + l:4)", "δ(l:3)"]
    assert sorted(memory.lineage_of(identity, 2)["l"]["id"].to_pylist()) == [1, 3, 4]


@pytest.mark.parametrize(
    ("operator", "left", "right"), [("EXCEPT ALL", [1, 4], []), ("INTERSECT ALL", [2], [2])]
)
def test_lineage_of_bag_differences(
    operator: str, left: list[int], right: list[int], tmp_path: Path
) -> None:
    """A row of EXCEPT ALL was made of the left side alone."""
    sql = f"SELECT x AS v FROM l WHERE id <> 3 {operator} SELECT y + 1 FROM r WHERE rid <> 4"
    lineage = written(sql, DATABASE, tmp_path).lineage()
    assert sorted(lineage["l"]["id"].to_pylist()) == left
    assert sorted(lineage["r"]["rid"].to_pylist()) == right


def test_values_that_only_spark_computes_hold_while_what_they_read_does(tmp_path: Path) -> None:
    sql = (
        "SELECT g.k, initcap(CAST(g.m AS STRING)) AS t FROM"
        " (SELECT k, max(x) AS m FROM l GROUP BY k) g JOIN r ON r.k = g.k"
    )
    memory = written(sql, DATABASE, tmp_path)
    same = memory.what_if({"l": pa.table({"id": pa.array([4, 2], pa.int32())})})
    assert same.df.to_pydict() == {"c0": [1, 3], "c1": ["5", "0"]}
    changed = memory.what_if({"l": pa.table({"id": pa.array([1], pa.int32())})})
    with pytest.raises(NeedsSparkError, match="INITCAP"):
        changed.df  # noqa: B018


def test_columns_that_are_not_there_have_no_tensors(tmp_path: Path) -> None:
    memory = written("SELECT k, sum(x) AS s FROM l GROUP BY k", DATABASE, tmp_path)
    with pytest.raises(CaptureError, match=r"The answer has no column 'z'.\nThere are c0, c1\."):
        memory.tensors("z")
    assert len(memory.tensors("c1")) == 3
