"""Generated monthly observations of Arctic stations, from the climatology below.

They are not measurements of any station. Month `t` months after January 1961, in month `m` of the
year (0 for January), has for every variable

    mean + amplitude · cos(2π (m - warmest) / 12) + trend · t / 120 + deviation · noise(t)

clipped to the variable's limits and rounded. `mean` and `amplitude` belong to the variable and are
shifted by the station's own offset; `warmest` is the month of the cycle's maximum; `trend` is per
decade; `noise` is an autoregression of first order, of deviation 1, so that a mild month follows a
mild one. One value in 50 is missing, and one month in 100 as a whole.

The variables are the same as in the paper's data (Radionov and Fetterer, *Meteorological Data from
the Russian Arctic, 1961-2000*, NSIDC): 2 m air temperature, sea level pressure, total and low cloud
amount, precipitation, relative humidity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from benchmark_workflowgen.draws import Draws
from semiring.base import Array

FIRST_YEAR, LAST_YEAR = 1961, 2000
MISSING_VALUE, MISSING_MONTH = 1 / 50, 1 / 100
PERSISTENCE = 0.4
"""Autocorrelation of the noise at a lag of one month."""


@dataclass(frozen=True, slots=True)
class ClimateVariable:
    """A variable's climatology.

    Parameters
    ----------
    name
        Its column.
    mean, amplitude
        Of the annual cycle.
    warmest
        The month of the cycle's maximum, 0 for January.
    trend
        Change per decade.
    deviation
        Of the noise.
    spread
        By how much a station's mean differs from `mean` at most.
    low, high
        Limits.
    digits
        After the point.
    """

    name: str
    mean: float
    amplitude: float
    warmest: float
    trend: float
    deviation: float
    spread: float
    low: float
    high: float
    digits: int


VARIABLES = (
    ClimateVariable("AirTemperature", -11.0, 15.0, 6.3, 0.25, 2.4, 5.0, -60.0, 25.0, 1),
    ClimateVariable("SeaLevelPressure", 1012.5, 3.0, 3.5, -0.2, 4.0, 2.0, 960.0, 1060.0, 1),
    ClimateVariable("TotalCloud", 7.0, 1.2, 8.0, 0.03, 0.7, 0.6, 0.0, 10.0, 1),
    ClimateVariable("LowCloud", 4.2, 2.0, 8.0, 0.03, 0.8, 0.6, 0.0, 10.0, 1),
    ClimateVariable("Precipitation", 24.0, 11.0, 7.3, 0.4, 8.0, 8.0, 0.0, 200.0, 1),
    ClimateVariable("RelativeHumidity", 85.0, 4.0, 7.5, 0.1, 2.5, 3.0, 40.0, 100.0, 0),
)
"""Degrees Celsius, hectopascal, tenths, tenths, millimetres, percent."""

OBSERVATIONS = pa.schema(
    [
        ("Year", pa.int32()),
        ("Month", pa.int32()),
        ("Season", pa.int32()),
        *((variable.name, pa.float64()) for variable in VARIABLES),
    ]
)
"""A station's table: one row per month; Season is 0 for December to February, 1 for spring..."""


def generate(station: int, seed: int, months: int) -> pa.Table:
    """Return the months of a station from January 1961 on, as :data:`OBSERVATIONS`.

    Parameters
    ----------
    station
        The number of the station, from 1.
    seed
        The seed of all stations.
    months
        The number of months, including months that are missing as a whole. More months do not
        change the earlier ones.
    """
    elapsed = np.arange(months)
    month = elapsed % 12 + 1
    columns = [FIRST_YEAR + elapsed // 12, month, season(month)]
    nulls = []
    for number, variable in enumerate(VARIABLES):
        values, missing = _series(variable, Draws(seed, station, number), elapsed)
        columns.append(values)
        nulls.append(missing)
    arrays = [
        pa.array(column, field.type)
        for column, field in zip(columns[:3], OBSERVATIONS, strict=False)
    ]
    arrays += [pa.array(c, pa.float64(), mask=n) for c, n in zip(columns[3:], nulls, strict=True)]
    kept = Draws(seed, station, len(VARIABLES)).uniform(0, 1, months) >= MISSING_MONTH
    return pa.Table.from_arrays(arrays, schema=OBSERVATIONS).filter(pa.array(kept))


def season(month: Array) -> Array:
    """Return the seasons of months: 0 for December, January and February, to 3 for autumn."""
    seasons: Array = month % 12 // 3
    return seasons


def _series(variable: ClimateVariable, draws: Draws, elapsed: Array) -> tuple[Array, Array]:
    """Return a variable's values in some months, and a mask of missing ones."""
    offset = float(draws.uniform(-variable.spread, variable.spread))
    amplitude = variable.amplitude * float(draws.uniform(0.8, 1.2))
    # A draw per month and purpose: what a month gets does not depend on how many follow.
    chances = draws.uniform(0, 1, len(elapsed), 13)
    shocks = (chances[:, :12].sum(axis=1) - 6) * math.sqrt(1 - PERSISTENCE**2)
    noise = np.empty(len(elapsed))
    last = 0.0
    for at, shock in enumerate(shocks.tolist()):
        last = PERSISTENCE * last + shock
        noise[at] = last
    cycle = [math.cos(2 * math.pi * (m - variable.warmest) / 12) for m in range(12)]
    values = variable.mean + offset + amplitude * np.array(cycle)[elapsed % 12]
    values = values + variable.trend * elapsed / 120 + variable.deviation * noise
    rounded = np.round(np.clip(values, variable.low, variable.high), variable.digits) + 0.0
    return rounded, chances[:, 12] < MISSING_VALUE
