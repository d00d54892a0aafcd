"""The cluster on one machine: what its logs tell, and what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmark_workflowgen.cli import main
from benchmark_workflowgen.experiments.cluster import shared, telling
from benchmark_workflowgen.results import Results

LOG = """\
26/01/01 10:00:00 INFO Master: Registering worker 127.0.0.1:4041 with 1 cores, 1024.0 MiB RAM
26/01/01 10:00:01 INFO Utils: Successfully started service 'sparkMaster' on port 4040.
26/01/01 10:00:02 INFO Master: Registered app workflowgen with ID app-1
26/01/01 10:00:03 INFO Worker: Asked to launch executor app-1/0 for workflowgen
"""


def test_logs_tell_who_did_what(tmp_path: Path) -> None:
    path = tmp_path / "master.log"
    path.write_text(LOG)
    assert [line.split(": ", 1)[1].split(" ")[0] for line in telling(path)] == [
        "Registering",
        "Registered",
        "Asked",
    ]


def test_temporary_files_are_where_workers_see_them(tmp_path: Path) -> None:
    before = os.environ.get("TMPDIR"), tempfile.gettempdir()
    with shared(tmp_path / "shared"):
        assert Path(tempfile.mkdtemp()).parent == tmp_path / "shared"
        assert os.environ["TMPDIR"] == str(tmp_path / "shared")
    assert (os.environ.get("TMPDIR"), tempfile.gettempdir()) == before


def test_results_that_workers_could_not_see_are_refused() -> None:
    output = "/tmp/results-of-a-cluster"
    done = CliRunner().invoke(main, ["cluster", "--hide-tmp", "--output", output])
    assert done.exit_code == 2
    assert "not below /tmp" in done.output


@pytest.mark.slow
@pytest.mark.classic
@pytest.mark.parametrize("options", [[], ["--connect"]], ids=["classic", "connect"])
def test_smoke_runs_on_two_workers(tmp_path: Path, options: list[str]) -> None:
    command = [sys.executable, "-m", "benchmark_workflowgen", "cluster", "--output", tmp_path]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(Results(tmp_path).read()) == 4
    for worker in ("worker1", "worker2"):
        told = list(telling(tmp_path / "cluster" / f"{worker}.log"))
        assert any("Asked to launch executor" in line for line in told)
