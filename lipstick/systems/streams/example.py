"""Sensors whose readings raise alarms: the example of ``lipstick stream demo``.

A reading comes every 100 ms from each sensor. One has a faulty reading, far too high, and in the
end the attic is on fire. The mean of the last half second is taken of each sensor, and an alarm is
a mean of 60 degrees or more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lipstick.systems.streams.graph import Graph

SENSORS = ("attic", "cellar", "kitchen")
STEP = 100
"""Milliseconds between readings of a sensor."""
FAULT = ("kitchen", 23)
"""The sensor and the number of the faulty reading, from 1."""
FIRE = ("attic", 31)
"""The sensor at the fire, and the number of its first reading of it, from 1."""
_BEGIN = 1_700_000_000_000


def graph() -> Graph:
    """Return the graph of readings by sensor, means of half a second, and alarms."""
    sensors = Graph("sensors")
    readings = sensors.source("readings", time="ts", key="sensor", disorder=2 * STEP)
    recent = readings.time_window(500, name="recent")
    means = recent.aggregate({"celsius": ("mean", "celsius")}, name="means")
    means.filter(pc.field("celsius") >= 60, name="alarms")
    return sensors


def readings(count: int, seed: int = 0, size: int = 10) -> Iterator[pa.Table]:
    """Yield tables of `size` readings of every sensor, `count` in all, a little out of order."""
    chance = np.random.default_rng(seed)
    for first in range(0, count, size):
        number = np.repeat(np.arange(first, min(first + size, count)), len(SENSORS))
        sensor = np.tile(np.arange(len(SENSORS)), len(number) // len(SENSORS))
        celsius = 20.0 + 5.0 * sensor + chance.normal(0.0, 0.5, len(number)).round(1)
        celsius[(sensor == SENSORS.index(FAULT[0])) & (number == FAULT[1] - 1)] = 400.0
        celsius[(sensor == SENSORS.index(FIRE[0])) & (number >= FIRE[1] - 1)] += 80.0
        order = np.argsort(number + chance.uniform(0.0, 1.5, len(number)), kind="stable")
        yield pa.table(
            {
                "ts": (_BEGIN + STEP * number + sensor)[order],
                "sensor": pa.array(SENSORS).take(pa.array(sensor[order])),
                "celsius": celsius[order],
            }
        )
