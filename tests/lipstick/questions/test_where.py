"""Cells behind cells: copied, computed, or chosen by others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openlineage.client.facet_v2 import column_lineage_dataset

from lipstick.errors import CaptureError
from lipstick.openlineage import lineage_facet
from lipstick.questions.where.origins import (
    CellOrigins,
    cell_origins,
    lineage_of_columns,
)
from semiring.errors import CapabilityError
from tests.oracle.cells import Held, database, queries
from tests.oracle.written import write_capture, written

_ROWS = {
    "r": [{"id": 0, "k": 1, "b": 5}, {"id": 1, "k": 1, "b": 9}, {"id": 2, "k": 2, "b": None}],
    "s": [{"id": 1, "e": 100, "f": 2, "g": 1}, {"id": 2, "e": 200, "f": 9, "g": 1}],
}


def _where(sql: str, folder: Path, column: str = "c1", **row: Any) -> CellOrigins:
    data = database(_ROWS)
    tables = {name: relation.data for name, relation in data.relations.items()}
    return cell_origins(written(sql, data, folder), None, column, row, tables)


def _cells(found: CellOrigins) -> dict[str, set[tuple[str, int]]]:
    cells: dict[str, set[tuple[str, int]]] = {}
    for name, table in found.cells.items():
        for row in table.to_pylist():
            cells.setdefault(row["_role"], set()).add((f"{name}.{row['_column']}", row["id"]))
    return cells


def test_perturbed_cells_change_what_cites_them() -> None:
    held = Held()
    for query in queries(2, 8):
        held.hold(query)
    assert held.cells["copied"] + held.cells["computed"] > 10


def test_a_branch_that_was_not_taken_has_no_part(tmp_path: Path) -> None:
    sql = "SELECT r.id, coalesce(b, e) AS v FROM r JOIN s ON r.k = s.id"
    found = _where(sql, tmp_path, c0=2)
    assert (found.kind, found.value) == ("copied", 200)
    assert _cells(found) == {
        "copied": {("s.e", 2)},
        "chosen by": {("r.b", 2)},
    }
    assert str(found).splitlines()[1] == "- copied s.e where id = 2"


def test_an_extreme_is_a_copy_of_one_cell_and_chosen_among_others(tmp_path: Path) -> None:
    found = _where("SELECT k, max(b) AS m FROM r GROUP BY k", tmp_path, c0=1)
    assert _cells(found) == {"copied": {("r.b", 1)}, "chosen by": {("r.b", 0)}}
    assert {(d.column, d.subtype) for d in found.deciding} == {("k", "GROUP_BY")}


def test_a_key_of_a_grouping_set_is_from_the_members_of_its_group(tmp_path: Path) -> None:
    sql = "SELECT k, b, count(*) AS n FROM r GROUP BY ROLLUP (k, b)"
    subtotal = _where(sql, tmp_path / "subtotal", "c0", c0=1, c1=None)
    assert (subtotal.kind, subtotal.value) == ("copied", 1)
    assert _cells(subtotal) == {"copied": {("r.k", 0), ("r.k", 1)}}
    assert _cells(_where(sql, tmp_path / "row", "c0", c0=1, c1=5)) == {"copied": {("r.k", 0)}}
    assert _where(sql, tmp_path / "left out", "c1", c0=1, c1=None).kind == "constant"


def test_windows_copy_the_cell_of_another_row_or_compute_from_their_frame(tmp_path: Path) -> None:
    window = "OVER (PARTITION BY k ORDER BY id DESC)"
    found = _where(f"SELECT id, lag(b, 1, 0) {window} AS v FROM r", tmp_path / "lag", c0=0)
    assert (found.kind, _cells(found)) == ("copied", {"copied": {("r.b", 1)}})
    assert {(d.column, d.subtype) for d in found.deciding} == {("id", "WINDOW"), ("k", "WINDOW")}
    found = _where(f"SELECT id, sum(b) {window} AS v FROM r", tmp_path / "sum", c0=0)
    assert _cells(found) == {"computed": {("r.b", 0), ("r.b", 1)}}


def test_a_row_of_a_constructor_is_from_its_own_cell(tmp_path: Path) -> None:
    view = "LATERAL VIEW stack(2, 'b', b, 'k', k) t AS m, x"
    found = _where(f"SELECT m, sum(x) AS v FROM r {view} GROUP BY m", tmp_path, c0="k")
    assert _cells(found) == {"computed": {("r.k", 0), ("r.k", 1), ("r.k", 2)}}
    assert found.deciding == ()


def test_rows_of_a_constructor_that_look_alike_each_take_their_own_branch(tmp_path: Path) -> None:
    view = "LATERAL VIEW explode(map('b', nullif(b, b), 'v', 7)) t AS m, x"
    sql = f"SELECT r.id, sum(coalesce(x, e)) AS v FROM r JOIN s ON r.k = s.id {view} GROUP BY r.id"
    found = _where(sql, tmp_path, c0=2)
    assert found.value == 207
    assert ("s.e", 2) in _cells(found)["computed"]


def test_a_constant_has_no_cells(tmp_path: Path) -> None:
    found = _where("SELECT id, 7 AS v FROM r", tmp_path, c0=1)
    assert (found.kind, found.cells) == ("constant", {})


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        (
            "SELECT r.id, sum(x) AS v FROM r LEFT JOIN s ON r.k = s.id "
            "LATERAL VIEW explode(array(7, g)) t AS x GROUP BY r.id",
            CapabilityError,
            "a generator whose rows the capture does not distinguish",
        ),
        ("SELECT k, b FROM r", CaptureError, "The answer has 2 rows with c0 = 1"),
    ],
)
def test_what_is_not_followed(
    sql: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        _where(sql, tmp_path, c0=1)


def test_lineage_of_columns_has_the_kinds_of_openlineage(tmp_path: Path) -> None:
    joined = "FROM r JOIN s ON r.k = s.id WHERE f > 1 GROUP BY s.id"
    sql = f"SELECT s.id AS n, sum(b) AS v, max(e) AS m {joined}"
    table = lineage_of_columns(written(sql, database(_ROWS), tmp_path))
    direct = {
        (row["column"], row["relation"], row["source"], row["subtype"])
        for row in table.to_pylist()
        if row["kind"] == "DIRECT"
    }
    assert direct == {
        ("c0", "s", "id", "IDENTITY"),
        ("c1", "r", "b", "AGGREGATION"),
        ("c2", "s", "e", "IDENTITY"),
    }
    of_sum = [row for row in table.to_pylist() if row["column"] == "c1"]
    assert {row["subtype"] for row in of_sum} == {"AGGREGATION", "GROUP_BY", "JOIN", "FILTER"}


def test_lineage_of_columns_is_written_as_openlineages_facet(tmp_path: Path) -> None:
    sql = "SELECT r.id AS n, sum(b) OVER (PARTITION BY k) + 1 AS v FROM r WHERE b > 1"
    facet = lineage_facet(write_capture(sql, database(_ROWS), tmp_path), "warehouse")
    fields = {
        name: column_lineage_dataset.Fields([_input(f) for f in v["inputFields"]])
        for name, v in facet["fields"].items()
    }
    deciding = [_input(each) for each in facet["dataset"]]
    its = column_lineage_dataset.ColumnLineageDatasetFacet(fields, deciding, producer="urn:x")
    assert facet["_schemaURL"] == its._schemaURL
    assert {
        (name, f.field, t.type, t.subtype)
        for name, of_column in fields.items()
        for f in of_column.inputFields
        for t in f.transformations or ()
    } == {
        ("n", "id", "DIRECT", "IDENTITY"),
        ("v", "b", "DIRECT", "TRANSFORMATION"),
        ("v", "k", "INDIRECT", "WINDOW"),
    }
    assert [(f.namespace, f.name, f.field) for f in deciding] == [("warehouse", "r", "b")]


def _input(field: dict[str, Any]) -> column_lineage_dataset.InputField:
    kinds = [column_lineage_dataset.Transformation(**each) for each in field["transformations"]]
    return column_lineage_dataset.InputField(
        field["namespace"], field["name"], field["field"], kinds
    )
