"""A folder of results: a JSON file per case that is done, and all of them as one Parquet table.

grid.toml           the grid as it was asked for
cases/<id>.json     a case, its measurements, and the environment it ran in
results.parquet     the same as rows, written by `report`
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmark_workflowgen.grid import Case
from benchmark_workflowgen.measure.rows import Measurement

SCHEMA = pa.schema(
    [
        ("experiment", pa.string()),
        ("kind", pa.string()),
        ("parameters", pa.string()),
        ("repetition", pa.int32()),
        ("measure", pa.string()),
        ("variant", pa.string()),
        ("position", pa.int64()),
        ("value", pa.float64()),
        ("unit", pa.string()),
    ]
)
"""A row per measurement; `parameters` is JSON."""


@dataclass(frozen=True, slots=True)
class Result:
    """A completed case.

    Parameters
    ----------
    experiment, kind, parameters, repetition
        Of the case.
    seconds
        That it took in all.
    measurements
        What was measured.
    environment
        What it ran in.
    """

    experiment: str
    kind: str
    parameters: Mapping[str, Any]
    repetition: int
    seconds: float
    measurements: tuple[Measurement, ...]
    environment: Mapping[str, Any]


class Results:
    """The results of a grid in a folder, which is created if missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cases = folder / "cases"

    def begin(self, grid: Path) -> None:
        """Store the grid's text beside its results."""
        self._cases.mkdir(parents=True, exist_ok=True)
        kept = self.folder / f"grid{grid.suffix}"
        if not kept.exists() or not kept.samefile(grid):
            kept.write_text(grid.read_text(encoding="utf-8"), encoding="utf-8")

    def is_done(self, case: Case) -> bool:
        """Return True if a case has been measured."""
        return self._path(case).is_file()

    def store(
        self,
        case: Case,
        seconds: float,
        measurements: Iterable[Measurement],
        environment: Mapping[str, Any],
    ) -> None:
        """Store the measurements of a case, atomically."""
        document = {
            "experiment": case.experiment,
            "kind": case.kind,
            "parameters": dict(case.parameters),
            "repetition": case.repetition,
            "seconds": seconds,
            "measurements": [measurement.document() for measurement in measurements],
            "environment": environment,
        }
        path = self._path(case)
        unfinished = path.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(document, indent=1), encoding="utf-8")
        unfinished.replace(path)

    def _path(self, case: Case) -> Path:
        return self._cases / f"{case.identity}.json"

    def read(self) -> list[Result]:
        """Return all results, in the order of completion."""
        paths = sorted(self._cases.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        return [_result(json.loads(path.read_text(encoding="utf-8"))) for path in paths]

    def write_table(self) -> Path:
        """Write all measurements as `results.parquet`."""
        rows = [
            {
                "experiment": result.experiment,
                "kind": result.kind,
                "parameters": json.dumps(result.parameters, sort_keys=True),
                "repetition": result.repetition,
                **measurement.document(),
            }
            for result in self.read()
            for measurement in result.measurements
        ]
        path = self.folder / "results.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path)
        return path


def _result(document: Mapping[str, Any]) -> Result:
    given = dict(document)
    measurements = tuple(Measurement(**row) for row in given.pop("measurements"))
    return Result(**given, measurements=measurements)
