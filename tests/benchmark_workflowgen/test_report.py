"""The report: means and ratios of results, the paper's numbers beside them, and pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmark_workflowgen.grid import Case
from benchmark_workflowgen.measure.rows import Measurement
from benchmark_workflowgen.report import write_report
from benchmark_workflowgen.report.sections import geometric_mean, settings
from benchmark_workflowgen.results import Results

ENVIRONMENT = {"cores": 2, "load_average": [0.5, 0, 0]}


def _store(
    results: Results, case: Case, rows: Iterable[tuple[str, str, float, int | None]]
) -> None:
    measurements = [
        Measurement(name, variant, value, "s", position) for name, variant, value, position in rows
    ]
    results.store(case, 1.0, measurements, ENVIRONMENT)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    grid = tmp_path / "given.toml"
    grid.write_text("")
    filled = Results(tmp_path / "out")
    filled.begin(grid)
    for repetition in (0, 1):
        parameters = {"cars": 5_000, "executions": 10, "acceptance": 0}
        case = Case("figure 5a", "dealerships", parameters, repetition, 1)
        rows = [
            (name, variant, base + position + repetition, position)
            for name, variant, base in (("execution", "plain", 1), ("execution", "tracked", 2))
            for position in range(2)
        ]
        _store(filled, case, [*rows, ("executions", "tracked", 2, None)])
    for topology in ("parallel", "serial"):
        shape = {"stations": 24, "topology": topology, "selectivity": "month"}
        graph = [("nodes", 1e5), ("edges", 2e5), ("load and build", 0.2), ("subgraph of 1 node", 0)]
        _store(
            filled,
            Case("figure 5b", "arctic", shape, 0, 1),
            [
                ("execution", "plain", 2, 0),
                ("execution", "tracked", 2.5, 0),
                *((name, "graph", value, None) for name, value in graph),
            ],
        )
    for cores in (1, 2):
        _store(
            filled,
            Case("figure 5c", "dealerships", {"cars": 10, "cores": cores}, 0, 1),
            [("execution", "plain", 4 / cores, 0), ("execution", "tracked", 8 / cores, 0)],
        )
    for query in ("Q1", "Q6"):
        times = [
            (query, variant, seconds, None)
            for variant, seconds in (("plain", 1.0), ("copy", 2.0), ("asked", 0.1))
        ]
        _store(filled, Case("TPC-H", "tpch", {"scale": 1, "query": query}, 0, 1), times)
    refused = ("Q9 refused", "tracked", 1.0, None)
    _store(filled, Case("TPC-H", "tpch", {"scale": 1, "query": "Q9"}, 0, 1), [refused])
    return filled


def test_means_are_over_repetitions(results: Results) -> None:
    [setting] = settings(r for r in results.read() if r.experiment == "figure 5a")
    assert len(setting.results) == 2
    assert setting.series("execution", "plain") == ([0, 1], [1.5, 2.5])
    assert setting.mean("execution", "tracked") == 3.0
    assert setting.ratio("execution", "tracked", "plain") == 1.5
    assert setting.ratio("execution", "tracked", "untried") is None


def test_a_geometric_mean_is_of_ratios() -> None:
    assert geometric_mean([1, 4]) == pytest.approx(2)


def test_the_page_has_figures_tables_and_the_papers_numbers(results: Results) -> None:
    pytest.importorskip("matplotlib")
    text = write_report(results.folder).read_text()
    titles = re.findall("<h2>(.*?)</h2>", text)
    assert titles == [
        "figure 5a",
        "figure 5b",
        "figure 5b: graphs",
        "figure 5c",
        "figure 5c: parallelism",
        "TPC-H, scale 1",
        "Where this was measured",
    ]
    assert "2.7 s → 7.0 s, 2.6×" in text
    assert "1.17×" in text or "1.16×" in text
    assert "1.35×" in text
    assert "cores 2</td><td>50</td><td>50</td>" in text
    assert "Refused, and not measured: Q9." in text
    assert text.count("data:image/svg+xml;base64,") == 7
    assert not re.findall(r'(?:src|href)="(?!data:)', text)
    assert "load average 0.5 to 0.5" in text


def test_the_same_results_give_the_same_page(results: Results) -> None:
    pytest.importorskip("matplotlib")
    first = write_report(results.folder).read_text()
    assert write_report(results.folder).read_text() == first


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no results"):
        write_report(tmp_path)
