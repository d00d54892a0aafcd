"""Measurements as rows: the measure, the variant, and the position in a series."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number.

    Parameters
    ----------
    measure
        What it is of: ``execution``, ``zoom out of all modules``...
    variant
        ``plain``, ``tracked``, ``copy``...; empty where there is only one.
    value, unit
        The number: ``s``, ``B``, or empty for a count.
    position
        Its place in a series: the number of prior executions; None where there is no series.
    """

    measure: str
    variant: str
    value: float
    unit: str
    position: int | None = None

    def document(self) -> dict[str, Any]:
        """Return the row as JSON has it."""
        return asdict(self)


def folder_bytes(path: Path, pattern: str = "*") -> int:
    """Return the size of the files below a folder whose names match."""
    return sum(file.stat().st_size for file in path.rglob(pattern) if file.is_file())
