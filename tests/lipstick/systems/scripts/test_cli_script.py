"""``lipstick script`` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lipstick.cli import main

TEXT = "import pandas as pd\na = pd.read_csv('in.csv')\nb = a * 2\nc = 1\nb.to_csv('out.csv')\n"


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "s.py"
    path.write_text(TEXT)
    return str(path)


def ran(*arguments: str, code: int = 0, given: str | None = None) -> str:
    result = CliRunner().invoke(main, ["script", *arguments], input=given)
    assert result.exit_code == code, result.output
    return result.output


def test_graph_tells_what_there_is(script: str) -> None:
    document = json.loads(ran("graph", script, "--format", "json"))
    assert (document["inputs"], document["outputs"]) == (["in.csv"], ["out.csv"])
    assert document["variables"] == ["a", "b", "c"]
    text = ran("graph", script)
    assert "inputs: in.csv" in text
    assert "view_into_computing" in text


def test_graph_is_exported(script: str, tmp_path: Path) -> None:
    assert ran("graph", script, "--to", "dot").startswith("digraph")
    assert "document" in ran("graph", script, "--to", "prov-n")
    assert json.loads(ran("graph", script, "--to", "prov-json"))["entity"]
    target = tmp_path / "g.graphml"
    ran("graph", script, "--to", "graphml", "--output", str(target))
    assert "graphml" in target.read_text()
    assert "give --output" in ran("graph", script, "--to", "graphml", code=2)


def test_depends_goes_back_and_forward(script: str) -> None:
    back = json.loads(ran("depends", script, "out.csv", "--format", "json"))
    assert [line["line"] for line in back["lines"]] == ["1", "2", "3", "5"]
    assert back["files"] == ["in.csv"]
    assert back["certain"] is True
    forward = json.loads(ran("depends", script, "in.csv", "--forward", "--format", "json"))
    assert forward["files"] == ["out.csv"]
    assert "b = a * 2" in ran("depends", script, "b")
    assert "has no variable or file 'd'" in ran("depends", script, "d", code=2)


def test_slice_is_a_text(script: str) -> None:
    assert ran("slice", script, "c") == "\n\n\nc = 1\n\n"


def test_diff_compares_two_files(script: str, tmp_path: Path) -> None:
    new = tmp_path / "t.py"
    new.write_text(TEXT.replace("* 2", "* 3"))
    document = json.loads(ran("diff", script, str(new), "--format", "json"))
    assert document["changed"] == ["b", "out.csv"]
    assert "b = a * 3" in ran("diff", script, str(new))


def test_what_is_assumed_and_not_followed_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.py"
    path.write_text("import soils\na = soils.mix(1)\n")
    told = ran("depends", str(path), "a")
    assert "Assumed:" in told
    assert "nothing is known of soils.mix" in told
    file = tmp_path / "facts.yaml"
    ran("graph", str(path), "--ask", "--answers", str(file), given="\n\n1:1\n")
    assert "Assumed" not in ran("depends", str(path), "a", "--facts", str(file))


def test_a_script_that_does_not_parse_is_a_wrong_input(tmp_path: Path) -> None:
    path = tmp_path / "s.py"
    path.write_text("a = (\n")
    assert "s.py:1:5" in ran("graph", str(path), code=2)
