"""The report of a folder of results: one HTML page with pictures and the tables behind them."""

from __future__ import annotations

from pathlib import Path

from benchmark_workflowgen.report.page import page
from benchmark_workflowgen.report.sections import sections
from benchmark_workflowgen.results import Results

__all__ = ["write_report"]


def write_report(folder: Path) -> Path:
    """Write `report.html` into a folder of results, and return its path.

    Raises
    ------
    ValueError
        For a folder without results.
    ImportError
        Without matplotlib, which comes with the extra `bench`.
    """
    results = Results(folder).read()
    if not results:
        raise ValueError(f"{folder} has no results: run a grid with --output {folder} first.")
    path = folder / "report.html"
    path.write_text(page(results, sections(results)), encoding="utf-8")
    return path
