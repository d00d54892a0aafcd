"""sqlglot with compiled modules beside its sources."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

import pytest

PARSES = "import rewriter.dialect.sparksql as d; print(d.parse('SELECT 1 AS a').named_selects)"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder with a sqlglot whose compiled parser is not a module: who imports it fails."""
    spec = find_spec("sqlglot")
    assert spec is not None
    assert spec.origin is not None
    source, copy = Path(spec.origin).parent, tmp_path / "sqlglot"
    for path in source.rglob("*.py"):
        link = copy / path.relative_to(source)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    for name in ("parser", "parsers/spark"):
        (copy / f"{name}{EXTENSION_SUFFIXES[0]}").touch()
    return tmp_path


def run(code: str, packages: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{Path.cwd()}"}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )


def test_sources_are_imported_where_compiled_modules_lie_beside_them(packages: Path) -> None:
    assert "ImportError" in run("import sqlglot", packages).stderr
    assert run(PARSES, packages).stdout == "['a']\n"


def test_modules_that_are_compiled_already_are_an_error_with_what_to_do(packages: Path) -> None:
    compiled = (
        "import sys, types, importlib.machinery as m; module = types.ModuleType('sqlglot.parser');"
        " module.__loader__ = m.ExtensionFileLoader('sqlglot.parser', '');"
        " sys.modules['sqlglot.parser'] = module; "
    )
    assert "pip uninstall sqlglotc" in run(compiled + PARSES, packages).stderr
