"""Runs of the Arctic stations: observations, and an execution per month that follows.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 5.2: 2 to 24
stations, each with monthly observations of 1961-2000 in its state; an execution measures the
current month at every station and asks for the lowest temperature of the same selectivity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from benchmark_workflowgen.arctic.climate import FIRST_YEAR, LAST_YEAR, OBSERVATIONS, generate
from benchmark_workflowgen.arctic.files import StationFileError, read_stations
from benchmark_workflowgen.arctic.topology import SELECTIVITIES, arctic
from lipstick.workflow import Run, Workflow


@dataclass(frozen=True, slots=True)
class ArcticStations:
    """A run of the Arctic stations.

    Parameters
    ----------
    stations
        The number of stations: the paper has 2 to 24.
    topology, fan_out
        See :func:`arctic`.
    selectivity
        The months whose lowest temperature the query asks for: `all` of them, or the months of the
        same `season` (1/4), `month` (1/12) or `year`.
    executions
        numExec: an execution per month, from the one after `until` on.
    until
        The last year of the history that stations begin with.
    seed
        Runs with one seed have the same observations.
    folder
        A folder of real observations (see :mod:`benchmark_workflowgen.arctic.files`), from which
        the first stations by name are read; None: generated ones.

    Raises
    ------
    ValueError
        A number is out of range.
    """

    stations: int = 24
    topology: str = "parallel"
    fan_out: int = 6
    selectivity: str = "month"
    executions: int = 10
    until: int = LAST_YEAR
    seed: int = 0
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.selectivity not in SELECTIVITIES:
            raise ValueError(
                f"selectivity is one of {', '.join(SELECTIVITIES)}, not {self.selectivity!r}"
            )
        if self.executions < 1 or self.seed < 0 or self.until < FIRST_YEAR:
            raise ValueError(
                f"there is an execution at least, seed is not negative, and the history ends in "
                f"{FIRST_YEAR} or later"
            )

    @property
    def workflow(self) -> Workflow:
        """The workflow."""
        return arctic(self.stations, self.topology, self.fan_out)

    def state(self) -> Mapping[str, Mapping[str, pa.Table]]:
        """Return the history of each station, and what it will measure."""
        states = {}
        for number, table in enumerate(self._observations(), start=1):
            past = pc.less_equal(table["Year"], self.until)
            states[f"station{number}"] = {
                "Observations": table.filter(past),
                "Instrument": table.filter(pc.invert(past)),
            }
        return states

    def _observations(self) -> list[pa.Table]:
        last = (self.until + 1 - FIRST_YEAR) * 12 + self.executions
        if self.folder is None:
            numbers = range(1, self.stations + 1)
            return [generate(number, self.seed, last) for number in numbers]
        tables = list(read_stations(self.folder).values())[: self.stations]
        if len(tables) < self.stations:
            raise StationFileError(
                f"{self.folder} has files of {len(tables)} stations; {self.stations} are asked for."
            )
        return [_months(table, last) for table in tables]

    def input(self, execution: int) -> Mapping[str, Any]:
        """Return the current year and month, and the selectivity."""
        year, month = self.until + 1 + execution // 12, execution % 12 + 1
        return {"Asked": [(year, month, self.selectivity)]}

    def ended(self, run: Run, execution: int) -> bool:
        """Return False: the run never ends before its last execution."""
        del run, execution
        return False


def _months(table: pa.Table, last: int) -> pa.Table:
    """Return the months from January 1961 to the last one."""
    places = pc.add(
        pc.multiply(pc.subtract(table["Year"], FIRST_YEAR), 12), pc.subtract(table["Month"], 1)
    )
    inside = pc.and_(pc.greater_equal(places, 0), pc.less(places, last))
    return table.filter(inside).cast(OBSERVATIONS)
