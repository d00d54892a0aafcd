"""The commands of the benchmark that need tables with versions, on a few rows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.table_formats.conftest import JARS

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["statements", "--rows", "200", "--statements", "2"],
        ["erasure", "--rows", "200", "--erased", "2"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_experiment_runs(arguments: list[str], tmp_path: Path) -> None:
    if JARS not in os.environ:
        pytest.skip("needs the jars of Delta and Iceberg: ./dev tables")
    searched = os.pathsep.join([*filter(None, sys.path), str(ROOT)])
    options = ["--jars", os.environ[JARS], "--memory", "1g", "--output", "out.json"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmark_workflowgen", *arguments, *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": searched},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((tmp_path / "out.json").read_text())["results"]
