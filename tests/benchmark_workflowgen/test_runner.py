"""The runner and its command line, on what needs no Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from benchmark_workflowgen.cli import main
from benchmark_workflowgen.measure.rows import Measurement
from benchmark_workflowgen.results import Results

GRID = """
[[experiment]]
name = "generated"
kind = "graph"
repetitions = 2
nodes = [20_000, 40_000]
graph_repetitions = 1
"""


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.toml"
    path.write_text(GRID)
    return path


def _call(*arguments: object) -> str:
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_run_measures_every_case(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _call("run", "--grid", grid, "--output", out)
    assert (out / "grid.toml").read_text() == GRID
    results = Results(out).read()
    assert [(r.parameters["nodes"], r.repetition) for r in results] == [
        (20_000, 0),
        (40_000, 0),
        (20_000, 1),
        (40_000, 1),
    ]
    for result in results:
        assert {"cores", "memory_bytes", "commit", "packages"} <= set(result.environment)
        measured = {row.measure: row.value for row in result.measurements}
        assert measured["nodes"] == pytest.approx(result.parameters["nodes"], rel=0.1)
        assert measured["zoom out of all modules"] > 0
    table = pq.read_table(out / "results.parquet")
    assert set(table["experiment"].to_pylist()) == {"generated"}
    assert json.loads(table["parameters"][0].as_py()) == {"graph_repetitions": 1, "nodes": 20_000}


def test_a_run_that_was_stopped_goes_on(grid: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _call("run", "--grid", grid, "--output", out)
    before = {path: path.stat().st_mtime_ns for path in sorted((out / "cases").iterdir())}
    missing = list(before)[1]
    missing.unlink()
    (out / "cases" / "half.unfinished").write_text("{")
    _call("run", "--grid", grid, "--output", out)
    after = {path: path.stat().st_mtime_ns for path in (out / "cases").glob("*.json")}
    assert set(after) == set(before)
    assert [path for path in before if after[path] != before[path]] == [missing]


def test_presets_and_kinds_are_listed() -> None:
    output = _call("list")
    for word in ("smoke", "paper", "scale", "figure 5a", "dealerships", "tpcds"):
        assert word in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--preset or --grid"),
        (["--preset", "smoke", "--master", "a", "--remote", "b"], "not both"),
        (["--preset", "smoke", "--only", "boats"], "no experiment 'boats'"),
        (["--preset", "paper", "--only", "figure 5c", "--master", "spark://a:1"], "leave 'cores'"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["run", "--output", str(tmp_path), *arguments])
    assert done.exit_code != 0
    assert message in done.output


def test_a_result_is_stored_whole(tmp_path: Path, grid: Path) -> None:
    from benchmark_workflowgen.grid import read_grid

    results = Results(tmp_path / "out")
    results.begin(grid)
    [case, *_] = read_grid(grid)
    row = Measurement("execution", "plain", 1.5, "s", 3)
    assert not results.is_done(case)
    results.store(case, 2.0, [row], {"cores": 2})
    assert results.is_done(case)
    [stored] = results.read()
    assert stored.measurements == (row,)
    assert (stored.seconds, stored.environment) == (2.0, {"cores": 2})


@pytest.mark.parametrize(
    "command",
    ["run --preset smoke --only tpch", "questions", "short-queries", "worker-cost"],
)
def test_without_java_a_command_ends_with_a_line(command: str, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "benchmark_workflowgen", *command.split()]
    output = ["--output", str(tmp_path / "out")] if command.startswith("run") else []
    settings = {k: v for k, v in os.environ.items() if k not in ("JAVA_HOME", "SPARK_REMOTE")}
    done = subprocess.run(
        [*words, *output],
        env={**settings, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "There is no Java on the PATH." in done.stderr
    assert len(done.stderr.splitlines()) <= 4
