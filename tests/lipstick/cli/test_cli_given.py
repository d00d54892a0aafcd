"""Inputs and states in files and folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lipstick.cli.given import Executions, read_inputs, read_state, read_table
from lipstick.workflow.errors import WorkflowError


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _plain(given: Executions) -> list[dict[str, Any]]:
    """Executions with their tables as lists."""
    return [{name: _rows(rows) for name, rows in each.items()} for each in given]


def _rows(rows: Any) -> Any:
    if isinstance(rows, dict):
        return {name: _rows(inner) for name, inner in rows.items()}
    return rows.to_pylist() if isinstance(rows, pa.Table) else rows


# -- nothing -------------------------------------------------------------------------------------


def test_no_executions(tmp_path: Path) -> None:
    assert _plain(read_inputs(_write(tmp_path / "inputs.json", "[]"))) == []
    (tmp_path / "folder").mkdir()
    assert _plain(read_inputs(tmp_path / "folder")) == []
    assert read_state(tmp_path / "folder") == {}


def test_an_execution_without_relations(tmp_path: Path) -> None:
    (tmp_path / "0").mkdir()
    assert _plain(read_inputs(tmp_path)) == [{}]


# -- documents -----------------------------------------------------------------------------------


def test_executions_tell_when_their_turn_comes(tmp_path: Path) -> None:
    begun: list[int] = []
    path = _write(tmp_path / "inputs.json", '[{"R": []}, {"R": []}]')
    given = read_inputs(path, 3).telling(begun.append)
    assert begun == []
    for number, _ in enumerate(given, start=3):
        assert begun[-1] == number
    assert begun == [3, 4]


@pytest.mark.parametrize("name", ["inputs.yaml", "inputs.yml", "inputs.json"])
def test_a_document_is_a_list_of_executions(tmp_path: Path, name: str) -> None:
    rows = [{"BidId": "B1"}, ["B2"]]
    given = [{"Request": rows}, {"request": {"Request": []}}]
    path = _write(tmp_path / name, json.dumps(given))
    assert _plain(read_inputs(path)) == given
    assert read_inputs(path).first == 0
    assert read_inputs(path, 3).first == 3


def test_paths_are_relative_to_the_document(tmp_path: Path) -> None:
    _write(tmp_path / "tables" / "first.csv", "BidId\nB1\n")
    text = "- Request: tables/first.csv\n- ask: {Request: tables/first.csv}\n"
    path = _write(tmp_path / "inputs.yaml", text)
    rows = [{"BidId": "B1"}]
    assert _plain(read_inputs(path)) == [{"Request": rows}, {"ask": {"Request": rows}}]


def test_files_are_read_when_their_turn_comes(tmp_path: Path) -> None:
    path = _write(tmp_path / "inputs.yaml", "- R: [[1]]\n- R: absent.csv\n- R: [[3]]\n")
    given = read_inputs(path)
    assert len(given) == 3
    assert (given[0], given[2], given[2:].first) == ({"R": [[1]]}, {"R": [[3]]}, 2)
    with pytest.raises(WorkflowError, match=r"absent\.csv cannot be read: "):
        given[1]


def test_a_state_is_by_module(tmp_path: Path) -> None:
    _write(tmp_path / "cars.csv", "CarId\nC1\n")
    path = _write(tmp_path / "state.yaml", "dealer1: {Cars: cars.csv, SoldCars: [[C1, B1]]}\n")
    relations = read_state(path)["dealer1"]
    assert relations["Cars"].to_pylist() == [{"CarId": "C1"}]
    assert relations["SoldCars"] == [["C1", "B1"]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "", r"a\.yaml has nothing, and not a list of executions\."),
        ("a.json", "{}", r"a\.json has a mapping, and not a list of executions\."),
        ("a.yaml", "- 5\n", r"execution 0 is 5, and not a mapping from relations to rows\."),
        ("a.json", "[", r"a\.json cannot be read: "),
        ("a.yaml", "[", r"a\.yaml cannot be read: "),
        ("a.csv", "x\n", r"a\.csv is neither a folder nor a document\.\nGive a folder, or"),
    ],
)
def test_other_documents_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        read_inputs(_write(tmp_path / name, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", r"has a list, and not a mapping from modules to their relations\."),
        ('{"dealer1": []}', r"dealer1 has a list, and not a mapping from relations to rows\."),
    ],
)
def test_other_states_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        read_state(_write(tmp_path / "state.json", text))


def test_an_absent_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(WorkflowError, match=r"inputs\.yaml cannot be read: .*No such file"):
        read_inputs(tmp_path / "inputs.yaml")


# -- folders -------------------------------------------------------------------------------------


def test_folders_are_executions_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in (9, 10, 11):
        _write(tmp_path / str(number) / "Request.json", f'[["B{number}"]]')
    given = read_inputs(tmp_path)
    assert given.first == 9
    assert _plain(given) == [{"Request": [[f"B{number}"]]} for number in (9, 10, 11)]


def test_relations_may_stand_in_the_folder_of_their_node(tmp_path: Path) -> None:
    _write(tmp_path / "0" / "Request.csv", "BidId\nB1\n")
    _write(tmp_path / "0" / "choice" / "Choice.json", '[["B1", true]]')
    _write(tmp_path / "0" / ".hidden", "")
    assert _plain(read_inputs(tmp_path)) == [
        {"Request": [{"BidId": "B1"}], "choice": {"Choice": [["B1", True]]}}
    ]


def test_parquet_may_be_a_folder(tmp_path: Path) -> None:
    table = pa.table({"n": [1, 2]})
    (tmp_path / "0" / "Numbers.parquet").mkdir(parents=True)
    pq.write_table(table, tmp_path / "0" / "Numbers.parquet" / "part-0.parquet")
    assert _plain(read_inputs(tmp_path)) == [{"Numbers": table.to_pylist()}]


def test_a_folder_of_a_state_is_by_module(tmp_path: Path) -> None:
    _write(tmp_path / "dealer1" / "Cars.csv", "CarId\nC1\n")
    assert _rows(read_state(tmp_path)) == {"dealer1": {"Cars": [{"CarId": "C1"}]}}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["0/R.json", "2/R.json"], r"has executions 0 and 2 and none between\."),
        (["0/R.json", "00/R.json"], r"are of the same execution\.\nLeave one\."),
        (["first/R.json"], r"first is not an execution: its name is not a number\."),
    ],
)
def test_other_folders_are_refused(tmp_path: Path, files: list[str], message: str) -> None:
    for file in files:
        _write(tmp_path / file, "[]")
    with pytest.raises(WorkflowError, match=message):
        read_inputs(tmp_path)


def test_two_files_of_a_relation_are_refused(tmp_path: Path) -> None:
    _write(tmp_path / "0" / "R.json", "[]")
    _write(tmp_path / "0" / "R.csv", "n\n")
    with pytest.raises(WorkflowError, match=r"has two files of the relation R\.\nLeave one\."):
        read_inputs(tmp_path)[0]


def test_a_folder_says_its_numbers_itself(tmp_path: Path) -> None:
    with pytest.raises(
        WorkflowError, match=r"its folders' names are the numbers of the executions"
    ):
        read_inputs(tmp_path, 0)


# -- tables --------------------------------------------------------------------------------------


def test_csv_is_text_and_nothing_is_null(tmp_path: Path) -> None:
    path = _write(tmp_path / "t.csv", 'id,note,n\n007,,1\n"",NULL,"2"\n')
    assert read_table(path) == pa.table(
        {"id": ["007", ""], "note": [None, "NULL"], "n": ["1", "2"]}
    )


def test_csv_of_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    table = read_table(_write(tmp_path / "t.csv", "id,note\n"))
    assert isinstance(table, pa.Table)
    assert (table.column_names, table.num_rows) == (["id", "note"], 0)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", r"t\.csv cannot be read: "),
        ("t.csv", "a,b\n1\n", r"t\.csv cannot be read: "),
        ("t.parquet", "x", r"t\.parquet cannot be read: "),
        ("t.json", "{", r"t\.json cannot be read: "),
        ("t.json", "7", r"t\.json has 7, and not a list of rows\."),
        (
            "t.txt",
            "x",
            r"t\.txt is not a table\.\nGive a file that ends in \.parquet, \.csv, \.json",
        ),
    ],
)
def test_other_tables_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(WorkflowError, match=message):
        read_table(_write(tmp_path / name, text))
