"""What the graph of a long script costs is measured of a script that is one."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from benchmark_workflowgen.experiments.script_cost import long_script, main


def test_texts_are_joined_until_there_are_enough_lines() -> None:
    text = long_script(["from __future__ import annotations\na = 1\n", "b = a\n"], 7)
    assert [line for line in text.splitlines() if line] == ["a = 1", "b = a", "a = 1"]
    assert "__future__" not in text


def test_the_cost_of_a_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "s.py"
    path.write_text("a = 1\nb = a + 1\n")
    result = CliRunner().invoke(main, [str(path), "--lines", "30", "--runs", "1"])
    assert result.exit_code == 0, result.output
    measured = json.loads(result.output)
    assert measured["lines"] >= 30
    assert measured["initial_nodes"] > measured["nodes"] > 0
