"""``lipstick why``: values of captures, and checks over files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

import lipstick
from lipstick.cli import main
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """The mean of readings by sensor, of which some are in another unit."""
    unit = np.where(np.arange(60) % 10 == 3, 1000, 1)
    rows = pa.table({"id": np.arange(60), "sensor": ["s", "t"] * 30, "v": 20 * unit})
    relation = Relation("readings", ("id",), "id bigint, sensor string, v bigint", rows)
    sql = "SELECT sensor, avg(v) AS mean FROM readings GROUP BY sensor"
    write_capture(sql, Database({"readings": relation}), tmp_path / "capture")
    return tmp_path / "capture"


def _said(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["why", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_a_value_of_a_capture(capture: Path) -> None:
    text = _said("value", str(capture), "mean", "--where", "sensor=t", "--than", "sensor=s")
    assert text.startswith(
        "Why is the difference of mean of sensor = 't' and of sensor = 's' 3,996"
    )
    document = json.loads(
        _said(
            "value",
            str(capture),
            "mean",
            "--where",
            "sensor=t",
            "--than",
            "20",
            "--too",
            "high",
            "--top",
            "2",
            "--repairs",
            "3",
            "--format",
            "json",
        )
    )
    assert [row["id"] for row in document["top"]] == [3, 13]
    assert (document["repairs"]["size"], document["repairs"]["count"]) == (6, 1)
    assert document["complete"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--where", "sensor"], "write COLUMN=VALUE"),
        (["--where", "sensor=t", "--than", "much"], "is not a number"),
        (["--where", "sensor=u"], "0 rows with sensor = 'u'"),
        (["--where", "sensor=t", "--too", "high", "--corrections"], "readings were not read"),
    ],
)
def test_wrong_input(capture: Path, arguments: list[str], message: str) -> None:
    assert message in _said("value", str(capture), "mean", *arguments, code=2)


@pytest.mark.engines("memory")
def test_a_check_over_files(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A command stops the Spark that it starts; here it must not be this run's.
    open_session = lipstick.session
    monkeypatch.setattr(lipstick, "session", lambda other=None: open_session(other or spark))
    unit = ["K", "C", "C", "C"] * 10
    rows = pa.table({"id": range(40), "unit": unit, "v": [300, 20, 21, 22] * 10})
    pq.write_table(rows, tmp_path / "readings.parquet")
    table = f"readings={tmp_path}/readings.parquet"
    # As docs/howto/orchestrators has tasks call it.
    report, guilty = tmp_path / "report.json", tmp_path / "rows.parquet"
    files = ("--top", "20", "--output", str(report), "--quarantine", str(guilty))
    negative = "SELECT * FROM readings WHERE v > 100"
    _said("check", negative, "--table", table + ":id", *files, code=1)
    document = json.loads(report.read_text())
    assert document["causes"][0]["predicate"] == "unit = 'K'"
    assert {row["id"] for row in document["top"]} == set(range(0, 40, 4))
    assert {*pq.read_table(guilty).column("id").to_pylist()} == set(range(0, 40, 4))
    (tmp_path / "mean.sql").write_text("SELECT avg(v) < 25 AS ok FROM readings;\n")
    text = _said("check", str(tmp_path / "mean.sql"), "--table", table + ":id", code=1)
    assert "where unit = 'K', ok would be true." in text
    # A number is that of failures: one failure is no truth.
    for failures, code in (("v > 100", 1), ("id = 0", 1), ("v > 300", 0)):
        number = f"SELECT count(*) AS failures FROM readings WHERE {failures}"
        document = json.loads(_said("check", number, "--table", table + ":id", "--json", code=code))
        assert document["passes"] == (code == 0)
    missing = "SELECT id, v FROM readings WHERE v < 22 ORDER BY id"
    text = _said("not", missing, "id=4", "--table", table + ":id")
    assert "`readings.v < 22` is false: readings.v is 300." in text
    text = _said("not", missing, "id=4", "--table", table + ":id", "--format", "json")
    assert [reason["operator"] for reason in json.loads(text)["reasons"]] == ["WHERE"]
    good = ("check", "SELECT id FROM readings WHERE v < 0", "--table", table)
    assert "passes" in _said(*good)
    assert json.loads(_said(*good, "--json")) == {"passes": True}
    _said(*good, "--output", str(report))
    assert json.loads(report.read_text()) == {"passes": True}
    limit = {"type": "expect_column_max_to_be_between", "kwargs": {"column": "v", "max_value": 100}}
    exists = {"type": "expect_column_to_exist", "kwargs": {"column": "v"}}
    positive = {
        "type": "expect_column_min_to_be_between",
        "kwargs": {"column": "v", "min_value": 1},
    }
    known = {"column": "v", "value_set": [20, 21, 300]}
    usual = {"type": "expect_column_values_to_be_in_set", "kwargs": known}
    suite = tmp_path / "readings.json"
    suite.write_text(
        json.dumps({"name": "readings", "expectations": [limit, positive, usual, exists]}), "utf-8"
    )
    aside = tmp_path / "aside.parquet"
    documents = ("--gx", str(suite), "--quarantine", str(aside))
    text = _said("check", *documents, "--table", table + ":id", code=1)
    assert "expect_column_to_exist(v) is left out: it is about the columns of a table" in text
    assert "expect_column_max_to_be_between(v) fails: its value is 300, at most 100." in text
    assert "1. Without the 10 rows of readings where unit = 'K'" in text
    assert text.count("1. Without the 10 rows of readings where unit = 'K'") == 1
    # The rows of each check that fails, and one document of all.
    assert {*pq.read_table(aside).column("v").to_pylist()} == {300, 22}
    _said("check", *documents, "--table", table + ":id", "--output", str(report), code=1)
    checks = json.loads(report.read_text())["checks"]
    assert [each["verdict"] for each in checks] == ["fails", "passes", "fails"]
    assert checks[0]["causes"][0]["predicate"] == "unit = 'K'"
    assert "causes" not in checks[1]


def test_checks_that_are_not_there(tmp_path: Path) -> None:
    suite = tmp_path / "s.json"
    kwargs = {"column": "v"}
    expectation = {"type": "expect_column_values_to_be_unique", "kwargs": kwargs}
    suite.write_text(json.dumps({"name": "s", "expectations": [expectation]}), "utf-8")
    assert "No check is named 'mean'" in _said("check", "mean", "--gx", str(suite), code=2)
    assert "The checks read s: say where" in _said("check", "--gx", str(suite), code=2)
    assert "Give a query, or the checks" in _said("check", code=2)
    assert "is not a suite of" in _said("check", "--gx", str(tmp_path / "none.json"), code=2)


@pytest.mark.engines("memory")
@pytest.mark.classic
def test_two_texts_as_a_report_for_a_pull_request(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_session = lipstick.session
    monkeypatch.setattr(lipstick, "session", lambda other=None: open_session(other or spark))
    pq.write_table(pa.table({"id": [1, 2], "area": ["n", "s"]}), tmp_path / "t.parquet")
    pq.write_table(pa.table({"id": [1, 2], "item": [1, None]}), tmp_path / "r.parquet")
    text = _said(
        "diff",
        "SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.item = t.id)",
        "SELECT id FROM t WHERE id NOT IN (SELECT item FROM r)",
        *("--table", f"t={tmp_path}/t.parquet:id", "--table", f"r={tmp_path}/r.parquet:id"),
        "--markdown",
        code=1,
    )
    assert "Of the answer's rows, 1 removed." in text
    assert "The answers differ on 2 rows; no part of them suffices." in text
    assert "| 2 | NULL |" in text
