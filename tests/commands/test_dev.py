"""Every command of `./dev` runs, on as little as it takes.

Those that write into the checkout run in a copy of the files that they read. What runs on other
lines of PySpark, which are fetched, is held to be a command that there is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from tests.commands.environment import ROOT

COMMANDS = {
    "setup": "",
    "demo": "--scale 0.01",
    "test": "--quick -k lock",
    "check": "",
    "tables": "--collect-only -q",
    "rings": "core -k test_laws",
    "coverage": "tests/test_lock.py",
    "browser": "",
    "site": "",
    "lock": "",
}
"""What follows a command."""

ON_OTHER_LINES = {"matrix": "4.2.*", "sample": "4.2.*"}

COPIED = ("dev", "docs", "pyproject.toml", "requirements.lock", "tests", "zensical.toml")
WRITING = ("lock", "site")
"""Commands that write into the folder of `dev`."""


@pytest.fixture(scope="module")
def dev() -> ModuleType:
    loader = SourceFileLoader("dev", str(ROOT / "dev"))
    spec = spec_from_loader("dev", loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules["dev"] = module  # its dataclasses and types are looked up there
    loader.exec_module(module)
    return module


def test_every_command_of_dev_is_run(dev: ModuleType) -> None:
    assert set(dev.COMMANDS) == {*COMMANDS, *ON_OTHER_LINES}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_dev(command: str, tmp_path: Path, dev: ModuleType) -> None:
    folder = ROOT
    if command == "browser" and not any(map(shutil.which, dev.BROWSERS)):
        pytest.skip("would install Chromium")
    if command in WRITING:
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, tmp_path / name)
        (tmp_path / ".venv").symlink_to((ROOT / ".venv").resolve())
        folder = tmp_path
    done = subprocess.run(
        [sys.executable, folder / "dev", command, *COMMANDS[command].split()],
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    if command == "lock":
        pins = [
            re.findall(r"^\S+==\S+", (each / "requirements.lock").read_text(), re.M)
            for each in (ROOT, tmp_path)
        ]
        assert pins[0] == pins[1], "./dev lock was not run after a change of pyproject.toml"


@pytest.mark.parametrize("command", ON_OTHER_LINES)
def test_a_command_on_other_lines(
    command: str, dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[list[str]] = []
    monkeypatch.setattr(dev, "set_up", lambda: None)
    monkeypatch.setattr(dev, "older_pyspark", lambda version: Path(sys.executable))
    monkeypatch.setattr(dev, "run", lambda step: steps.append([str(each) for each in step]) or 0)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert dev.COMMANDS[command][0]([ON_OTHER_LINES[command]]) == 0
    assert steps
    for step in steps:
        module = step[step.index("-m") + 1]
        option = "--help" if module == "tests.scoreboard" else "--version"
        words = [sys.executable, "-m", module, option]
        assert subprocess.run(words, cwd=ROOT, capture_output=True, check=False).returncode == 0
        for word in step:
            assert not word.startswith("tests/") or (ROOT / word).exists(), word


def test_a_whole_run_goes_on_where_it_was(dev: ModuleType, tmp_path: Path) -> None:
    """Pytest finds its options although the file of what has passed is there."""
    dev.ROOT, root = tmp_path, dev.ROOT
    try:
        [option] = dev.resumed("tests without Spark", ["--all"])
    finally:
        dev.ROOT = root
    file = Path(option.partition("=")[2])
    assert file == tmp_path / ".cache" / "all" / "tests-without-Spark.txt"
    file.write_text("", "utf-8")
    words = [sys.executable, "-m", "pytest", "--all", option, "--markers"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
