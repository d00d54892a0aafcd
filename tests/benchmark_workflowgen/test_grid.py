"""Grids: crossed into cases, and refused where they ask for what there is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmark_workflowgen.arctic import ArcticStations
from benchmark_workflowgen.errors import BenchmarkError
from benchmark_workflowgen.grid import PRESETS, preset, read_grid, text_of, workload_of


def _grid(folder: Path, text: str, name: str = "grid.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


ARCTIC = """
[[experiment]]
name = "b"
kind = "arctic"
repetitions = 2
seed = 5
stations = [2, 3]
topology = ["serial", "dense"]
fan_out = 2
cores = 1
"""


def test_lists_are_crossed_within_a_repetition(tmp_path: Path) -> None:
    cases = read_grid(_grid(tmp_path, ARCTIC))
    settings_asked = [
        (case.repetition, case.parameters["stations"], case.parameters["topology"])
        for case in cases
    ]
    settings = [(2, "serial"), (2, "dense"), (3, "serial"), (3, "dense")]
    assert settings_asked == [
        (repetition, *setting) for repetition in (0, 1) for setting in settings
    ]
    assert len({case.identity for case in cases}) == 8
    assert cases[0].spark == (1, None)


def test_repetitions_have_histories_of_their_own(tmp_path: Path) -> None:
    cases = read_grid(_grid(tmp_path, ARCTIC))
    first, second = workload_of(cases[0]), workload_of(cases[4])
    assert first == ArcticStations(stations=2, topology="serial", fan_out=2, seed=5)
    assert second == ArcticStations(stations=2, topology="serial", fan_out=2, seed=6)


def test_a_case_has_one_name_however_the_grid_is_read(tmp_path: Path) -> None:
    yaml = """
experiment:
- {name: b, kind: arctic, cores: 1, topology: [serial, dense], stations: [2, 3], fan_out: 2,
   seed: 5, repetitions: 2}
"""
    first = read_grid(_grid(tmp_path, ARCTIC))
    second = read_grid(_grid(tmp_path, yaml, "grid.yaml"))
    assert {case.identity for case in first} == {case.identity for case in second}


def test_a_query_is_a_case_and_a_list_of_variants_is_one_value(tmp_path: Path) -> None:
    text = '[[experiment]]\nname = "q"\nkind = "tpch"\nquery = ["Q1", "Q6"]\nvariants = ["plain"]\n'
    cases = read_grid(_grid(tmp_path, text))
    assert [dict(case.parameters) for case in cases] == [
        {"query": "Q1", "variants": ["plain"]},
        {"query": "Q6", "variants": ["plain"]},
    ]
    assert "returnflag" in text_of(cases[0])


def test_all_queries_are_meant_where_none_is_named(tmp_path: Path) -> None:
    text = '[[experiment]]\nname = "q"\nkind = "tpch"\nscale = [0.1, 1]\n'
    cases = read_grid(_grid(tmp_path, text))
    every = [(scale, f"Q{number}") for scale in (0.1, 1) for number in range(1, 23)]
    assert [(case.parameters["scale"], case.parameters["query"]) for case in cases] == every


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("experiment = 3", "has no experiments"),
        ("[[experiment]\n", r"grid\.toml"),
        ('[[experiment]]\nname = "x"\nkind = "boats"\n', "kind boats.*one of the kinds"),
        ('[[experiment]]\nkind = "graph"\n', "a name"),
        ('[[experiment]]\nname = "x"\nkind = "graph"\ncars = 3\n', "parameter 'cars'"),
        ('[[experiment]]\nname = "x"\nkind = "dealerships"\ncars = -3\n', "not negative"),
        ('[[experiment]]\nname = "x"\nkind = "arctic"\ntopology = "ring"\n', "not 'ring'"),
        ('[[experiment]]\nname = "x"\nkind = "graph"\nrepetitions = 0\n', "whole numbers"),
        ('[[experiment]]\nname = "x"\nkind = "tpch"\nquery = "Q23"\n', "no 'Q23'; there are Q1,"),
        ('[[experiment]]\nname = "x"\nkind = "tpcds"\n', "x: The texts of TPC-DS are not"),
        ('[[experiment]]\nname = "x"\nkind = "tpch"\nvariants = ["fast"]\n', "no 'fast'"),
        (
            '[[experiment]]\nname = "x"\nkind = "arctic"\nvariants = ["copy"]\n',
            "are plain, tracked",
        ),
    ],
)
def test_what_there_is_not_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        read_grid(_grid(tmp_path, text))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_grids(name: str) -> None:
    cases = read_grid(preset(name))
    assert len({case.identity for case in cases}) == len(cases)


def test_the_paper_is_asked_for_with_its_parameters() -> None:
    cases = read_grid(preset("paper"))
    stations = {c.parameters["stations"] for c in cases if c.kind == "arctic"}
    assert (min(stations), max(stations)) == (2, 24)
    cars = {c.parameters["cars"] for c in cases if c.experiment == "figure 5a"}
    assert cars == {5_000}
