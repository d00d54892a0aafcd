"""Means and ratios of measurements, by setting."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark_workflowgen.measure.rows import Measurement
from benchmark_workflowgen.results import Result


@dataclass(frozen=True, slots=True)
class Setting:
    """All repetitions of one setting of an experiment.

    Parameters
    ----------
    kind, parameters
        Of the setting.
    results
        Its repetitions.
    """

    kind: str
    parameters: Mapping[str, Any]
    results: tuple[Result, ...]

    def rows(self, measure: str, variant: str | None = None) -> list[Measurement]:
        """Return the measurements of a name, of all repetitions."""
        return [
            row
            for result in self.results
            for row in result.measurements
            if row.measure == measure and variant in (None, row.variant)
        ]

    def mean(self, measure: str, variant: str | None = None) -> float | None:
        """Return the mean of a measure over repetitions and positions; None: it was not
        measured.
        """
        values = [row.value for row in self.rows(measure, variant)]
        return statistics.fmean(values) if values else None

    def series(self, measure: str, variant: str) -> tuple[list[int], list[float]]:
        """Return the means of a measure by position."""
        values_by_position: dict[int, list[float]] = {}
        for row in self.rows(measure, variant):
            values_by_position.setdefault(row.position or 0, []).append(row.value)
        positions = sorted(values_by_position)
        return positions, [statistics.fmean(values_by_position[position]) for position in positions]

    def ratio(self, measure: str, variant: str, base: str) -> float | None:
        """Return the mean of `variant` as a multiple of the mean of `base`; None without either."""
        above, below = self.mean(measure, variant), self.mean(measure, base)
        return above / below if above is not None and below else None

    def measures(self) -> list[str]:
        """Return the names of all measures, in their order."""
        names = (row.measure for result in self.results for row in result.measurements)
        return list(dict.fromkeys(names))


def settings(results: Iterable[Result], *, joined: Collection[str] = ()) -> list[Setting]:
    """Return the settings of results, in their order.

    Parameters
    ----------
    joined
        Parameters that make no setting of their own: the queries of a suite.
    """
    by_parameters: dict[str, list[Result]] = {}
    for result in results:
        kept = {name: value for name, value in result.parameters.items() if name not in joined}
        by_parameters.setdefault(json.dumps(kept, sort_keys=True), []).append(result)
    return [
        Setting(same[0].kind, json.loads(parameters), tuple(same))
        for parameters, same in by_parameters.items()
    ]


def varied(compared: Sequence[Setting]) -> tuple[str, ...]:
    """Return the parameters in which some settings differ."""
    names = dict.fromkeys(name for setting in compared for name in setting.parameters)
    return tuple(
        name
        for name in names
        if len({str(setting.parameters.get(name)) for setting in compared}) > 1
    )


def label(setting: Setting, names: Sequence[str]) -> str:
    """Return the label of a setting: some of its parameters, or its kind."""
    shown = [f"{name} {setting.parameters[name]}" for name in names if name in setting.parameters]
    return ", ".join(shown) or setting.kind


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers."""
    return math.exp(statistics.fmean(math.log(value) for value in values))
