"""The experiments on streams, on little: each gives what it says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmark_workflowgen.cli import main

SMALL = """
[storage]
events_ = 6000
components = [2, 5]
payloads = [1000]
batch = 3000

[throughput]
kinds = ["map", "window 20"]
components = [3]
payload = 10
batches = [100]
work = { "0" = 200, "1" = 100 }

[memory]
kinds = ["window 100"]
components = [3]
events_ = 2000
batch = 100

[latency]
kinds = ["map"]
components = [2]
events_ = 50

[questions]
events_ = 2000
batches = [500]
questions = 3
"""


def test_every_experiment_runs(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    output = tmp_path / "results.json"
    options = ["--parameters", str(tmp_path / "small.toml"), "--output", str(output)]
    result = CliRunner().invoke(main, ["streams", *options])
    assert result.exit_code == 0, result.output
    experiments = json.loads(output.read_text())
    assert list(experiments) == ["storage", "throughput", "memory", "latency", "questions"]
    for row in experiments["storage"]:
        assert 0 < row["optimised MB"] < row["full MB"]
        assert row["saved"] == pytest.approx(row["by formula"], abs=0.05)
    worked = [row for row in experiments["throughput"] if row["work ms"] == 1.0]
    assert [(row["kind"], row["plain us"] >= 2000) for row in worked] == [("map", True)]
    assert experiments["memory"][0]["held events"] == 101
    assert experiments["questions"][0]["results/s together"] > 0
