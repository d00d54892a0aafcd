"""What path queries cost, on little: every way gives the same verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from benchmark_workflowgen.cli import main
from benchmark_workflowgen.federation.path_questions import WAYS
from benchmark_workflowgen.federation.stores import GeneratedStores
from benchmark_workflowgen.federation.ways import (
    BATCHED,
    BOUNDARY,
    NAIVE,
    RELEASED,
    SKETCHES,
    Network,
    ReleasedFilters,
    filters_of_stores,
)
from graphquery.federation.crossings.hashing import row_hashes


def test_every_way_is_measured_and_the_boundary_graph_takes_two_rounds(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    options = ["--nodes", "4000", "--stores", "3", "--questions", "4", "--output", str(output)]
    for _ in range(2):  # the second goes on where there is nothing left to do
        result = CliRunner().invoke(main, ["federation", *options])
        assert result.exit_code == 0, result.output
    rows = json.loads(output.read_text())
    assert len(rows) == 2 * len(WAYS)
    by_way = {(row["way"], row["verdict"]): row for row in rows}
    assert rows[0]["least_bytes_per_row"] < rows[0]["boundary_bytes_per_row"]
    yes, no = by_way[BOUNDARY, "yes"], by_way[BOUNDARY, "no"]
    assert yes["most_rounds"] <= 2
    assert yes["beyond"] <= 1
    assert yes["p95_kB"] <= 10
    assert no["p95"] <= 1
    ways = (BOUNDARY, SKETCHES, RELEASED, BATCHED, NAIVE)
    costs = [by_way[way, "yes"]["requests"] for way in ways]
    assert costs == sorted(costs)


def test_released_filters_deny_no_ancestor(tmp_path: Path) -> None:
    paths = GeneratedStores(tmp_path, 3, 4000).run()
    filters = filters_of_stores(paths)
    federation = Network(paths).federation(BOUNDARY)
    random = np.random.default_rng(0)
    held = 0
    for channel, column_filters in filters.items():
        row = int(random.integers(len(column_filters)))
        behind = federation.boundary.reached({channel: np.array([row])}, forwards=False)
        for other, rows in behind.items():
            assert all(
                ReleasedFilters(column_filters[[row]]).may_contain(h[None])
                for h in row_hashes(other, rows)
            )
            held += len(rows)
    assert held > 50
