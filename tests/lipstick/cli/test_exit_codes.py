"""Exit codes of every command: what is no verdict about data is 2, in a few lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from lipstick.cli import main
from lipstick.systems import SYSTEMS, installed
from tests.lipstick.cli.walk import arguments, leaves, run

ROOT = Path(__file__).parents[3]
MOST_LINES = 4
NEED_NOTHING = ("federation demo", "stream demo")
"""Commands that do their work without a file that they are given, and without Java."""


def walk(
    folder: Path,
    commands: Sequence[Sequence[str]],
    without: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Call commands in a process whose PATH is a folder; return what each came to."""
    hidden = ("JAVA_HOME", "SPARK_REMOTE", "SPARK_HOME", "LIPSTICK_TRACEBACK")
    settings = {key: value for key, value in os.environ.items() if key not in hidden}
    path = folder / "path"
    path.mkdir(exist_ok=True)
    asked = {"commands": commands, "without": without}
    done = subprocess.run(
        [sys.executable, "-m", "tests.lipstick.cli.walk", json.dumps(asked)],
        env={**settings, "PATH": str(path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def every_command() -> list[list[str]]:
    """Return a call of every command, with names of nothing."""
    paths = [path for path in leaves(main) if " ".join(path) not in NEED_NOTHING]
    assert len(paths) > (60 if installed() == SYSTEMS else 30)
    return [arguments(path) for path in paths]


def wrong(outcomes: Sequence[dict[str, Any]], words: str = "") -> list[str]:
    """Return the outcomes that are no exit code of 2 with a few lines, which have some words."""
    return [
        f"{' '.join(each['words'])}: {each['code']}\n{each['output']}"
        for each in outcomes
        if each["code"] != 2
        or len(each["output"].splitlines()) > MOST_LINES
        or words not in each["output"]
    ]


@pytest.fixture
def starting(tmp_path: Path) -> list[list[str]]:
    """Calls of every command that starts Spark, as far as its start."""
    folder = tmp_path / "inputs"
    folder.mkdir()
    CliRunner().invoke(main, ["dbt", "example", str(folder / "shop")])
    shop, table = str(folder / "shop"), folder / "t.parquet"
    pq.write_table(pa.table({"id": [1, 2], "v": [3, 4]}), table)
    plan, pipeline, workflow = folder / "plan.json", folder / "p.yaml", folder / "w.yaml"
    plan.write_text(json.dumps({"spark": {}, "tables": []}))
    pipeline.write_text("sources:\n  t: {table: t, key: id}\n")
    workflow.write_text(
        "workflow: w\n"
        "specifications:\n"
        "  s:\n"
        "    input: {A: {columns: {a: int}, key: a}}\n"
        "    output: {B: {columns: {a: int}, key: a}}\n"
        "    query_output: {B: SELECT a FROM A}\n"
        "modules: {m: s}\n"
    )
    (folder / "inputs.json").write_text("[]")
    signed = ["--key", str(folder / "key"), "--receipt", str(folder / "receipt")]
    t = ["--table", f"t={table}:id"]
    calls = [
        ["demo"],
        ["why", "check", "SELECT 1", *t],
        ["why", "not", "SELECT * FROM t", "v=5", *t],
        ["why", "diff", "SELECT * FROM t", *t],
        ["dbt", "check", shop],
        ["dbt", "why", shop, "customers"],
        ["dbt", "impact", shop, "raw_orders", "--where", "true"],
        ["dbt", "run", shop, str(folder / "run")],
        ["dbt", "openlineage", shop],
        ["dbt", "diff", shop, "--state", str(folder / "shop" / "target")],
        ["pipeline", "check", str(folder)],
        ["pipeline", "why", str(folder), "t"],
        ["pipeline", "impact", str(folder), "t", "--where", "true"],
        ["erase", "plan", str(pipeline), "--where", "t:id = 1", "--output", str(folder / "out")],
        ["erase", "apply", str(plan)],
        ["erase", "verify", str(plan), *signed],
        ["events", "demo", str(folder / "events"), "--spark", "local[2]", "--tweets", "10"],
        ["events", "reduce", str(folder), "--store", str(folder / "s"), "--spark", "local[2]"],
        ["stream", "demo", "--spark"],
    ]
    there = {path[0] for path in leaves(main)}
    return [call for call in calls if call[0] in there]


def test_commands_without_java(starting: list[list[str]], tmp_path: Path) -> None:
    """All of them, with names of nothing; and those that start Spark, with what they need."""
    outcomes = walk(tmp_path, [*every_command(), *starting])
    assert wrong(outcomes) == []
    assert wrong(outcomes[-len(starting) :], "There is no Java on the PATH.") == []


def test_commands_with_an_old_java(starting: list[list[str]], tmp_path: Path) -> None:
    java = tmp_path / "path" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    outcomes = walk(tmp_path, starting)
    assert wrong(outcomes, "The Java on the PATH is version 11.") == []


def test_commands_without_pyspark(starting: list[list[str]], tmp_path: Path) -> None:
    outcomes = walk(tmp_path, [*every_command(), *starting], without=["pyspark"])
    assert wrong(outcomes) == []
    assert wrong(outcomes[-len(starting) :], "is not installed.") == []


@pytest.mark.parametrize("name", ["answer.csv", "answer.xlsx", "answer.parquet"])
def test_tables_are_not_drawn_into_files_of_other_formats(name: str, tmp_path: Path) -> None:
    outcome = run(["why", "not", "SELECT 1", "--output", str(tmp_path / name), "x=1"])
    assert outcome["code"] == 2
    assert f"this command writes no {name.partition('.')[2].upper()}" in str(outcome["output"])
    assert not (tmp_path / name).exists()
