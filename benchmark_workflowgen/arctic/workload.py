"""Runs of the Arctic stations: observations, and an execution per month that follows.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 5.2: 2 to 24
stations, each with monthly observations of 1961-2000 in its state; an execution measures the
current month at every station and asks for the lowest temperature of the same selectivity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from benchmark_workflowgen.arctic.climate import (
    FIRST_YEAR,
    LAST_YEAR,
    OBSERVATIONS,
    VARIABLES,
    generate,
    season,
)
from benchmark_workflowgen.errors import BenchmarkError
from lipstick.workflow import Module, Relation, Run, Specification, StateQuery, Workflow

COLUMNS = {
    "AirTemperature": "air_temperature",
    "SeaLevelPressure": "sea_level_pressure",
    "TotalCloud": "total_cloud",
    "LowCloud": "low_cloud",
    "Precipitation": "precipitation",
    "RelativeHumidity": "relative_humidity",
}
MISSING = ("", "NA", "NaN", "-999", "-999.9", "-9999", "999.9", "9999", "9999.9")
_NEEDED = ("year", "month", "air_temperature")


def read_stations(folder: Path) -> Mapping[str, pa.Table]:
    """Return the observations of all stations of a folder by name, in the order of the names.

    Raises
    ------
    BenchmarkError
        For a folder without files, and files that are not of the format.
    """
    paths = sorted(folder.glob("*.csv"))
    if not paths:
        raise BenchmarkError(f"{folder} has no station files: one CSV file per station.")
    return {path.stem: read_station(path) for path in paths}


def read_station(path: Path) -> pa.Table:
    """Return the observations of a file, a row per month in order of time.

    Raises
    ------
    BenchmarkError
        For missing columns, values that are not numbers, months there are not, or twice.
    """
    lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("#"))
    options = csv.ConvertOptions(
        null_values=list(MISSING), strings_can_be_null=True, check_utf8=False
    )
    try:
        raw = csv.read_csv(pa.BufferReader(text.encode()), convert_options=options)
    except pa.ArrowInvalid as error:
        raise BenchmarkError(f"{path}: {error}") from error
    raw = raw.rename_columns([name.strip().lower() for name in raw.column_names])
    lacking = [name for name in _NEEDED if name not in raw.column_names]
    if lacking:
        raise BenchmarkError(
            f"{path} has no column {lacking[0]!r}; its columns: {', '.join(raw.column_names)}."
        )
    year, month = (_column(path, raw, name, pa.int32()) for name in ("year", "month"))
    if year.null_count or month.null_count:
        raise BenchmarkError(f"{path}: a row has no year or no month.")
    months = month.to_numpy(zero_copy_only=False)
    if len(months) and not (months.min() >= 1 and months.max() <= 12):
        raise BenchmarkError(f"{path}: months are 1 to 12, not {months.min()} to {months.max()}.")
    values = [_column(path, raw, COLUMNS[variable.name], pa.float64()) for variable in VARIABLES]
    seasons = pa.array(season(months), pa.int32())
    table = pa.Table.from_arrays([year, month, seasons, *values], schema=OBSERVATIONS)
    table = table.sort_by([("Year", "ascending"), ("Month", "ascending")])
    times = table["Year"].to_numpy() * 12 + table["Month"].to_numpy() - 1
    twice = times[1:][np.diff(times) == 0]
    if len(twice):
        raise BenchmarkError(f"{path}: month {twice[0] % 12 + 1} of {twice[0] // 12} occurs twice.")
    return table


def _column(path: Path, raw: pa.Table, name: str, kind: pa.DataType) -> pa.Array:
    if name not in raw.column_names:
        return pa.nulls(raw.num_rows, kind)
    try:
        return pc.cast(raw[name].combine_chunks(), kind)
    except pa.ArrowInvalid as error:
        raise BenchmarkError(f"{path}: column {name!r}: {error}") from error


TOPOLOGIES = ("parallel", "serial", "dense")
SELECTIVITIES = ("all", "season", "month", "year")

_QUERY = Relation("Year int, Month int, Selectivity string", key=("Year", "Month"))
_COLDEST = "Year int, Month int, Temperature double"
_MONTHS = Relation(
    "Year int, Month int, Season int, " + ", ".join(f"{v.name} double" for v in VARIABLES),
    key=("Year", "Month"),
)
_COLUMNS = ", ".join(name for name, _ in _MONTHS.columns)

INPUT = Specification(
    "input", {"Asked": _QUERY}, {"Query": _QUERY}, {"Query": "SELECT * FROM Asked"}
)
"""M_in: passes the current year and month and the selectivity to all stations."""

STATION = Specification(
    "station",
    {"Query": _QUERY, "MinTemps": Relation(_COLDEST, union=True, optional=True)},
    {"MinTemp": Relation(_COLDEST, key=("Year", "Month"))},
    {
        "Selected": """
            SELECT q.Year, q.Month, o.AirTemperature AS Temperature
            FROM Observations o JOIN Query q
              ON q.Selectivity = 'all'
              OR (q.Selectivity = 'year' AND o.Year = q.Year)
              OR (q.Selectivity = 'season' AND o.Season = q.Month % 12 DIV 3)
              OR (q.Selectivity = 'month' AND o.Month = q.Month)
        """,
        "Lowest": """
            SELECT Year, Month, min(Temperature) AS Temperature
            FROM Selected GROUP BY Year, Month
        """,
        "MinTemp": """
            SELECT Year, Month, min(Temperature) AS Temperature
            FROM (
                SELECT Year, Month, Temperature FROM Lowest
                UNION ALL SELECT Year, Month, Temperature FROM MinTemps
            ) AS known
            GROUP BY Year, Month
        """,
    },
    state={"Observations": _MONTHS, "Instrument": _MONTHS},
    query_state=StateQuery(
        {
            "Measured": "SELECT "
            + ", ".join(f"i.{name}" for name, _ in _MONTHS.columns)
            + " FROM Instrument i JOIN Query q ON i.Year = q.Year AND i.Month = q.Month"
        },
        insert={"Observations": f"SELECT {_COLUMNS} FROM Measured"},
    ),
)
"""M_sta: measures, remembers, and outputs the minimum of its own and received temperatures.

The state relation Instrument has the future measurements of a station, a row per month: so a
measurement has provenance, and needs no function that Spark does not have.
"""

OUTPUT = Specification(
    "output",
    {"MinTemps": Relation(_COLDEST, union=True)},
    {"MinTemp": Relation(_COLDEST, key=("Year", "Month"))},
    {
        "MinTemp": "SELECT Year, Month, min(Temperature) AS Temperature "
        "FROM MinTemps GROUP BY Year, Month"
    },
)
"""M_out: the overall minimum."""


def arctic(stations: int, topology: str, fan_out: int = 1) -> Workflow:
    """Return the workflow of some stations.

    Parameters
    ----------
    stations
        The number of stations, named `station1`, `station2`...
    topology
        ``parallel``: no edges among stations; ``serial``: an edge from each station to the next;
        ``dense``: layers of `fan_out` stations, with edges from all stations of a layer to all of
        the next. Edges lead to the output module from the last layer, the last station, or every
        station of ``parallel``.
    fan_out
        The number of stations in a layer of ``dense``.

    Raises
    ------
    ValueError
        There are no stations, there is no fan-out, or the topology is unknown.
    """
    if stations < 1 or fan_out < 1:
        raise ValueError("there are a station and a fan-out of 1 at least")
    if topology not in TOPOLOGIES:
        raise ValueError(f"topology is one of {', '.join(TOPOLOGIES)}, not {topology!r}")
    width = {"parallel": stations, "serial": 1, "dense": fan_out}[topology]
    names = [f"station{number}" for number in range(1, stations + 1)]
    layers = [names[at : at + width] for at in range(0, stations, width)]
    told = {"MinTemp": "MinTemps"}
    edges = [("in", name, {"Query": "Query"}) for name in names]
    for before, after in pairwise([*layers, ["out"]]):
        edges += [(source, target, told) for source, target in product(before, after)]
    return Workflow(
        "arctic",
        {
            "in": Module("in", INPUT),
            **{name: Module(name, STATION) for name in names},
            "out": Module("out", OUTPUT),
        },
        edges,
        inputs="in",
        outputs="out",
    )


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
        A folder of real observations (see :mod:`benchmark_workflowgen.arctic.workload`), from which
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
            raise BenchmarkError(
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
