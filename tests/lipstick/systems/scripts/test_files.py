"""Notebooks, modules of the same project, and files that are neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lipstick.systems.scripts import ScriptError, script_provenance


def notebook(path: Path, cells: list[tuple[str, int | None]]) -> Path:
    """Write a notebook of code cells with their execution counts."""
    document = {
        "nbformat": 4, "nbformat_minor": 5, "metadata": {},
        "cells": [{"cell_type": "markdown", "source": ["# Title"]}]
        + [
            {"cell_type": "code", "source": text.splitlines(keepends=True), "outputs": [],
             "execution_count": count}
            for text, count in cells
        ],
    }  # fmt: skip
    path.write_text(json.dumps(document))
    return path


def test_cells_are_read_in_their_order(tmp_path: Path) -> None:
    path = notebook(tmp_path / "n.ipynb", [("a = 1", 2), ("b = a\nc = 2", 3), ("a = 5", 1)])
    provenance = script_provenance(path)
    assert [line.where for line in provenance.depends("b").lines] == [
        "cell 2, line 1", "cell 3, line 1",
    ]  # fmt: skip
    assert [line.where for line in provenance.depends("a").lines] == ["cell 4, line 1"]
    ran = script_provenance(path, order="executed")
    assert [line.where for line in ran.depends("a").lines] == ["cell [2], line 1"]
    assert provenance.graph().modules == ("cell 2", "cell 3", "cell 4")
    graph = provenance.graph()
    assert graph.select(module="cell 3", kind="p").names() == [
        "cell 3#1/=:'b@cell 3, line 1'", "cell 3#1/=:'c@cell 3, line 2'",
    ]  # fmt: skip
    out = graph.zoom_out("cell 3")
    # A constant that nothing else is behind stays, as zooming out is defined.
    assert out.select(module="cell 3", kind="p").names() == ["cell 3#1/=:'c@cell 3, line 2'"]


def test_magics_and_commands_are_not_followed(tmp_path: Path) -> None:
    cells = [("%matplotlib inline\n!wget data.csv\nx = 1", 1), ("%%bash\nls\n", 2), ("y = x", 3)]
    provenance = script_provenance(notebook(tmp_path / "n.ipynb", cells))
    assert [(item.line.where, item.why) for item in provenance.opaque] == [
        ("cell 2, line 2", "a magic or command is not followed"),
        ("cell 3, line 1", "a magic or command is not followed"),
    ]
    assert {line.where for line in provenance.depends("y").lines} == {
        "cell 2, line 3", "cell 4, line 1",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["{}", "[1]", "no", '{"cells": 1}'])
def test_what_is_no_notebook_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(text)
    with pytest.raises(ScriptError, match=r"n\.ipynb is not a notebook"):
        script_provenance(path)


def test_a_notebook_that_never_ran_has_no_executed_order(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"No cell of n\.ipynb has an execution count"):
        script_provenance(notebook(tmp_path / "n.ipynb", [("a = 1", None)]), order="executed")


def test_modules_of_the_project_are_read(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "__init__.py").write_text("")
    (tmp_path / "tools" / "scale.py").write_text(
        "factor = 3\nunused = 1\n\ndef scaled(x):\n    return x * factor\n"
    )
    (tmp_path / "main.py").write_text(
        "from tools.scale import scaled\nimport tools.scale as t\na = 2\nb = scaled(a)\n"
        "t.factor = 4\nc = t.unused\n"
    )
    provenance = script_provenance(tmp_path / "main.py")
    lines = [(line.file, line.number) for line in provenance.depends("b").lines]
    assert lines == [
        ("main.py", 1), ("main.py", 3), ("main.py", 4), ("tools/scale.py", 1),
        ("tools/scale.py", 4), ("tools/scale.py", 5),
    ]  # fmt: skip
    assert [line.number for line in provenance.depends("tools/scale.py:5").lines]
    assert provenance.concerns("tools/scale.py:1").variables == ("b",)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="No such file"):
        script_provenance(tmp_path / "none.py")
    (tmp_path / "latin.py").write_bytes("x = 'é'".encode("latin-1"))
    with pytest.raises(ScriptError, match="is not UTF-8"):
        script_provenance(tmp_path / "latin.py")


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        ("totl", "has no variable or file 'totl'.\nDid you mean total"),
        ("total@2", "line 2 makes no version of total.\nLines 1 do"),
        ("none@2", "no line makes a version of none"),
        (9, "has 3 lines, and no line 9"),
        (2, "computes nothing that is reached: '# nothing'"),
        ("other.py:1", "reads no file 'other.py'"),
    ],
)
def test_what_a_script_does_not_have_is_named(
    tmp_path: Path, criterion: str | int, message: str
) -> None:
    (tmp_path / "s.py").write_text("total = 1\n# nothing\n")
    with pytest.raises(ScriptError) as caught:
        script_provenance(tmp_path / "s.py").depends(criterion)
    assert message in str(caught.value)
