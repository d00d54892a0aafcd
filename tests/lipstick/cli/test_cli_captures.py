"""``lipstick rows``, ``what-if`` and ``diff`` answer what captures answer, without Spark."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pytest
from click.testing import CliRunner

import lipstick
from lipstick.cli import main
from lipstick.explorer.cells import csv_bytes
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

SQL = "SELECT model, count(*) AS n, sum(price) AS total FROM cars GROUP BY model"


def cars(prices: list[int]) -> Database:
    """Cars of three models, the last of them without a price."""
    count = len(prices)
    rows = pa.table(
        {
            "car": [f"C{number}" for number in range(count)],
            "model": [("Civic", "Accord", "Jazz")[number % 3] for number in range(count)],
            "price": pa.array([*prices[:-1], None], pa.int64()),
        }
    )
    relation = Relation("cars", ("car",), "car string, model string, price bigint", rows)
    return Database({"cars": relation})


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    write_capture(SQL, cars([10, 20, 30, 40, 2_000, 60, 70, 5]), tmp_path / "models")
    return tmp_path / "models"


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == code, result.output
    return result.output


def document(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--format", "json"))


def test_rows_are_those_that_meet_a_condition(capture: Path) -> None:
    rows = document("rows", str(capture), "total > 1,000 or model like 'J%'")
    answer = lipstick.open(capture).memory.answer().to_pylist()
    assert rows == [row for row in answer if row["total"] > 1000 or row["model"] == "Jazz"]
    assert "Accord" in run("rows", str(capture), "model = Accord")
    assert "is none of its columns" in run("rows", str(capture), "color = red", code=2)


def test_a_value_has_its_inputs(capture: Path) -> None:
    text = run("rows", str(capture), "model = Accord", "--of", "total")
    assert "total 2,020 of Accord: 2 rows of cars; the largest, cars C4, is 99.0 %." in text
    found = document("rows", str(capture), "model = Accord", "--of", "total", "--by", "cars.car")
    assert [(bar["label"], bar["count"]) for bar in found["bars"]] == [("C4", 1), ("C1", 1)]
    assert [bar["without"] for bar in found["bars"]] == ["20", "2000"]
    assert "no column 'x'" in run(
        "rows", str(capture), "model = Accord", "--of", "total", "--by", "x", code=2
    )
    assert "selects no row" in run("rows", str(capture), "n > 9", "--of", "total", code=2)


def test_values_are_compared(capture: Path) -> None:
    text = run("rows", str(capture), "model <> Jazz", "--of", "total")
    assert "2 rows of cars" not in text
    assert "In both: no input row." in text
    found = document("rows", str(capture), "model = Accord", "--of", "total", "--of", "n")
    assert found["sentence"] == (
        "total is 2,020 and n is 3, 2,017 less. In both: 2 rows of cars."
        " Without cars C4: total 20 and n 2."
    )
    lines = csv.DictReader(
        io.StringIO(run("rows", str(capture), "--of", "n", "--by", "cars.car", "--format", "csv"))
    )
    listed = {line["car"]: line for line in lines}
    assert set(listed) == {f"C{number}" for number in range(8)}
    assert listed["C4"]["Accord without it"] == "2"
    assert listed["C4"]["Civic without it"] == "3"
    lists = str(capture.with_name("lists"))
    write_capture("SELECT car, price / 2 AS half FROM cars", cars([*range(8)]), Path(lists))
    assert "not 8" in run("rows", lists, "--of", "half", code=2)


def test_what_if_shows_old_and_new(capture: Path) -> None:
    text = run("what-if", str(capture), "--without", "cars", "car in ('C4', 'C2', 'C5')")
    assert "Without 3 rows: 1 changed, 1 deleted." in text
    assert "2020 -> 20 (-99.01 %)" in text
    found = document("what-if", str(capture), "--without", "cars", "car = C4")
    changes = lipstick.open(capture).what_if(delete={"cars": ["C4"]}).changes.to_pylist()
    wanted = [row for row in changes if row["_change"] != "unchanged"]
    assert found["rows"] == [
        {"change": row["_change"], "old": row["old"], "new": row["new"]} for row in wanted
    ]
    assert "is none of its columns" in run(
        "what-if", str(capture), "--without", "cars", "colour = red", code=2
    )


def test_lists_structs_and_maps_are_shown_in_every_form(tmp_path: Path) -> None:
    sql = (
        "SELECT car, array(price, 1) AS ps, struct(model, price) AS s, map(model, price) AS m"
        " FROM cars"
    )
    write_capture(sql, cars([10, 20, 30]), tmp_path / "nested")
    asked = ("what-if", str(tmp_path / "nested"), "--without", "cars", "car = 'C1'")
    (lost,) = document(*asked)["rows"]
    assert lost["old"] == {
        "car": "C1",
        "ps": [20, 1],
        "s": {"model": "Accord", "price": 20},
        "m": [["Accord", 20]],
    }
    (row,) = csv.DictReader(io.StringIO(run(*asked, "--format", "csv")))
    assert (row["ps before"], row["s after"]) == ("[20, 1]", "")
    assert json.loads(row["s before"]) == lost["old"]["s"]
    assert '[["Accord", 20]]' in run(*asked)


def test_numbers_that_json_does_not_have_are_texts(tmp_path: Path) -> None:
    numbers = Relation(
        "cars",
        ("car",),
        "car string, price double",
        pa.table({"car": ["C1", "C2", "C3"], "price": [float("nan"), float("-inf"), 1.5]}),
    )
    sql = "SELECT car, price, array(price) AS ps FROM cars"
    write_capture(sql, Database({"cars": numbers}), tmp_path / "numbers")
    printed = run("rows", str(tmp_path / "numbers"), "--json")
    rows = json.loads(printed, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert [row["price"] for row in rows] == ["NaN", "-Infinity", 1.5]
    assert [row["ps"] for row in rows] == [["NaN"], ["-Infinity"], [1.5]]


def test_two_changes_of_one_relation_are_refused(capture: Path) -> None:
    twice = [("--change", "cars", f"price = {price} where car = C4") for price in (0, 9)]
    assert "once each" in run("what-if", str(capture), *twice[0], *twice[1], code=2)


def test_captures_are_compared(capture: Path, tmp_path: Path) -> None:
    write_capture(SQL, cars([10, 20, 30, 40, 50, 60, 70, 5]), tmp_path / "later")
    text = run("diff", str(capture), str(tmp_path / "later"))
    assert "Of the answer's rows, 1 changed." in text
    rows = document("diff", str(capture), str(tmp_path / "later"))["rows"]
    assert [(row["total before"], row["total after"]) for row in rows] == [(2020, 70)]


def test_a_cell_comes_from_cells(capture: Path) -> None:
    found = document("where", str(capture), "total", "--where", "model=Accord")
    assert found["kind"] == "computed"
    assert {cell["_column"] for cell in found["cells"]["cars"]} == {"price"}
    assert "computed cars.price where car = 'C1'" in run(
        "where", str(capture), "total", "--where", "model=Accord"
    )
    limited = run("where", str(capture), "total", "--where", "model=Accord", "--limit", "0")
    assert limited.endswith("is 2020: computed\n- 3 more cells of cars\n")
    lineage = document("where", str(capture))
    assert {(r["column"], r["source"], r["subtype"]) for r in lineage} >= {
        ("model", "model", "IDENTITY"),
        ("total", "price", "AGGREGATION"),
    }
    facet = document("where", str(capture), "--openlineage", "warehouse")
    assert facet["fields"]["total"]["inputFields"][0]["namespace"] == "warehouse"
    refused = run("where", str(capture), "total", "--openlineage", "x", code=2)
    assert "leave out COLUMN" in refused


# -- forms of answers ------------------------------------------------------------------------------

HOSTILE = ["=1+1", "+cmd", "-a", "@sum", "\tx", "-5", "+1,234.5", "1e-3", "a=b", "-0.5 %", None]


def test_csv_has_no_cell_that_a_spreadsheet_computes() -> None:
    table = pa.table({"=name": HOSTILE, "n": list(range(-5, 6))})
    found = list(csv.reader(io.StringIO(csv_bytes(table).decode())))
    assert found[0] == ["'=name", "n"]
    safe = ["'=1+1", "'+cmd", "'-a", "'@sum", "'\tx", *HOSTILE[5:-1], ""]
    assert [row[0] for row in found[1:]] == safe
    assert [row[1] for row in found[1:]] == [str(n) for n in range(-5, 6)]


def tables(folder: Path) -> list[str]:
    for name, prices in (("monday", [10, 20, 30, 40]), ("tuesday", [10, 20, 35, 40])):
        write_capture(SQL, cars(prices), folder / name)
    return [str(folder / name) for name in ("monday", "tuesday")]


@pytest.mark.parametrize(
    "command",
    [
        "rows MONDAY",
        "rows MONDAY model=Civic --of total",
        "what-if MONDAY --without cars car=C1",
        "diff MONDAY TUESDAY",
        "diff MONDAY TUESDAY total --where model=Jazz",
        "where MONDAY",
    ],
)
def test_answers_with_rows_have_forms_that_programs_read(tmp_path: Path, command: str) -> None:
    """The same rows as JSON and as CSV, and no drawing in a file called so."""
    monday, tuesday = tables(tmp_path)
    words = [{"MONDAY": monday, "TUESDAY": tuesday}.get(each, each) for each in command.split()]
    answer = json.loads(run(*words, "--json"))
    rows = answer if isinstance(answer, list) else answer.get("rows")
    rows = answer["listed"]["rows"] if rows is None else rows
    run("-q", *words, "--output", str(tmp_path / "answer.csv"))
    text = (tmp_path / "answer.csv").read_text("utf-8")
    listed = list(csv.DictReader(io.StringIO(text)))
    assert len(listed) == len(rows) > 0
    assert "\u2500" not in text
    if command == "rows MONDAY":
        assert listed == [{name: str(value) for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("is_behind", [False, True])
def test_verbose_says_how_long_steps_take_and_quiet_nothing(
    capture: Path, is_behind: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The options are those of all commands, before the name of one or behind it."""
    monkeypatch.setenv("LIPSTICK_TRACEBACK", "")

    def told(option: str) -> str:
        words = ["rows", str(capture)]
        return CliRunner().invoke(main, [*words, option] if is_behind else [option, *words]).stderr

    assert re.match(r"opening .*: \d+\.\d s\n", told("-v"))
    assert told("-q") == ""


def test_help_lists_every_command_once_and_whole() -> None:
    text = run("--help")
    titles = ["Ask:", "Explore:", "Keep:", "Projects:", "Graphs:"]
    assert [line for line in text.splitlines() if line in (*titles, "Others:")] == titles
    context = click.Context(main)
    for name in main.list_commands(context):
        assert len(re.findall(rf"^  {name} ", text, re.M)) == 1
        command = main.get_command(context, name)
        assert command is not None
        assert "..." not in run(name, "--help").partition("Commands:")[2]
    assert "..." not in text.partition("Ask:")[2]
