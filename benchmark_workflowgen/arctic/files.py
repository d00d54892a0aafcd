"""A reader of real monthly observations.

A folder has one CSV file per station, named by the station (``dikson.csv``), with a header line and
a row per month:

    year,month,air_temperature,sea_level_pressure,total_cloud,low_cloud,precipitation,relative_humidity
    1961,1,-24.8,1013.2,6.1,2.0,21.4,84
    1961,2,-27.1,1016.0,5.5,1.8,,82

Columns are known by their names, in any order and case; others are ignored; ``year``, ``month`` and
``air_temperature`` are required, and other absent columns are NULL. A value is missing if it is
empty, ``NA``, ``NaN`` or one of ``-999``, ``-999.9``, ``-9999``, ``999.9``, ``9999``, ``9999.9``.
Months may be left out and may be in any order, each once. Lines that begin with ``#`` are comments.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from benchmark_workflowgen.arctic.climate import OBSERVATIONS, VARIABLES, season

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


class StationFileError(ValueError):
    """A file that is not of the format, with what is wrong in it."""


def read_stations(folder: Path) -> Mapping[str, pa.Table]:
    """Return the observations of all stations of a folder by name, in the order of the names.

    Raises
    ------
    StationFileError
        For a folder without files, and files that are not of the format.
    """
    paths = sorted(folder.glob("*.csv"))
    if not paths:
        raise StationFileError(f"{folder} has no station files: one CSV file per station.")
    return {path.stem: read_station(path) for path in paths}


def read_station(path: Path) -> pa.Table:
    """Return the observations of a file, a row per month in order of time.

    Raises
    ------
    StationFileError
        For missing columns, values that are no numbers, months there are not, or twice.
    """
    lines = path.read_text(encoding="utf-8-sig").splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("#"))
    options = csv.ConvertOptions(
        null_values=list(MISSING), strings_can_be_null=True, check_utf8=False
    )
    try:
        raw = csv.read_csv(pa.BufferReader(text.encode()), convert_options=options)
    except pa.ArrowInvalid as error:
        raise StationFileError(f"{path}: {error}") from error
    raw = raw.rename_columns([name.strip().lower() for name in raw.column_names])
    lacking = [name for name in _NEEDED if name not in raw.column_names]
    if lacking:
        raise StationFileError(
            f"{path} has no column {lacking[0]!r}; its columns: {', '.join(raw.column_names)}."
        )
    year, month = (_column(path, raw, name, pa.int32()) for name in ("year", "month"))
    if year.null_count or month.null_count:
        raise StationFileError(f"{path}: a row has no year or no month.")
    months = month.to_numpy(zero_copy_only=False)
    if len(months) and not (months.min() >= 1 and months.max() <= 12):
        raise StationFileError(f"{path}: months are 1 to 12, not {months.min()} to {months.max()}.")
    values = [_column(path, raw, COLUMNS[variable.name], pa.float64()) for variable in VARIABLES]
    seasons = pa.array(season(months), pa.int32())
    table = pa.Table.from_arrays([year, month, seasons, *values], schema=OBSERVATIONS)
    table = table.sort_by([("Year", "ascending"), ("Month", "ascending")])
    times = table["Year"].to_numpy() * 12 + table["Month"].to_numpy() - 1
    twice = times[1:][np.diff(times) == 0]
    if len(twice):
        raise StationFileError(
            f"{path}: month {twice[0] % 12 + 1} of {twice[0] // 12} is there twice."
        )
    return table


def _column(path: Path, raw: pa.Table, name: str, kind: pa.DataType) -> pa.Array:
    if name not in raw.column_names:
        return pa.nulls(raw.num_rows, kind)
    try:
        return pc.cast(raw[name].combine_chunks(), kind)
    except pa.ArrowInvalid as error:
        raise StationFileError(f"{path}: column {name!r}: {error}") from error
