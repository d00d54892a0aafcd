"""The preset `inference` runs, and its figures are those of the methods."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from benchmark_workflowgen.experiments.inference import main
from benchmark_workflowgen.harness import preset_values


def test_the_preset_measures_both_figures(tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    result = CliRunner().invoke(main, ["--runs", "2", "--units", "4000", "--output", str(target)])
    assert result.exit_code == 0, result.output
    figures = json.loads(target.read_text())
    assert len(figures["fig14"]) == len(preset_values("inference")["accuracy"]["settings"]) == 3
    for row in figures["fig14"]:
        shares = {name: each["mean"] for name, each in row["measured"].items()}
        assert shares["posterior, learned grid"] > 99
        assert shares["posterior"] > shares["basic, mean delay - 1"]
    tumbling, sliding = figures["fig15"]
    assert sliding["explicit"] > 1.5 * tumbling["explicit"]
    assert sliding["inference"] == tumbling["inference"]
