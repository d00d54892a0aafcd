"""What path queries cost, on little: every way gives the same verdicts."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from benchmark_workflowgen.cli import main


def test_every_way_is_measured_and_the_boundary_graph_takes_two_rounds(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    options = ["--nodes", "4000", "--stores", "3", "--questions", "8", "--output", str(output)]
    result = CliRunner().invoke(main, ["federation", *options, "--latency", "0"])
    assert result.exit_code == 0, result.output
    rows = json.loads(output.read_text())
    found = {(row["way"], row["verdict"]): row for row in rows}
    yes = found["boundary graph", "yes"]
    assert yes["rounds"] <= 2
    assert yes["beyond"] <= 1
    assert found["boundary graph", "no"]["p95"] <= 1
    ways = ("boundary graph", "sketches", "batched per store and round")
    costs = [found[way, "yes"]["requests"] for way in (*ways, "a request per crossing row")]
    assert costs == sorted(costs)
