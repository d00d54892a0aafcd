"""The worked example: a model in the shape of the paper's use case, as script, notebook and Spark.

Twelve inputs by month from 1960 to 2000. A cell of an output is traced to files and lines by the
text, and to tuples by inference: the steps are 1:1, so that the order of months tells.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lipstick.systems.scripts import ScriptProvenance, script_provenance
from lipstick.systems.scripts.inference import View, one_to_one

WATER = Path(__file__).parent / "water"

INPUTS = (
    "actual_bare_soil", "actual_transpiration", "country_efficiency", "crop_factor", "households",
    "industry", "irrigated_area", "irrigation_loss", "livestock", "potential_bare_soil",
    "potential_transpiration", "season_length",
)  # fmt: skip

IRRIGATION = frozenset(INPUTS) - {"households", "industry", "livestock"}

MONTHS = [(year, month) for year in range(1960, 2001) for month in range(1, 13)]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The script beside its generated inputs."""
    random = np.random.default_rng(11)
    for name in INPUTS:
        pd.DataFrame(
            {"year": [y for y, _ in MONTHS], "month": [m for _, m in MONTHS],
             "value": random.uniform(1, 2, len(MONTHS))}
        ).to_csv(tmp_path / f"{name}.csv", index=False)  # fmt: skip
    script = tmp_path / "demand.py"
    script.write_text((WATER / "demand.script").read_text())
    return script


def notebook_of(script: Path) -> Path:
    """The script as a notebook: a cell per part that an empty line ends."""
    parts = script.read_text().replace("\n\n\n", "\n\n").split("\n\n")
    cells = [
        {"cell_type": "code", "source": part, "execution_count": number, "outputs": []}
        for number, part in enumerate(parts, 1)
    ]
    path = script.with_suffix(".ipynb")
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}))
    return path


def ran(script: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[float]]:
    monkeypatch.chdir(script.parent)
    exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
    names = ("total", "gross", "return_flow")
    tables = {name: pd.read_csv(script.parent / f"{name}.csv") for name in names}
    return {name: table.iloc[:, 0].tolist() for name, table in tables.items()}


def stems(files: tuple[str, ...]) -> set[str]:
    return {Path(name).stem for name in files}


def test_outputs_are_traced_to_their_files_in_all_three(model: Path) -> None:
    spark = model.parent / "demand_spark.py"
    spark.write_text((WATER / "demand_spark.script").read_text())
    programs: list[tuple[ScriptProvenance, str]] = [
        (script_provenance(model), "csv"),
        (script_provenance(notebook_of(model)), "csv"),
        (script_provenance(spark), "parquet"),
    ]
    for provenance, ending in programs:
        name = provenance.script.main.name
        assert stems(provenance.depends(f"total.{ending}").files) == set(INPUTS), name
        assert stems(provenance.depends(f"gross.{ending}").files) == IRRIGATION, name
        told = provenance.concerns(f"livestock.{ending}")
        assert set(told.files) == {f"total.{ending}"}, name
        assert provenance.depends(f"total.{ending}").certain, name
    lines = {line.text for line in programs[0][0].depends("gross.csv").lines}
    assert "gross = net * efficiency" in lines
    assert "total = gross + industry + households + livestock" not in lines


def test_a_cell_of_an_output_is_traced_to_tuples(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = ran(model, monkeypatch)
    months = View(np.arange(len(MONTHS)))
    ranges = one_to_one(months, months)
    cell = MONTHS.index((1987, 7))
    places, probability = ranges.of(cell)
    assert [MONTHS[index] for index in places] == [(1987, 7)]
    assert probability == 1.0
    files = script_provenance(model).depends("total.csv").files
    for name in files:
        path = model.parent / name
        kept = path.read_text()
        table = pd.read_csv(path)
        table.loc[places[0], "value"] += 1.0
        table.to_csv(path, index=False)
        after = ran(model, monkeypatch)
        change = np.abs(np.array(before["total"]) - np.array(after["total"]))
        differ = np.flatnonzero(change > 1e-6).tolist()
        assert differ == [cell], name
        path.write_text(kept)


def test_the_graph_is_smaller_than_the_initial_one(model: Path) -> None:
    provenance = script_provenance(model)
    assert len(provenance.final.nodes) < 0.55 * provenance.initial_size
    assert provenance.graph().zoom_out("read", "crop_demand", "with_loss").node_count < (
        provenance.graph().node_count
    )
