"""Without the folder of a system, everything else works; nothing else imports it."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lipstick.outer import resolve
from lipstick.systems import SYSTEMS, commands, pages

ROOT = Path(__file__).parents[3]
PACKAGES = ("semiring", "rewriter", "graphquery", "lipstick")
NAMES = [system.name for system in SYSTEMS]

WITHOUT = """
import importlib, json, os, pkgutil, sys
from pathlib import Path

import pyarrow as pa
from click.testing import CliRunner

folder, imported, name = Path(sys.argv[1]), [], sys.argv[2]
for package in json.loads(sys.argv[3]):
    for module in pkgutil.walk_packages([str(folder / package)], f"{package}."):
        if not module.name.endswith("__main__"):
            imported.append(importlib.import_module(module.name).__name__)
assert all(Path(sys.modules[each].__file__).is_relative_to(folder) for each in imported)
assert not [each for each in sys.modules if each.startswith(f"lipstick.systems.{name}")]

import lipstick
from lipstick.cli import main
from lipstick.systems.errors import LipstickError
from lipstick.systems.hooks import stream_tracker, table_exporter
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

help = CliRunner().invoke(main, ["--help"])
assert help.exit_code == 0 and "workflow" in help.stdout, help.output

cars = pa.table({"id": ["C1", "C2", "C3"], "model": ["Accord", "Civic", "Civic"]})
database = Database({"cars": Relation("cars", ("id",), "id string, model string", cars)})
write_capture("SELECT model, count(*) AS n FROM cars GROUP BY model", database, folder / "models")
capture = lipstick.open(folder / "models")
print(json.dumps(sorted(str(annotation) for _, annotation in capture.polynomials())))
print(json.dumps(capture.what_if(delete={"cars": [("C2",)]}).changes.to_pylist(), default=str))
lipstick.explore(folder / "models", to=folder / "models.html")
for hook in (stream_tracker, lambda: table_exporter(folder / "exports")):
    try:
        hook()
    except LipstickError as error:
        print(json.dumps(str(error)))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages, and of the oracles of tests."""
    folder = tmp_path_factory.mktemp("copy")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package)
    (folder / "tests").mkdir()
    shutil.copytree(ROOT / "tests/oracle", folder / "tests/oracle")
    return folder


@pytest.mark.many(4)
@pytest.mark.parametrize("name", NAMES)
def test_the_rest_works_without_a_system(copy: Path, tmp_path: Path, name: str) -> None:
    folder = copy / "lipstick/systems" / name
    folder.rename(tmp_path / name)
    try:
        arguments = [str(copy), name, json.dumps(("graphquery", "lipstick"))]
        # Modules of the copy are compiled once, for all systems.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT, *arguments],
            cwd=copy,
            env={**environment, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        (tmp_path / name).rename(folder)
        shutil.rmtree(copy / "models", ignore_errors=True)
        shutil.rmtree(copy / "exports", ignore_errors=True)
    assert done.returncode == 0, done.stderr
    polynomials, changes, *refused = map(json.loads, done.stdout.splitlines())
    assert polynomials == ["δ(cars:C1)", "δ(cars:C2 + cars:C3)"]
    assert [(change["_change"], change["new"]["n"]) for change in changes] == [
        ("unchanged", 1),
        ("changed", 1),
    ]
    hooks = {"streaming": "tracks streaming data frames", "federation": "exports written tables"}
    assert len(refused) == (name in hooks)
    assert all(hooks[name] in message for message in refused)


MEASUREMENTS = ("benchmark_workflowgen", "tests/benchmark_workflowgen")
PAGES = "tests/lipstick/explorer/systems"
"""Tests of several systems' pages in a browser."""
COMMANDS = "tests/commands"
"""Tests of all commands and pages."""
FORMATS = "tests/table_formats"
"""Tests with real formats of tables, which need packages of their own."""


OF_SEVERAL = (*MEASUREMENTS, PAGES, COMMANDS, FORMATS)


def test_only_a_system_and_its_tests_import_it() -> None:
    wrong = [
        f"{path} imports {module}"
        for package in (*PACKAGES, "tests")
        for path in sorted((ROOT / package).rglob("*.py"))
        if not any(path.is_relative_to(ROOT / each) for each in OF_SEVERAL)
        for module, name in _imported_systems(path, late=package != "tests")
        if not path.is_relative_to(ROOT / "lipstick/systems" / name)
        and not path.is_relative_to(ROOT / "tests/lipstick/systems" / name)
    ]
    assert wrong == []


def _imported_systems(path: Path, *, late: bool) -> Iterator[tuple[str, str]]:
    """Yield the modules of systems that a file imports, and the names of the systems."""
    text = path.read_text(encoding="utf-8")
    if "lipstick.systems" not in text:
        return
    tree = ast.parse(text)
    for node in ast.walk(tree) if late else tree.body:
        modules: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        for module in modules:
            for name in NAMES:
                if f"{module}.".startswith(f"lipstick.systems.{name}."):
                    yield module, name


def test_references_name_what_there_is() -> None:
    references = [command.reference for command in commands()]
    for page in pages():
        references += [each for each in (page.opens, page.shows, page.subject) if each]
    references += [each for system in SYSTEMS for each in (system.tracker, system.exporter) if each]
    assert all(callable(resolve(each)) or each.endswith(":TRACKER") for each in references)
    assert len(references) == len(set(references))
