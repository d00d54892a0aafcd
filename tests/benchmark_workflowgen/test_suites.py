"""Texts and tables of the SQL suites."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark_workflowgen.errors import BenchmarkError
from benchmark_workflowgen.suites import tables, texts


def test_the_texts_of_tpch_are_here() -> None:
    assert list(texts("tpch", None)) == [f"Q{number}" for number in range(1, 23)]


def test_the_texts_of_tpcds_are_read_from_a_folder(tmp_path: Path) -> None:
    for name in ("10", "2", "1"):
        (tmp_path / f"{name}.sql").write_text(f"SELECT {name}")
    queries = texts("tpcds", tmp_path)
    assert list(queries.items()) == [("Q1", "SELECT 1"), ("Q2", "SELECT 2"), ("Q10", "SELECT 10")]


@pytest.mark.parametrize("folder", [None, Path("missing")])
def test_the_texts_of_tpcds_are_asked_for(folder: Path | None) -> None:
    with pytest.raises(BenchmarkError, match="give 'texts'"):
        texts("tpcds", folder)


def test_tables_are_taken_from_a_folder(tmp_path: Path) -> None:
    assert tables("tpch", 1, tmp_path, tmp_path / "cache") == tmp_path
    with pytest.raises(BenchmarkError, match="not a folder of tables"):
        tables("tpch", 1, tmp_path / "missing", tmp_path)
    (tmp_path / "tpch-0.1").mkdir()
    assert tables("tpch", 0.1, None, tmp_path) == tmp_path / "tpch-0.1"
