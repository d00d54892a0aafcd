"""Cells and modules that are not Python are opaque places, and deep texts are read or refused."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from lipstick.systems.scripts import (
    ScriptError,
    script_provenance,
    text_provenance,
)


def notebook(folder: Path, *cells: str, language: str = "python") -> Path:
    path = folder / "n.ipynb"
    held = [{"cell_type": "code", "source": cell, "execution_count": 1} for cell in cells]
    document = {"cells": held, "metadata": {"kernelspec": {"language": language}}}
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("cell", "opaque"),
    [
        ("for x in\n    print(", True),
        ("! pip install \\\n    one \\\n    two\ny = 3", True),
        ("x??", False),
        ("os.path?", False),
        (";", False),
        ("    y = 2\n    z = 3", False),
        ("   %%bigquery frame\n   SELECT 1", True),
        ("%%R\nx <- 1", True),
    ],
)
def test_one_cell_does_not_reject_a_notebook(tmp_path: Path, cell: str, opaque: bool) -> None:
    provenance = script_provenance(notebook(tmp_path, "x = 1", cell, "a = x + 1"))
    answer = provenance.depends("a")
    assert {line.text for line in answer.lines} == {"x = 1", "a = x + 1"}
    assert answer.certain is not opaque
    assert any("magic or command" in item.why for item in provenance.opaque) is opaque
    ast.parse(provenance.slice("a"))


def test_a_notebook_of_another_language_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="a notebook of R, not of Python"):
        script_provenance(notebook(tmp_path, "x <- 1", language="R"))


def test_an_import_that_does_not_parse_is_an_opaque_place(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("def f(:\n")
    (tmp_path / "s.py").write_text("import helpers\nx = 1\ny = helpers.f(x)\n")
    provenance = script_provenance(tmp_path / "s.py")
    assert provenance.depends("x").certain
    assert not provenance.depends("y").certain


def test_a_script_is_read_in_the_encoding_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "s.py"
    path.write_bytes("# -*- coding: latin-1 -*-\ntext = 'Köln'\n".encode("latin-1"))
    assert script_provenance(path).depends("text").lines[0].text == "text = 'Köln'"
    path.write_bytes("text = 'Köln'\n".encode("latin-1"))
    with pytest.raises(ScriptError):
        script_provenance(path)


def test_long_chains_are_read_and_what_is_too_deep_is_refused() -> None:
    additions = text_provenance("x = " + " + ".join(["1"] * 900) + "\n")
    assert additions.depends("x").certain
    text = "y = 0\nif y == 0:\n    x = 0\n"
    text += "".join(f"elif y == {number}:\n    x = {number}\n" for number in range(800))
    assert len(text_provenance(text).depends("x").lines) == 1603
    for deep in ("-" * 10_000 + "1", "+".join(["1"] * 40_000)):
        with pytest.raises(ScriptError, match="deeper than Python"):
            text_provenance(f"x = {deep}\n")


def test_columns_that_are_assigned_one_after_the_other_are_read_in_linear_time() -> None:
    def edges(count: int) -> int:
        text = "import pandas as pd\ndf = pd.read_csv('a.csv')\n"
        text += "".join(f"df['c{number}'] = df['a'] + {number}\n" for number in range(count))
        return sum(1 for _ in text_provenance(text).final.edges())

    assert edges(200) < 2.1 * edges(100)
