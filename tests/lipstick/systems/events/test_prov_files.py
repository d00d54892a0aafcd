"""The PROV files in the source distribution of the package prov, which PyPI has."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

from lipstick.systems.events import Settings, reduce_files
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.prov import SUFFIXES


@pytest.mark.slow
def test_all_files_go_through_and_refused_ones_are_named(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:"]
    subprocess.run(
        [*command, "--dest", str(tmp_path), f"prov=={version('prov')}"],
        check=True,
        capture_output=True,
    )
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(tmp_path / "files", filter="data")
    there = sorted((tmp_path / "files").rglob("*"))  # the order says which close a cycle
    files = [each for each in there if each.suffix in SUFFIXES]
    outcome = reduce_files(files, tmp_path / "store", Settings(format="prov"))
    assert len(files) >= 1_500
    letters = read_letters(tmp_path / "store.dead.jsonl")
    assert outcome.dead == len(letters) < len(files) / 2
    # RDF needs an extra of the package; of the others few are refused, on purpose malformed.
    unexplained = [each for each in letters if "[exchange]" not in each.reason]
    assert len(unexplained) < 150
    assert all(each.reason for each in unexplained)
    assert outcome.topics["events"].report.received > 300
